"""Every setting with its checks and help, the reading of config files, and the names of tasks.

It imports the settings of backends and retrieval, and the table of judges; all of programs/,
calibration and the command line import it.
"""
