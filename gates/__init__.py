"""Whether results are good enough: bounds and baselines, tested, in pytest and on the command line.

A gate reads results and asks nobody. The command line imports it, and pytest as a plugin.
"""
