"""Analyses of results: agreement, comparisons, leaderboards, coverage tables, and code that probes
share. Imports scoring, protocols and folders below; the command line and calibration may import
it."""
