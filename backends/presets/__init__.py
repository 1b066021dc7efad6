"""Short names for open models that judge, and the settings that each stands for.
Imports records; `backends/config.py` and who lists or chooses models may import it."""
