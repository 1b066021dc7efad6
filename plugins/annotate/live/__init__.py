"""The coordinator's figures, computed from journals.

Only the server and the command line may import it; it imports store, metrics, and what
scores are corrected with.
"""
