"""The scores of the key point filter, and its false positives by threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import orjson

from ...records.reading.fields import read_lines
from ...records.reading.problems import InputError, Problems
from .panels import draw_filter_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FILES = (
    "unverified_keypoints.jsonl",
    "keypoints.jsonl",
)  # before verification by people, else as built
_BINS = 20


def draw_filter(results: Sequence[Path], width: float) -> tuple[Figure, str]:
    """Bars: points by score; lines: share of points up to it, and false positives of a threshold.

    Raises: InputError for anything but one folder of `judge build long2rag` with key points.
    Source: arXiv:2410.23000, Figure 13 and appendix A.2.
    """
    if len(results) != 1:
        raise InputError(f"judge figure filter takes one folder, got {len(results)}")
    (folder,) = results
    scores = np.sort(np.array(list(_read_scores(folder)), dtype=float))
    if not len(scores):
        raise InputError(f"{folder}: no score of a key point; judge build long2rag writes them")
    rates = [(t, rate) for t, rate in _read_rates(folder) if rate is not None]
    figure = draw_filter_scores(scores, rates, _BINS, width)
    caption = f"Scores of the key point filter for {len(scores):,} key points, as shares in "
    caption += f"{_BINS} bins, and their cumulative distribution."
    if rates:
        caption += " Circles: false positives by threshold, the share of the kept points that "
        caption += "people reject (mean of the annotators)."
    return figure, caption


def _read_scores(folder: Path) -> Iterator[float]:
    paths = [folder / name for name in _FILES if (folder / name).is_file()][:1]
    for path in (*paths, folder / "rejected_keypoints.jsonl"):
        for line in read_lines(path, Problems()) if path.is_file() else ():
            points = line.row.get("key_points", [line.row])
            if line.row.get("why") != "people":  # already counted before verification
                yield from (p["score"] for p in points if isinstance(p.get("score"), float | int))


def _read_rates(folder: Path) -> Iterator[tuple[float, float | None]]:
    path = folder / "statistics.json"
    if path.is_file():
        verified = orjson.loads(path.read_bytes()).get("verification") or {}
        for row in verified.get("thresholds", ()):
            yield row["threshold"], row["false_positives"]
