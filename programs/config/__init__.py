"""Every setting, its checks and its help, how a config file is read, and which programs there
are. Imports the settings of backends and retrieval, and the table of judges; all of programs/,
calibration and the command line may import it."""
