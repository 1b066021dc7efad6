"""Compute scores from stored judgements, and correct them with human labels.

It imports `protocols` and the folders below, not `pipelines`; `analysis`, `run` and the command
line import it.
"""
