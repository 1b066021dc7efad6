"""Probes of a judge: conditions, planted faults, planted texts. They share options, run, result,
files and command (`probing.py`, `command.py`). May import every folder of the core."""
