"""Samples of a development loop, in memory, written as the files that a run reads.

`fields` knows the names that people use, `returned` what frameworks return, `files` writes. Who
imports it: `evaluation.evaluate`, and what brings samples from other tools.
"""
