"""All that is known of a jury, ready for JSON, and its votes combined anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ...metrics.bootstrap import Draws
from ...metrics.jury import HOWS, LEAST_ITEMS, LEAST_MEMBERS, dawid_skene
from ...records.reading.problems import InputError, Problems
from ...records.writing import write_file
from ..threshold import objective_named
from .ballots import NONE, Ballots, read_ballots
from .members import members_of, together
from .ways import Settings, ways

DAWID_SKENE, BY_TOPIC = "dawid-skene", "dawid-skene-topics"


def jury_report(
    paths: Sequence[Path],
    problems: Problems,
    *,
    labels: Path | None,
    where: Mapping[str, Sequence[str]] | None,
    kind: str | None,
    votes: str,
    settings: Settings,
    draws: Draws,
) -> tuple[Ballots, dict[str, Any]]:
    """The votes, and what they say: `members`, `worth`, `ways` (see `Way`), and counts.

    Args:
        paths, labels, where, kind, votes: see `read_ballots`.
        settings: an empty objective is quadratic for an ordered scale of 3 labels or more, else
            kappa.

    Raises: InputError for files that do not fit, or an unknown objective.
    """
    ballots = read_ballots(paths, problems, labels=labels, where=where, kind=kind, votes=votes)
    k = len(ballots.scale)
    default = "quadratic" if k > 2 and ballots.is_ordered else "kappa"
    settings = replace(settings, objective=settings.objective or default)
    try:
        objective_named(settings.objective, k)
        is_distance = settings.objective in ("linear", "quadratic")
        if is_distance and not ballots.is_ordered:
            raise ValueError(f"objective {settings.objective!r}: the labels have no order")
    except ValueError as error:
        raise InputError(str(error)) from None
    n_labelled = int((ballots.truth != NONE).sum())
    if labels is not None and not n_labelled:
        raise InputError(f"{paths[0]} and {labels}: no item in common; do their ids agree?")
    try:
        compared = ways(ballots, settings, draws) if n_labelled else []
    except ValueError as error:
        raise InputError(f"{labels}: {error}") from None
    return ballots, {
        "n_items": len(ballots.cells),
        "n_topics": len(set(ballots.topics or ())),
        "n_labelled": n_labelled,
        "n_off_scale": ballots.n_off_scale,
        "scale": list(ballots.scale),
        "how": ballots.how,
        "objective": settings.objective,
        **asdict(together(ballots)),
        "ways": [asdict(way) for way in compared],
        "members": [asdict(row) for row in members_of(ballots, settings.objective)],
    }


def write_combined(path: Path, ballots: Ballots, how: str) -> None:
    """Write a label file of what the votes become; an item that they do not decide has none.

    Args:
        how: of `HOWS`; DAWID_SKENE, of all items together; BY_TOPIC, of each topic by itself.

    Raises: InputError for another name, a file that is there, or too little to go by.
    """
    if path.exists():
        raise InputError(f"{path}: is there already; name another file")
    if how not in (*HOWS, DAWID_SKENE, BY_TOPIC):
        raise InputError(f"--how {how}: wanted one of {', '.join((*HOWS, DAWID_SKENE, BY_TOPIC))}")
    if how in HOWS and how != "vote" and not ballots.is_ordered:
        raise InputError(f"--how {how}: the labels have no order, wanted vote")
    if how in HOWS:
        chances = None
        codes = ballots.decided(how)
    else:
        chances = _chances(ballots, by_topic=how == BY_TOPIC)
        codes = np.where(np.isnan(chances[:, 0]), NONE, np.nan_to_num(chances).argmax(1))
    means, lines = ballots.means(), []
    for i, cell in enumerate(ballots.cells):
        row: dict[str, Any] = dict(zip(ballots.key_names, cell, strict=True))
        row["label"] = None if codes[i] == NONE else ballots.scale[codes[i]]
        if ballots.is_ordered and codes[i] != NONE:
            row["score"] = float(means[i])
        if chances is not None and codes[i] != NONE:
            row["probabilities"] = dict(zip(ballots.scale, chances[i].tolist(), strict=True))
        row["votes"] = {
            member: None if code == NONE else ballots.scale[code]
            for member, code in zip(ballots.members, ballots.votes[i].tolist(), strict=True)
        }
        lines.append(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    write_file(path, b"".join(lines))


def _chances(ballots: Ballots, *, by_topic: bool) -> np.ndarray:
    """(n, k) probabilities of the labels, nan for an item without votes."""
    if by_topic and ballots.topics is None:
        raise InputError(f"--how {BY_TOPIC}: the items have no topic_id")
    names = np.array(ballots.topics) if by_topic else np.zeros(len(ballots.cells))
    there = (ballots.votes != NONE).any(1)
    chances = np.full((len(names), len(ballots.scale)), np.nan)
    for name in np.unique(names):
        part = there & (names == name)
        if part.sum() < LEAST_ITEMS or ballots.votes.shape[1] < LEAST_MEMBERS:
            got = f"{part.sum():,} items and {ballots.votes.shape[1]} members"
            where = f" of topic {name}" if by_topic else ""
            wanted = f"{LEAST_ITEMS} items and {LEAST_MEMBERS} members"
            raise InputError(f"--how {DAWID_SKENE}: wanted {wanted}{where}, got {got}")
        chances[part] = dawid_skene(ballots.votes[part], len(ballots.scale)).probabilities
    return chances
