"""nuggetjudge in Python, for a development loop: run an evaluation and look at its results.

These are the functions that users call. Judging and scoring are in the folders below; this one may
import programs, calibration and report. The names of the package, gates and annexes import it.
"""
