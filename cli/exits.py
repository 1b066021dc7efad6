"""Exit codes, the same for every command."""

COMPLETE = 0
GATE_FAILED = 1
INPUT = 2
INCOMPLETE = 3
INTERNAL = 70  # an error of ours, with its traceback
INTERRUPTED = 130
TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """SIGTERM came; everything that tidies up after Ctrl-C does so for it."""
