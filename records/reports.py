"""Reference reports: the text that answers all sub-questions of its topic."""

from __future__ import annotations

from pathlib import Path

from .questions import TOPIC_FIELDS
from .reading.fields import read_lines
from .reading.problems import Problems

TEXT_FIELDS = ("report", "summary", "reference_summary")


def read_reports(path: Path, problems: Problems) -> dict[str, str]:
    """Read the reference report of each topic, in file order.

    The topic stands under `id`, `example_id`, `qid` or `topic_id`, the text under `report`,
    `summary` or `reference_summary`.

    Errors noted: no topic or text, an empty text, a topic with two texts, a file without
    reports. The same text again is mentioned.
    """
    reports: dict[str, str] = {}
    for line in read_lines(path, problems):
        topic_id, text = line.id(*TOPIC_FIELDS), line.text(*TEXT_FIELDS)
        if topic_id is None or text is None:
            continue
        if not text.strip():
            line.error("empty_report", f"the report of topic {topic_id!r} is empty, wanted text")
        elif topic_id not in reports:
            reports[topic_id] = text
        elif reports[topic_id] == text:
            line.keep("duplicate_report", f"the report of topic {topic_id!r} occurs twice")
        else:
            what = f"topic {topic_id!r} has another report than before, wanted one"
            line.error("duplicate_report", what)
    if not reports:
        problems.error(path, 1, "empty_file", "no reports, wanted at least one")
    return reports
