"""What the labels say so far, for the coordinator: numbers of journals, and who works them out.

Only the server and the command line may import it; it imports store, metrics, and what
scores are corrected with.
"""
