"""Summaries of results as `judge show` prints them: for a folder, a run or a topic."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ....records.reading.problems import InputError, Problems
from ....views.table import Column, Kind, Row, Table
from ....views.terminal import Terminal, table_text
from ...engine.manifest import dependence_notes, read_manifest
from ...protocols.table import program as find_program
from ..tables.words import count
from .answer_text import (
    answer_text,
    command,
    find_lexical_judges,
    number,
    plural,
    width,
    wrap,
    write_overlap_note,
)
from .summaries import summarise_folder, summarise_run, summarise_topic
from .views import read_answer_views

MAX_ROWS = 20  # rows of a long list; --json has all
MARKS = {"stated": "+", "partly": "~", "missed": ".", "unjudged": "?", None: " "}
_LABELS = ("full", "partial", "yes", "met", "partly", "none", "no", "not_met", "unjudged")
Summary = Mapping[str, Any]


_NOT_REACHED = {"budget": "not asked"}  # a limit was reached or the run was stopped


def folder_text(summary: Summary, folder: Path) -> str:
    """Return the content of a folder as text, and the next commands."""
    by = summary["measure"] or ""
    n_wanted = summary["n_runs"] * summary["n_topics"]
    what = f"{', '.join(summary['programs'])}; {count(summary['n_runs'], 'run')}"
    answers = f"{summary['n_answers']:,} of {n_wanted:,} answers"
    n_topics = summary["n_topics"]
    runs = [
        [number(row["value"], by), f"{row['n_answered']} of {n_topics}", row["run_id"]]
        for row in summary["runs"]
    ]
    parts = [
        wrap(f"{folder}: {what}, {count(summary['n_topics'], 'topic')}, {answers}."),
        wrap(_count_judged(summary)),
        _beware(summary),
        f"\nRuns, best first by {by}\n",
        _table([by, "answered", "run"], runs),
        "\nTopics, worst first by the mean of all runs\n",
    ]
    topics = summary["topics"][:MAX_ROWS]
    head = ["mean", "answered", "missed by all", "topic", "question"]
    rows = [
        [
            number(row["mean"], by),
            str(row["n_answered"]),
            f"{row['n_missed_by_all']} of {row['n_points']}" if row["n_points"] else "-",
            row["topic_id"],
            row["question"],
        ]
        for row in topics
    ]
    parts.append(_table(head, rows, left=(3,)))
    parts.append(_more(len(summary["topics"])))
    parts += _list_missed_by_all(summary["missed_by_all"])
    best, worst = (
        (summary["runs"] or [{"run_id": "RUN"}])[0],
        (topics or [{"topic_id": "TOPIC"}])[0],
    )
    run, topic = best["run_id"], worst["topic_id"]
    asks = [
        ("where a run fails, and what it misses", command("judge", "show", folder, run)),
        ("how one answer was judged", command("judge", "show", folder, run, topic)),
        ("what each run misses on a topic", command("judge", "show", folder, "--topic", topic)),
        ("everything as a page", command("judge", "report", folder)),
    ]
    return "".join([*parts, *_next(asks)])


def run_text(summary: Summary, folder: Path) -> str:
    """Return where a run fails, as text."""
    by, run = summary["measure"] or "", summary["run_id"]
    mean: Summary = next((row for row in summary["means"] if row["measure"] == by), {})
    score = f"{by} {_value(mean, by)}, {_rests(mean)}" if mean else "no scores"
    done = f"{summary['n_answered']} of {count(summary['n_topics'], 'topic')} answered"
    parts = [wrap(f"{run}: {done}; {score}."), _beware(summary)]
    parts += [f"\nTopics, worst first by {by}\n", _legend(summary)]
    parts.append(_topics_of_run(summary["topics"], by))
    parts += _list_missed(summary)
    worst = next((row for row in summary["topics"] if row["is_answered"]), None)
    if worst is not None:
        topic = worst["topic_id"]
        asks = [
            ("how this answer was judged", command("judge", "show", folder, run, topic)),
            (
                "all runs on this topic",
                command("judge", "show", folder, "--topic", topic),
            ),
            ("what no run states", command("judge", "show", folder)),
        ]
        parts += _next(asks)
    return "".join(parts)


def topic_text(summary: Summary, folder: Path) -> str:
    """Return what the runs miss on a topic, as text."""
    by, topic = summary["measure"] or "", summary["topic_id"]
    parts = [
        wrap(f"{topic}: {summary['question']}"),
        wrap(f"{summary['n_answered']} of {count(summary['n_runs'], 'run')} answered."),
        _beware(summary),
    ]
    if points := summary["points"]:
        unit = plural(points[0]["unit"])
        vital = "vital first, then " if any(p["importance"] for p in points) else ""
        order = f"{vital}most missed first; columns count answers"
        parts.append("\n" + wrap(f"{unit.capitalize()}, {order}"))
        head = ["no.", "missed", "in part", "stated", "not judged", points[0]["unit"]]
        counted_as = ("missed", "partly", "stated", "unjudged")
        rows = [
            [str(n), *(str(p["n"][s]) for s in counted_as), _point(p)]
            for n, p in enumerate(points, 1)
        ]
        parts.append(_table(head, rows))
        marks = f"{MARKS['stated']} stated  {MARKS['partly']} in part  {MARKS['missed']} missed"
        runs = f"Runs, best first by {by}; a mark for each of the {unit} 1 to {len(points)}:"
        parts.append("\n" + wrap(runs))
        parts.append(wrap(f"{marks}  {MARKS['unjudged']} not judged"))
    else:
        parts.append(f"\nRuns, best first by {by}\n")
    parts.append(_runs_of_topic(summary["runs"], by, len(points)))
    last = next((row for row in reversed(summary["runs"]) if row["is_answered"]), None)
    if last is not None:
        ask = command("judge", "show", folder, last["run_id"], topic)
        parts += _next([("how an answer was judged", ask)])
    return "".join(parts)


def _beware(summary: Summary) -> str:
    """Return warnings: labels by word overlap, and systems that saw the judge."""
    return write_overlap_note(summary["word_overlap"]) + "".join(map(wrap, summary["dependence"]))


def _count_judged(summary: Summary) -> str:
    text = f"{count(summary['n_judged'], 'judgement')}"
    if summary["n_unjudged"]:
        by_reason = summary["unjudged_by_reason"].items()
        reasons = ", ".join(f"{n:,} {_NOT_REACHED.get(why, why)}" for why, n in by_reason)
        text += f"; {summary['n_unjudged']:,} more are missing ({reasons}) and not scored"
    return text + "."


def _legend(summary: Summary) -> str:
    """Explain the columns of a run's topics."""
    topics, parts = summary["topics"], [f"rank: among {count(summary['n_runs'], 'run')}"]
    if any(sum(row["vital"].values()) for row in topics):
        unit = plural(summary["unit"])
        parts.append(f"missed, in part, stated: {'vital ' * summary['has_vital']}{unit}")
    for program in _programs(topics):
        missing = ", ? not judged" if "unjudged" in _names(topics, program) else ""
        what = find_program(program).besides or program
        parts.append(f"{_label_head(topics, program)}: {what}{missing}")
    return wrap("; ".join(parts), "  ")


def _programs(topics: Sequence[Summary]) -> list[str]:
    return list(dict.fromkeys(name for row in topics for name in row["labels"]))


def _topics_of_run(topics: Sequence[Summary], by: str) -> str:
    has_points = any(sum(row["vital"].values()) for row in topics)
    has_missing = any(row["vital"]["unjudged"] for row in topics)
    standings = ["missed", "partly", "stated", *(["unjudged"] if has_missing else [])]
    programs = _programs(topics)
    head = [by, "rank"]
    if has_points:
        names = {"missed": "missed", "partly": "in part", "stated": "stated"}
        head += [names.get(name, "not judged") for name in standings]
    head += [_label_head(topics, name) for name in programs] + ["topic", "question"]
    rows = []
    for row in topics:
        cells = [_value(row, by), "-" if row["rank"] is None else str(row["rank"])]
        if has_points:
            answered = sum(row["vital"].values())
            cells += [str(row["vital"][name]) if answered else "-" for name in standings]
        cells += [_in_order(_names(topics, p), row["labels"].get(p, {})) for p in programs]
        rows.append([*cells, row["topic_id"], _state(row) + row["question"]])
    return _table(head, rows, left=(len(head) - 2,))


def _runs_of_topic(runs: Sequence[Summary], by: str, n_points: int) -> str:
    rows = []
    for row in runs:
        marks = "".join(MARKS[stand] for stand in row["points"])
        groups = " ".join(marks[i : i + 5] for i in range(0, n_points, 5))
        labels = "; ".join(_labels(of) for of in row["labels"].values())
        rows.append([_value(row, by), groups if n_points else labels, _state(row) + row["run_id"]])
    return _table([by, "" if n_points else "labels", "run"], rows, left=(1,))


def _list_missed(summary: Summary) -> Iterator[str]:
    missed = summary["missed"]
    if not missed:
        return
    unit = plural(missed[0]["unit"])
    of_others = [row for row in missed if row["n"]["stated"]]
    n_none = len(missed) - len(of_others)
    vital = "vital first, then " if any(row["importance"] for row in missed) else ""
    verb = _verb(missed[0])
    title = f"{unit.capitalize()} that this run misses and others {verb}"
    yield "\n" + wrap(f"{title}, {vital}by how many runs {verb} them")
    stands = {"partly": "in part", "missed": "missed"}
    rows = [
        [_of(row), stands[row["standing"]], row["topic_id"], _point(row)]
        for row in of_others[:MAX_ROWS]
    ]
    head = [f"{_verb(missed[0], is_past=True)} by", "", "topic", missed[0]["unit"]]
    yield _table(head, rows, left=(1, 2))
    yield _more(len(of_others))
    if n_none:
        yield wrap(f"It also misses {n_none:,} that no run {verb}s in full.", "  ")


def _list_missed_by_all(points: Sequence[Summary]) -> Iterator[str]:
    if not points:
        return
    unit = plural(points[0]["unit"])
    verb = _verb(points[0])
    vital = ", vital first" if any(p["importance"] for p in points) else ""
    yield "\n" + wrap(
        f"{unit.capitalize()} that no run {verb}s, even in part{vital}: {len(points):,}"
    )
    rows = [[point["topic_id"], _point(point)] for point in points[:MAX_ROWS]]
    yield _table(["topic", points[0]["unit"]], rows, left=(0,))
    yield _more(len(points))


def _verb(point: Summary, *, is_past: bool = False) -> str:
    return find_program(point["program"]).verb[is_past]


def _of(row: Summary) -> str:
    return f"{row['n']['stated']} of {sum(row['n'].values())}"


def _point(point: Summary) -> str:
    importance = f"({point['importance']}) " if point["importance"] == "okay" else ""
    return importance + str(point["text"] or point["item"])


def _state(row: Summary) -> str:
    if row["failed"]:
        return f"(not made: {row['failed']}) "
    return "" if row["is_answered"] else "(no answer) "


def _value(row: Summary, by: str) -> str:
    value = row.get("value")
    if not row.get("n_unjudged"):
        return number(value, by)
    value = value if row.get("n") else None
    low, high = row.get("low"), row.get("high")
    if low is None or high is None:
        return f"{number(value, by)} (could be anything)"
    return f"{number(value, by)} (could be {number(low, by)} to {number(high, by)})"


def _rests(row: Summary) -> str:
    missing = f", {row['n_unjudged']:,} not judged" if row.get("n_unjudged") else ""
    return f"on {count(row.get('n') or 0, 'judgement')}{missing}"


def _names(topics: Sequence[Summary], program: str) -> list[str]:
    """List the labels of a task, best first if their order is known."""
    names = {name for row in topics for name in row["labels"].get(program, {})}
    in_order = [name for name in _LABELS if name in names]
    return in_order + sorted(names - {*in_order})


def _label_head(topics: Sequence[Summary], program: str) -> str:
    return "/".join("?" if name == "unjudged" else name for name in _names(topics, program))


def _in_order(names: Sequence[str], counts: Mapping[str, int]) -> str:
    return "/".join(str(counts.get(name, 0)) for name in names) if counts else "-"


def _labels(counts: Mapping[str, int]) -> str:
    return " ".join(f"{n} {label}" for label, n in sorted(counts.items())) or "-"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: Iterable[int] = ()) -> str:
    """Format columns of numbers, with a text in the rest of the line."""
    names, last = {*left}, len(head) - 1
    columns = [
        Column(name, Kind.TEXT if i == last else Kind.NAME if i in names else Kind.COUNT)
        for i, name in enumerate(head)
    ]
    table = Table("", columns, [Row(row) for row in rows])
    return textwrap.indent(table_text(table, Terminal(width() - 2)), "  ")


def _more(n: int) -> str:
    return f"  ... and {n - MAX_ROWS:,} more, with --json\n" if n > MAX_ROWS else ""


def _next(asks: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield "\nNext\n"
    for what, line in asks:
        yield f"  {line}\n      {what}\n"


class Shown(NamedTuple):
    """The same content ready for JSON and as lines for people."""

    data: dict[str, Any]
    text: str


def show_answer(
    folder: Path,
    run: str,
    topic: str,
    problems: Problems,
    *,
    labels: Path | None = None,
    passages: bool = False,
) -> Shown:
    """Show an answer with all its judgements.

    Args:
        labels: human labels to show beside the judge's. passages: also show cited passages.

    Raises: InputError for an unknown run or topic, or a missing answer.
    """
    view = next(read_answer_views(folder, problems, run=run, topic=topic, labels=labels), None)
    if view is None:
        others = command("judge", "show", folder, "--topic", topic)
        raise InputError(f"{folder}: {run} has no answer to topic {topic}; others: {others}")
    if labels is not None and not any(judged.people for judged in view.judged):
        what = f"has no label for the judgements of {run}, topic {topic}"
        problems.keep(labels, 0, "no_labels", what)
    manifest = read_manifest(folder)
    overlap, of_run = find_lexical_judges(manifest), {**manifest, "data": {"run_ids": [run]}}
    notes = list(dependence_notes(of_run))
    text = answer_text(view, overlap, passages=passages)
    text += "".join(f"\n{wrap(note)}" for note in notes)
    return Shown(view.as_row() | {"word_overlap": overlap, "dependence": notes}, text)


def show_summary(
    folder: Path,
    run: str | None,
    topic: str | None,
    problems: Problems,
    *,
    measure: str | None = None,
    named: Path | None = None,
) -> Shown:
    """Show where a run fails, what runs miss on a topic, or without both what the folder has.

    Args:
        measure: the measure to order by; None: the first of the folder.
        named: the folder's name in the next commands, if `folder` is temporary; None: `folder`.

    Raises: InputError for an unknown run, topic or measure.
    """
    name = named or folder
    if run is not None:
        summary = summarise_run(folder, run, problems, measure)
        return Shown(summary, run_text(summary, name))
    if topic is not None:
        summary = summarise_topic(folder, topic, problems, measure)
        return Shown(summary, topic_text(summary, name))
    summary = summarise_folder(folder, problems, measure)
    return Shown(summary, folder_text(summary, name))
