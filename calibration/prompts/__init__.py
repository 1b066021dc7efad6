"""Prompt searches: DSPy's optimisers within the run's cache and budget. Imports judges,
backends and the sessions of `programs.engine`; only calibration may import it."""
