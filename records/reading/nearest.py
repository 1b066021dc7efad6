"""What a name that is not known may have been meant as."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names that are most like this one, the most alike first; [] if none is alike.

    >>> nearest("modle", ["data", "model", "models"], 2)
    ['model', 'models']
    """
    return difflib.get_close_matches(name, list(known), n=most)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question to put behind an error; "" if nothing is alike.

    >>> did_you_mean("asigner", ["assigner", "support"])
    '; did you mean assigner?'
    """
    return "".join(f"; did you mean {suggestion}?" for suggestion in nearest(name, known))
