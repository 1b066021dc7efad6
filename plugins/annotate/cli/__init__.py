"""`judge annotate` and what belongs to it; `cli/app.py` alone imports it."""
