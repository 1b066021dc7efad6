"""Every setting, its checks and its help, and how a config file is read. Imports backends' settings
and records; all of programs/, calibration and the command line import it."""
