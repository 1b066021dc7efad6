"""The kinds of `judge probe`, each in a module, and what they share (`kind.py`). Imports programs
and the helpers of cli; only the command itself, cli/probe.py, may import it."""
