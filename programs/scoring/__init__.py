"""Compute scores from stored judgements, and correct them with human labels. Imports protocols and
folders below, not pipelines or build; analysis, run and the command line may import it."""
