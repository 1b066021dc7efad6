"""Check results against bounds and baselines: in Python, in pytest and on the command line.

A gate reads results and asks no model. The command line and pytest (as a plugin) import it.
"""
