"""What made the difference between two runs, as text: topics, and judgements that parted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..tables import aligned, cell, figure

SHOWN_TOPICS = 3  # of each side; SHOWN_FLIPS: the judgements that differ most
SHOWN_FLIPS = 5
_TEXT_CHARS = 60


def differences_text(comparison: Mapping[str, Any]) -> str:
    """Topics that moved the first measure of a comparison of two runs, and the judgements."""
    from ...programs.analysis.compare_runs import PRIMARY

    measures = {name: of for name, of in comparison["measures"].items() if "topics" in of}
    chosen = [name for name in measures if name in PRIMARY] or list(measures)[:1]
    blocks = []
    for name in chosen:
        measured = measures[name]
        names = [run["run_id"] for run in measured["runs"]]
        lines = [_topics_text(name, measured["topics"], names)]
        lines += (f"{line}\n" for line in answered_of(measured["runs"], measured["n_topics"]))
        blocks.append("".join(lines))
    for of_kind in comparison.get("judgements", ()):
        text = _flips_text if "flips" in of_kind else _labels_text
        blocks.append(text(of_kind, names))
    return "".join(f"\n{block}" for block in blocks)


def answered_of(runs: Sequence[Mapping[str, Any]], n_topics: int) -> Iterator[str]:
    """A line for each run whose mean has topics that it did not answer."""
    for run in runs:
        if n := run["n_unanswered"]:
            yield f"{cell(run['run_id'])} answered {n_topics - n:,} of {n_topics:,} topics"


def _topics_text(name: str, topics: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    moved = [row for row in topics if row["difference"]]
    wins = [row for row in moved if row["difference"] > 0][:SHOWN_TOPICS]
    losses = [row for row in moved if row["difference"] < 0][:SHOWN_TOPICS]
    if not moved:
        return f"{cell(name)} differs on no topic\n"
    head = [f"{name} by topic", *(cell(run, 30) for run in names), "difference"]
    table = [head]
    for row in (*wins, *reversed(losses)):
        values = (
            _value(row, "value", "is_answered"),
            _value(row, "other_value", "other_is_answered"),
        )
        table.append([row["topic_id"], *values, figure(row["difference"], 4, "+")])
    return aligned(table) + _more(len(moved) - len(wins) - len(losses), "topics between")


def _value(row: Mapping[str, Any], side: str, is_answered: str) -> str:
    return figure(row[side], 4) if row[is_answered] else "no answer"


def _flips_text(changes: Mapping[str, Any], names: Sequence[str]) -> str:
    one, other = (cell(name, 30) for name in names)
    n = changes["n_better"] + changes["n_worse"]
    title = f"{changes['what']}: {n:,} of {changes['n']:,} that both have differ\n"
    moved = [row for row in changes["topics"] if row["n_better"] or row["n_worse"]]
    if not moved:
        return title
    table = [["topic", f"better in {one}", f"in {other}", "of"]]
    for row in moved[: 2 * SHOWN_TOPICS]:
        counts = (row["n_better"], row["n_worse"], row["n"])
        table.append([row["topic_id"], *(f"{count:,}" for count in counts)])
    flips = [["topic", one, other, "the furthest apart"]]
    for row in changes["flips"][:SHOWN_FLIPS]:
        what = cell(row["text"] or row["id"], _TEXT_CHARS)
        flips.append([row["topic_id"], row["label"], row["other_label"], what])
    more = _more(len(moved) - 2 * SHOWN_TOPICS, "topics")
    text = aligned(flips, are_words=True) + _more(n - SHOWN_FLIPS, changes["what"])
    return title + aligned(table) + more + text


def _labels_text(changes: Mapping[str, Any], names: Sequence[str]) -> str:
    labels = " / ".join(changes["labels"])
    table = [[f"{changes['what']} by topic", *(f"{cell(name, 30)}: {labels}" for name in names)]]
    topics = changes["topics"][: 2 * SHOWN_TOPICS]
    for topic, row in (*((row["topic_id"], row) for row in topics), ("all", changes)):
        counts = (row[side].values() for side in ("labels", "other_labels"))
        table.append([topic, *(" / ".join(f"{n:,}" for n in side) for side in counts)])
    return aligned(table) + _more(len(changes["topics"]) - len(topics), "topics")


def _more(n: int, what: str) -> str:
    return f"... and {n:,} more {what}; --json has all\n" if n > 0 else ""
