"""Exit codes, the same for every command."""

COMPLETE = 0
GATE_FAILED = 1
INPUT = 2
INCOMPLETE = 3
INTERRUPTED = 130
