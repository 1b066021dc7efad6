"""Samples in memory, written as the input files of a run.

`fields` knows common names of fields, `returned` reads what frameworks return, and `files` writes.
`evaluation.evaluate` and importers of other tools import this folder.
"""
