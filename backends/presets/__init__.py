"""Short names for open models that judge, and the settings that each stands for.
Imports records; `backends/config.py` and who lists models may import it."""
