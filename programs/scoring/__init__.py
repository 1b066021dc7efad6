"""Stored judgements to numbers: scores again from files, and scores corrected with human labels.
Imports protocols and what is below, not pipelines or build; analysis, run and the command line
may import it."""
