"""The commands about evidence for sentences."""
