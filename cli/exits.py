"""Exit codes, the same for every command."""

COMPLETE = 0
GATE_FAILED = 1
INPUT = 2
INCOMPLETE = 3
INTERNAL = 70  # an error of this program, with its traceback
INTERRUPTED = 130
TERMINATED = 143
