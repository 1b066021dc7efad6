"""Short names for open models that judge, and the settings that each stands for."""
