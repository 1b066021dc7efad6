"""The kinds of labels, as events, files of words and the command line name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ....records.kinds import load_kinds

_WORDS = Path(__file__).parents[1] / "work" / "words"


def words_file(kind: str) -> Path:
    """The file with the texts about a kind: its own file (`Kind.words`), or a default."""
    declared = load_kinds().get(kind)
    return declared.words if declared and declared.words else _WORDS / f"{kind}.toml"


if TYPE_CHECKING:
    Kind = str
else:
    _NAMES = (*(name for name in load_kinds() if words_file(name).is_file()),)
    Kind = Literal[(*_NAMES, "items", "bank", "verify")]
