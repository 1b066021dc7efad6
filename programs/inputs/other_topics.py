"""Topics that one file names and another does not: reported with the nearest ids."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from ...records.reading.problems import Problems
from ...records.reading.problems import nearest as like

_SHOWN = 3  # ids named of each side
_MOST_COMPARED = 500  # ids that a topic is compared with, so that long files are read as fast


def nearest(topic_id: str, known: Collection[str]) -> str:
    """What to say behind a topic that is none of the known ones; "" if none is like it.

    >>> nearest("demo-bridge", ["demo-bees", "demo-bridges"])
    '; nearest topics: demo-bridges, demo-bees'
    >>> nearest("tides", ["demo-bees"])
    ''
    """
    alike = _nearest(topic_id, tuple(islice(known, _MOST_COMPARED)))
    return f"; nearest topics: {', '.join(alike)}" if alike else ""


@lru_cache(maxsize=4096)
def _nearest(topic_id: str, known: tuple[str, ...]) -> list[str]:
    return like(topic_id, known, _SHOWN)


def against(topics: Sequence[str], known: Collection[str]) -> str:
    """Ids of both sides, where they have nothing in common.

    >>> against(["other-bees"], ["demo-bees"])
    'other-bees against demo-bees'
    """
    return f"{_some(topics)} against {_some(known)}"


def _some(topics: Collection[str]) -> str:
    first = list(topics)[:_SHOWN]
    return ", ".join(first) + ", ..." * (len(topics) > _SHOWN)


def note_others(
    problems: Problems, path: Path, topic_ids: Collection[str], known: Collection[str]
) -> None:
    """Mention the topics of a file that are not judged, in one row with their number."""
    others = [topic for topic in topic_ids if topic not in known]
    if not others:
        return
    what = f"{len(others):,} of its {len(topic_ids):,} topics are not judged"
    if len(others) == len(topic_ids):
        problems.keep(path, 0, "other_topics", f"{what}: {against(others, known)}")
    else:
        what = f"{what}, as {others[0]!r}{nearest(others[0], known)}"
        problems.keep(path, 0, "other_topics", what)
