"""Whether the files that were judged are still what they were."""

from __future__ import annotations

from pathlib import Path

from ...programs.inputs.hashes import hash_of
from ...programs.scoring.result import Result
from ...records.reading.problems import InputError

SAME, CHANGED, GONE = "the same", "changed", "not there"


def input_states(result: Result) -> list[tuple[str, str, str]]:
    """Each input of a run: its path, its SHA-256 then, and what has become of it."""
    inputs = result.manifest.get("inputs", {})
    return [(name, sha, _state(name, sha)) for name, sha in inputs.items()]


def _state(name: str, sha: str) -> str:
    try:
        return SAME if hash_of(Path(name)) == sha else CHANGED
    except InputError:
        return GONE
