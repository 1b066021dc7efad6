"""How far a judge can be trusted: agree, compare, next, probe, coverage tables. Imports scoring and
protocols; only the command line imports it."""
