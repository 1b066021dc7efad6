"""Does a reply say the same over and over, as small models do to the end of their room?"""

from __future__ import annotations

LOOKED_AT = 2_000  # characters of the end of a reply
LONGEST_LOOP = 400
LEAST_REPEATED, LEAST_TIMES = 60, 3  # characters in all, and how often


def find_loop(text: str) -> str:
    """What a reply repeats at its end, each time the same; "": nothing.

    >>> find_loop('{"nuggets": ["Bees dance.", ' + '"Bees eat.", ' * 9 + '"Be')
    'Bees eat.'
    >>> find_loop('{"nuggets": ["Bees dance.", "Bees eat."]}')
    ''
    """
    end = text[-LOOKED_AT:]
    for n in range(1, min(LONGEST_LOOP, len(end) // LEAST_TIMES) + 1):
        least = max(LEAST_REPEATED, n * LEAST_TIMES)
        if least <= len(end) and end[-least:-n] == end[n - least :]:
            return _shown(end[-n:])
    return ""


def _shown(loop: str) -> str:
    """The loop from the start of an entry of a list, if it has one."""
    if not loop.strip():
        return "white space"
    twice = loop * 2
    start = twice.find(' "') + 2 if ' "' in twice else 0
    return twice[start : start + len(loop)].strip(' ",[]{}')
