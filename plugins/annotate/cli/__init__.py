"""`judge annotate` and `judge next`; only `cli/app.py` imports it."""
