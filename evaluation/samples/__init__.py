"""Samples of a development loop, in memory, written as the files that a run reads.

`fields` knows the names that people use, `files` writes. Imported by `evaluation.evaluate` and by
what brings samples from other tools.
"""
