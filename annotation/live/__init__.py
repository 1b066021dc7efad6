"""What the labels say so far, for the coordinator: scores, agreement, how people label, progress.

Only the server and the command line may import it; it imports out, work and store, and what scores
are corrected with.
"""
