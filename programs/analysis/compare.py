"""`judge compare`: two runs (or the runs of a leaderboard), or two judges of the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from ...metrics.inference import Draws
from ...records.reading.problems import InputError, Problems
from ..engine.manifest import read_manifest
from .compare_judges import compare_judges
from .compare_runs import DRAWS, compare_runs

WAYS = ("runs", "judges")


def compare(
    one: Path,
    other: Path | None,
    problems: Problems,
    *,
    way: str | None = None,
    runs: Sequence[str] = (),
    measures: Sequence[str] = (),
    kind: str | None = None,
    **draws: Unpack[Draws],
) -> dict[str, Any]:
    """Compare runs, or judges, whichever the files are of.

    Args:
        one, other: results folders, files of judgements, or files of scores by topic; without
            `other` the runs in `one` are compared.
        way: runs or judges. By default judges where both have labels of the same cells, unless
            they are folders of one and the same judge on other inputs: then it is runs that
            changed and kept their name. Without common cells, runs, if their names differ.
        runs, measures, draws: see `compare_runs`.
        kind: of two folders, the judgements to compare: nuggets, support, relevance, ratings or
            keypoints.

    Returns: what `compare_runs` or `compare_judges` returns; `compared` says which.
    Raises: InputError with the reason why it is neither.
    """
    if way not in (None, *WAYS):
        raise InputError(f"--as {way}: wanted {' or '.join(WAYS)}")
    options: Draws = {**DRAWS, **draws}
    level, resamples = options["level"], options["resamples"]
    if not 0 < level < 1 or resamples < 1:
        raise InputError(f"--level {level}, --resamples {resamples}: wanted 0 < level < 1, 1 draw")
    sources = [one] if other is None else [one, other]
    as_judges = way == "judges" or (way is None and not runs and not _same_judge(sources))
    if other is None and way == "judges":
        raise InputError(f"{one}: one judge, wanted two files or folders to compare")
    why_not = ""
    if other is not None and as_judges:
        own_problems = Problems()  # kept if they are judges
        try:
            compared = compare_judges(one, other, own_problems, kind=kind, **options)
        except InputError as error:
            if way is not None:
                raise
            why_not = str(error)
        else:
            problems.rows += own_problems.rows
            return compared
    try:
        compared = compare_runs(sources, problems, runs=runs, measures=measures, **options)
    except InputError as error:
        if not why_not or str(error) == why_not:
            raise
        raise InputError(f"as judges: {why_not}\nas runs: {error}") from None
    if why_not and compared["runs_in_both"]:
        what = "both have runs of the same names, which --as runs compares all the same"
        raise InputError(f"{why_not}\n{what}")
    return compared


def _same_judge(sources: Sequence[Path]) -> bool:
    """Whether both are folders that one judge wrote, on other inputs."""
    if len(sources) < 2 or not all(path.is_dir() for path in sources):
        return False
    first, second = map(read_manifest, sources)
    inputs = [sorted(manifest.get("inputs", {}).values()) for manifest in (first, second)]
    return first.get("judges") == second.get("judges") and inputs[0] != inputs[1]
