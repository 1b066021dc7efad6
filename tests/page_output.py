"""Output of commands as pages show it: `...` on a line of its own stands for any lines."""

import re


def is_shown(printed: str, shown: str) -> bool:
    """Whether the lines that a page shows are those printed, in their order and from end to end."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), printed.rstrip("\n") + "\n") is not None
