"""Prompt searches: DSPy's optimisers confined to the run's cache and budget. Imports `judges` and
`backends`; only calibration uses it."""
