"""Labels into files and files into labels: what other commands read, and what others labelled.

Only the command line may import it; it imports `work`, `store` and programs.
"""
