"""Whether the files that were judged are still what they were."""

from __future__ import annotations

from ....programs.engine.folders.inputs import CHANGED as HAS_CHANGED
from ....programs.engine.folders.inputs import inputs_of
from ....programs.scoring.result import Result

SAME, CHANGED, GONE = "the same", "changed", "not there"


def input_states(result: Result) -> list[tuple[str, str, str]]:
    """Each input of a run: its path, its SHA-256 then, and what has become of it."""
    changed = inputs_of(result.folder).changed
    return [
        (path, digest, _state(changed.get(path)))
        for path, digest in result.manifest.get("inputs", {}).items()
    ]


def _state(wrong: str | None) -> str:
    if wrong is None:
        return SAME
    return CHANGED if wrong == HAS_CHANGED else GONE
