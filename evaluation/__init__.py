"""The Python functions of nuggetjudge: run an evaluation and look at its results.

This folder may import the folders below it, such as programs and calibration, which judge and
score. The package's names, gates and plugins import it.
"""
