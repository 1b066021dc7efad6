"""The facts that an answer misses, as text for its writer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ....records.reading.problems import Problems
from ...engine.manifest import read_manifest
from .answer_text import find_lexical_judges, plural, wrap, write_overlap_note
from .summaries import Point, TopicAnswers, read_topics_of_answers
from .views import Standing, check_name

NOTHING = "No facts were judged: there are no nuggets, key points or sub-questions."


def describe_missing(
    folder: Path, problems: Problems, run: str | None = None, topic: str | None = None
) -> str:
    """List the facts that each answer misses or states only in part, vital facts first.

    Args:
        run, topic: only this run, only this topic; None: all.

    Raises: InputError for an unknown run or topic.
    """
    manifest = read_manifest(folder)
    runs = manifest["data"].get("run_ids", [])
    check_name(folder, "run", run, runs)
    check_name(folder, "topic", topic, manifest["data"].get("topic_ids", []))
    wanted = runs if run is None else [run]
    described, n_without = list[str](), 0
    for of_topic in read_topics_of_answers(folder, problems, topic=topic):
        for one in wanted:
            if text := _describe(of_topic, one, is_named=len(runs) > 1):
                described.append(text)
            else:
                n_without += one in of_topic.answered
    if not described:
        return wrap(NOTHING)
    if n_without:
        what = f"{n_without:,} more answers have no facts to compare with"
        described.append(wrap(f"{what} (unjudged.jsonl, problems.jsonl)."))
    return "\n".join([*described, write_overlap_note(find_lexical_judges(manifest))])


def _describe(of_topic: TopicAnswers, run: str, *, is_named: bool) -> str:
    """Return the text about one answer; "" if there are no facts."""
    stands = of_topic.standing.get(run, {})
    of: dict[Standing, list[Point]] = {"missed": [], "partly": [], "unjudged": [], "stated": []}
    for key, point in of_topic.points.items():
        if key in stands:
            of[stands[key]].append(point)
    if not stands:
        return ""
    return "".join(_lines(of_topic.question, run if is_named else "Your answer", of))


def _lines(question: str, who: str, of: dict[Standing, list[Point]]) -> Iterator[str]:
    first = next(point for points in of.values() for point in points)
    what = "fact" if first.unit == "nugget" else first.unit
    n_judged = sum(map(len, of.values())) - len(of["unjudged"])
    yield wrap(question)
    if n_judged and not (of["missed"] or of["partly"]):
        every = f"all {_count(n_judged, what)}" if n_judged > 1 else f"the only {what}"
        yield wrap(f"{who} states {every}{' that could be judged' if of['unjudged'] else ''}.")
    for name, verb in (("missed", "misses"), ("partly", "states only in part")):
        if points := of[name]:  # type: ignore[index]
            yield wrap(f"{who} {verb} {len(points):,} of {_count(n_judged, what)}:")
            for point in sorted(points, key=lambda each: not each.is_vital):
                also = "" if point.is_vital else " (worthwhile, not essential)"
                yield wrap(f"{point.text or point.item}{also}", "  ", "- ")
    if of["unjudged"]:
        yield wrap(f"{_count(len(of['unjudged']), what)} could not be judged.")


def _count(n: int, what: str) -> str:
    return f"{n:,} {what if n == 1 else plural(what)}"
