"""Analyses of results: agreement, comparisons, leaderboards, coverage tables.

It imports `scoring`, `protocols` and the folders below; the command line, calibration and plugins
import it.
"""
