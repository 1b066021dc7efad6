"""Stored judgements to numbers: scores again from files, and scores corrected with human labels.
Imports protocols; analysis, run and the command line import it."""
