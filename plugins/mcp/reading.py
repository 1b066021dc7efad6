"""`compare_runs` and `explain_score`: what stored results say, without asking anyone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...programs.analysis.answers.showing import show_answer, show_summary
from ...programs.analysis.compare import compare
from ...programs.scoring.topic_scores import run_names, topic_scores
from ...records.reading.problems import InputError, Problems
from .replies import Difference, Differences, Explanation, Moved
from .session import Session

MOVED = 5  # topics shown of each measure
LENGTH = 6000  # characters of an explanation in one reply


def compare_runs(
    session: Session,
    results: str,
    run: str,
    other_run: str,
    other_results: str | None,
    measures: list[str] | None,
) -> Differences:
    """Test two runs against each other by topic.

    Args:
        results: where they are, both or, with `other_results`, the first.
        other_results: where the second is.

    Raises: InputError for results, runs or measures that are not there.
    """
    one = session.folder.results(results)
    other = None if other_results is None else session.folder.results(other_results)
    names = [run, other_run]
    if other is not None:  # each of its own folder, where both have a run of that name
        paths = [one, other]
        shown_names = run_names(paths, [topic_scores(path, Problems()) for path in paths])
        names = [of.get(name, name) for name, of in zip(names, shown_names, strict=True)]
    comparison = compare(one, other, Problems(), way="runs", runs=names, measures=measures or [])
    differences = [_difference(name, of) for name, of in comparison["measures"].items()]
    return Differences(
        run=names[0], other_run=names[1], level=comparison["level"], differences=differences
    )


def explain_score(
    session: Session, results: str, run: str | None, topic: str | None, offset: int
) -> Explanation:
    """A part of what `judge show` prints: of an answer, of a run, of a topic or of all.

    Raises: InputError for results, a run or a topic that is not there, or an offset past the end.
    """
    folder, problems = session.folder.results(results), Problems()
    if run is not None and topic is not None:
        shown = show_answer(folder, run, topic, problems)
    else:
        shown = show_summary(folder, run, topic, problems, named=Path(results))
    text = shown.text
    if offset and offset >= len(text):
        raise InputError(f"offset {offset}: the text has {len(text)} characters")
    end = min(offset + LENGTH, len(text))
    return Explanation(
        quoted_text=text[offset:end],
        offset=offset,
        next_offset=end if end < len(text) else None,
        n_characters=len(text),
    )


def _difference(name: str, tested: dict[str, Any]) -> Difference:
    (pair,), (one, other), topics = tested["pairs"], tested["runs"], tested["topics"]
    moved = [row for row in topics if row["difference"]]
    return Difference(
        measure=name,
        mean=one["mean"],
        other_mean=other["mean"],
        **{n: pair[n] for n in ("difference", "low", "high", "p", "is_told_apart")},
        **{n: pair[n] for n in ("wins", "ties", "losses", "n_topics")},
        n_not_judged=sum(row["difference"] is None for row in topics),
        moved=[
            Moved(
                topic=row["topic_id"],
                value=row["value"],
                other_value=row["other_value"],
                difference=row["difference"],
            )
            for row in moved[:MOVED]
        ],
    )
