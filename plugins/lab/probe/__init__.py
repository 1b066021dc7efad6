"""Probes of a judge: changed conditions, planted faults, prompt injection. They share options,
results, files and the command (`probing.py`, `command.py`). May import every folder of the core."""
