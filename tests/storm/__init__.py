"""Storms: faults of an endpoint, ends at every write, and broken files, until a promise breaks.

`make storm` runs them all and prints a table; see docs/robustness.md. Imports the package as users
do, and what tests share; only tests import it.
"""
