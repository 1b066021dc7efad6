"""Export labels to files that other commands read, and import labels from files.

Only the command line may import it; it imports `work`, `store` and programs.
"""
