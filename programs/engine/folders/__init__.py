"""What a results folder is beside its rows: where its inputs are, whose it is, what it took.

May be imported by the engine's modules above it and by the rooms above the engine.
"""
