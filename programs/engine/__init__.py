"""What runs judgements: stages, journals, sessions, executors, results folders, manifests. Knows of
no protocol. Imports inputs and config; everything above it in programs/ may import it."""
