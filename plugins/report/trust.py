"""Sections about trust: people and judge, disagreements, failed judgements, agents."""

from __future__ import annotations

import base64
import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from ...programs.analysis.answers.answer_text import command
from ...programs.analysis.cell_texts import TEXTS, text_fields
from ...programs.protocols.evidence import FILE as EVIDENCE
from ...programs.protocols.nugget_search import find_searches
from ...records.reading.lines import json_lines
from ...records.reading.problems import Problems
from ...records.support import NOT_SOUGHT, OUTCOMES, read_sentence_evidence
from ...records.traces import TRACE, ItemTrace, read_folder_traces
from .packing import MAX_BYTES, Column, Texts
from .source import Sides, Source

# The agreement measures on the page, in this order, with the names that `judge agree` prints.
_FIGURES = (
    ("accuracy", "share of equal labels"),
    ("macro_f1", "macro F1"),
    ("unweighted", "Cohen kappa"),
    ("linear", "Cohen kappa, linear"),
    ("quadratic", "Cohen kappa, quadratic"),
    ("nominal", "Krippendorff alpha, nominal"),
    ("ordinal", "Krippendorff alpha, ordinal"),
    ("fleiss_kappa", "Fleiss kappa"),
    ("randolph_kappa", "Randolph kappa"),
    ("ac1", "Gwet AC1"),
)


# How labels were given: the words for a condition of `judge annotate`.
_CONDITIONS = {
    "from_scratch": "from scratch",
    "post_edit": "with the judge's label shown",
    "post_edited": "with the judge's label shown",
    "": "without a named condition",
}


def make_people(source: Source) -> Mapping[str, Any]:
    """Labels from people for the same items, by file of labels and folder."""
    if not source.labels:
        return without_labels(source, "There are no labels from people")
    return {"sides": [_agreement(source, sides) for sides in source.sides]}


def without_labels(source: Source, what: str) -> dict[str, Any]:
    """The text in place of a section that needs labels from people."""
    folders = [source.name_path(path) for path in source.paths]
    return {
        "missing": f"{what}, so it is unknown how well you can trust this judge. The first command "
        "writes a sheet of items to label, half of them drawn at random. The second command adds "
        "the labels to this page.",
        "command": command("judge", "next", folders[0], "--n", "100", "--out", "sheet.csv")
        + "\n"
        + command("judge", "report", *folders, "--labels", "sheet.csv"),
    }


def _agreement(source: Source, sides: Sides) -> dict[str, Any]:
    agreement = sides.comparison["agreement"]
    annotators = agreement["annotators"]
    files = [source.name_path(path) for path in (sides.one, sides.other)]
    intervals, others = _flat(agreement["intervals"]), {}
    if annotators:
        others["each"] = _flat(annotators["judge"]["intervals"])
        others["people"] = _flat(annotators["among"]["intervals"])
    columns = {"judge": intervals, **others}
    confusion = agreement["confusion"]
    return {
        "labels": sides.one.name,
        "given": ", ".join(_CONDITIONS.get(name, name) for name in sides.comparison["conditions"]),
        "pooled": warn_of_pooling(source, sides),
        "folder": sides.other.name,
        "command": command("judge", "agree", *files, "--kind", agreement["kind"]),
        **{name: agreement[name] for name in ("kind", "scale", "is_ordered", "scale_note", "n")},
        **{name: agreement[name] for name in ("n_topics", "n_human_only", "n_judged_only")},
        "n_unjudged": agreement["n_judged_unlabelled"],
        "level": agreement["intervals"]["accuracy"]["level"],
        "confusion": confusion,
        "figures": [
            {"name": name, **{side: of.get(key) for side, of in columns.items()}}
            for key, name in _FIGURES
            if intervals.get(key, {}).get("value") is not None
        ],
        "by_label": [
            {
                "label": label,
                "n_people": sum(confusion[i]),
                "n_judge": sum(row[i] for row in confusion),
                **{name: agreement[name][label] for name in ("precision", "recall", "f1")},
                "kappa": agreement["intervals"]["one_vs_rest"][label],
            }
            for i, label in enumerate(agreement["scale"])
        ],
        "by_topic": [{"topic": topic, **row} for topic, row in agreement["by_topic"].items()],
        "annotators": None if annotators is None else _annotators(annotators),
    }


def warn_of_pooling(source: Source, sides: Sides) -> str:
    """A warning if a file has labels of several conditions, otherwise ""."""
    counts = sides.comparison["conditions"]
    if len(counts) < 2:
        return ""
    each = ", ".join(f"{n:,} {_CONDITIONS.get(name, name)}" for name, n in sorted(counts.items()))
    labels, folder = source.name_path(sides.one), source.name_path(sides.other)
    one = next(name for name in sorted(counts) if name)
    shown = command("judge", "agree", labels, folder, "--where", f"condition={one}")
    return (
        f"{sides.one.name} mixes labels of {len(counts)} conditions: {each}. People agree more "
        "often with a label that they see, so these figures describe neither condition. "
        f"For one condition: {shown}"
    )


def _flat(intervals: Mapping[str, Any]) -> dict[str, Any]:
    """Agreement measures by the names in `_FIGURES`, each with its interval."""
    flat = dict(intervals)
    for name in ("cohen_kappa", "pairwise_kappa", "alpha"):
        flat |= flat.pop(name, {})
    if "observed" in flat:
        flat["accuracy"] = flat["observed"]
    return flat


def _annotators(annotators: Mapping[str, Any]) -> dict[str, Any]:
    among = annotators["among"]
    return {
        **{name: among[name] for name in ("n_items", "n_labels", "n_pairable")},
        "each": [
            {"name": name, "kappa": kappa}
            for name, kappa in annotators["judge"]["by_annotator"].items()
        ],
    }


# What a side gave next to its label; `annotations` as one text.
_REASONS = ("rationale", "other_rationale", "quote", "other_quote", "votes", "other_votes")
# Short texts first: if not all fit, only the section on answers has the answers.
_TEXTS = ("nugget", "key_point", "sentence", "question", *_REASONS, "title")
_KEYS = ("topic_id", "run_id")


def make_disagreements(source: Source) -> Mapping[str, Any]:
    """By comparison, the items with two different labels, largest difference first."""
    if not source.sides:
        return without_labels(source, "There is no second set of labels for these items")
    compared = [_compare(source, sides) for sides in source.sides]
    return {"count": sum(one["n"] for one in compared), "compared": compared}


def _compare(source: Source, sides: Sides) -> dict[str, Any]:
    comparison, agreement = sides.comparison, sides.comparison["agreement"]
    flips: Sequence[dict[str, Any]] = comparison["flips"]
    rank = {label: i for i, label in enumerate(agreement["scale"])}
    back = {mine: theirs for theirs, mine in agreement["run_aliases"].items()}
    keys = _key_names(flips)
    rows = []
    for flip in flips:
        row = dict(flip)
        if "run_id" in row:
            row["run_id"] = back.get(row["run_id"], row["run_id"])
        for side in ("", "other_"):
            by_annotator = row.get(f"{side}annotations") or {}
            row[f"{side}votes"] = "; ".join(
                f"{name}: {label}" for name, label in by_annotator.items()
            )
        rows.append(row)
    names = [*(name for name in text_fields() if name not in TEXTS), *_TEXTS]
    names += [name for name in TEXTS if name not in _TEXTS]
    names += [name for row in rows[:1] for name in _inputs(row, keys, names)]
    packing = Texts(names)
    for row in rows:
        packing.add(row)
    texts, n_left = packing.pack()
    columns = {name: Column(row[name] for row in rows).pack() for name in keys}
    columns["run"] = Column(
        source.name_run(sides.other, row.get("run_id", "")) for row in rows
    ).pack()
    columns["pair"] = Column(f"{row['label']} → {row['other_label']}" for row in rows).pack()
    for name in ("label", "other_label"):
        columns[name] = Column(row[name] for row in rows).pack()
    apart = [abs(rank[row["label"]] - rank[row["other_label"]]) for row in rows]
    columns["distance"] = Column(apart if agreement["is_ordered"] else [None] * len(rows)).pack()
    scores = [row.get("other_score") for row in rows]
    columns["score"] = Column([s if s is None else round(s, 3) for s in scores]).pack()
    is_people = bool(source.labels)
    return {
        "of": [sides.one.name, sides.other.name],
        "names": ["people", "judge"] if is_people else [sides.one.name, sides.other.name],
        "kind": comparison["kind"],
        "scale": agreement["scale"],
        "is_ordered": agreement["is_ordered"],
        "n": comparison["n_flips"],
        "n_both": agreement["n"],
        "pairs": comparison["flip_counts"],
        "keys": list(keys),
        "texts": list(texts),
        "n_left": n_left,
        "columns": columns | texts,
        "results": command(source.name_path(sides.other)),
    }


def _key_names(flips: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ids of a row: the columns before its label."""
    names = list(flips[0]) if flips else []
    return names[: names.index("label")] if names else []


def _inputs(row: Mapping[str, Any], keys: Sequence[str], names: Sequence[str]) -> list[str]:
    """The other texts of a judged item; they may have any names."""
    others = {*keys, *names, "label", "other_label", "raw", "other_raw"}
    return [name for name, value in row.items() if name not in others and isinstance(value, str)]


_OWN_COLUMNS = ("stage", "topic_id", "run_id", "n", "reason", "detail", "raw")
_COLUMNS = ("stage", "reason", "topic", "run", "item", "n", "folder")
_MAX_RUNS = 20


def make_unjudged(source: Source) -> Mapping[str, Any]:
    """Failed judgements, bounds of runs, and problems of the files."""
    counts: Counter[tuple[str, str]] = Counter()
    weights: Counter[tuple[str, str]] = Counter()
    columns, texts = {name: Column() for name in _COLUMNS}, Texts(("detail", "raw"))
    for path in source.paths:
        for row in _list_unjudged(source, path):
            counts[row["stage"], row["reason"]] += 1
            weights[row["stage"], row["reason"]] += row["n"]
            for name, column in columns.items():
                column.add(row[name])
            texts.add(row)
    packed, n_left = texts.pack()
    problems = _problems(source)
    return {
        "count": counts.total(),
        "n_judged": sum(result.n_judged for result in source.results),
        "reasons": [
            {"stage": stage, "reason": reason, "rows": n, "n": weights[stage, reason]}
            for (stage, reason), n in counts.most_common()
        ],
        "columns": {name: column.pack() for name, column in columns.items()} | packed,
        "n_left": n_left,
        "bounds": _bounds(source),
        "n_problems": len(problems),
        "problems": {
            name: Column(row[name] for row in problems).pack(key=str)
            for name in ("kind", "action", "at", "what", "folder")
        },
    }


def _list_unjudged(source: Source, path: Path) -> Iterator[dict[str, Any]]:
    for row in _rows(path / "unjudged.jsonl"):
        others = (
            value for key, value in row.items() if key not in _OWN_COLUMNS and value is not None
        )
        yield {
            **{name: row.get(name) for name in ("stage", "reason", "detail", "raw")},
            "n": row.get("n", 1),
            "topic": _text(row.get("topic_id")),
            "run": source.name_run(path, row["run_id"]) if row.get("run_id") else None,
            "item": " ".join(map(str, others)) or None,
            "folder": path.name,
        }


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _problems(source: Source) -> list[dict[str, Any]]:
    names = ("kind", "action", "at", "what")
    return [
        {**{name: str(row.get(name, "")) for name in names}, "folder": path.name}
        for path in source.paths
        for row in _rows(path / "problems.jsonl")
    ]


def _bounds(source: Source) -> dict[str, Any]:
    """The runs whose means the missing judgements could move most.

    Each run has the measure with its widest bounds, among the measures of leaderboards.
    """
    widest: dict[str, dict[str, Any]] = {}
    for measure in source.measures:
        for run, rows in source.scores.rows[measure].items():
            row = rows.get("all")
            if row is None or not row.n_unjudged or row.low is None or row.high is None:
                continue
            width = row.high - row.low
            if run not in widest or width > widest[run]["width"]:
                widest[run] = {
                    "run": run,
                    "measure": measure,
                    **{"value": row.value, "low": row.low, "high": row.high, "width": width},
                    "n_unjudged": row.n_unjudged,
                    "n": row.n,
                }
    widest_first = sorted(widest.values(), key=lambda row: -row["width"])
    return {"n": len(widest_first), "runs": widest_first[:_MAX_RUNS]}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; none if the file is missing, such as in older folders."""
    if path.is_file():
        problems = Problems()
        for _, row in json_lines(path, problems):
            yield row
        problems.raise_errors()


_SHOWN = ("path", "kind", "name", "args", "in", "out", "tokens", "because", "reason")
_SHORT = ("stage", "outcome", "reason", "topic", "run", "item", "steps", "replies", "tokens")


def make_agents(source: Source) -> Mapping[str, Any] | None:
    """The data of the section; None if no agent judged."""
    rows, packed = [], []
    for path in source.paths:
        if (path / TRACE).is_file():
            for trace in read_folder_traces(path):
                rows.append(_row(source, path, trace))
                packed.append(_pack(trace))
    searches = [search for path in source.paths for search in _searches(path)]
    evidence = [row for path in source.paths for row in _evidence(source, path)]
    if not (rows or searches or evidence):
        return None
    ends = Counter((row["stage"], row["outcome"], row["reason"]) for row in rows)
    is_shown = _choose_shown(rows, packed)
    return {
        "count": len(rows),
        "ends": [
            {"stage": stage, "outcome": outcome, "reason": reason, "n": n}
            for (stage, outcome, reason), n in ends.most_common()
        ],
        "columns": {name: Column(r[name] for r in rows).pack() for name in (*_SHORT, "results")},
        "steps": [text if is_in else None for text, is_in in zip(packed, is_shown, strict=True)],
        "n_left": len(is_shown) - sum(is_shown),
        "searches": searches,
        "evidence": {"outcomes": [*OUTCOMES, NOT_SOUGHT, "unjudged"], "runs": evidence},
    }


def _row(source: Source, path: Path, trace: ItemTrace) -> dict[str, Any]:
    run = trace.ids.get("run_id")
    topic = trace.ids.get("topic_id")
    return {
        "stage": trace.stage,
        "outcome": trace.outcome,
        "reason": trace.reason,
        "topic": None if topic is None else str(topic),
        "run": None if run is None else source.name_run(path, str(run)),
        "item": trace.name,
        "steps": len(trace.steps) - 1,
        "replies": sum(len(step.get("replies", ())) for step in trace.steps),
        "tokens": sum(sum(step.get("tokens", ())) for step in trace.steps),
        "results": str(path),
    }


def _pack(trace: ItemTrace) -> str:
    """The steps of an item, without the agent itself, as base64 of gzipped JSON."""
    steps = [{name: step[name] for name in _SHOWN if name in step} for step in trace.steps[1:]]
    return base64.b64encode(gzip.compress(orjson.dumps(steps), 6, mtime=0)).decode()


def _choose_shown(
    rows: Sequence[Mapping[str, Any]], packed: Sequence[str], most: int = MAX_BYTES
) -> list[bool]:
    """Whether the page has the steps of each item: those without outcome first, while they fit."""
    fits, left = [False] * len(rows), most
    for i in sorted(range(len(rows)), key=lambda i: rows[i]["reason"] is None):
        if len(packed[i]) <= left:
            fits[i] = True
            left -= len(packed[i])
    return fits


def _searches(path: Path) -> Iterator[dict[str, Any]]:
    file, problems = find_searches(path), Problems()
    if file is None:
        return
    for _, row in json_lines(file, problems):
        names = ("topic_id", "stop", "new", "nuggets", "calls")
        yield {**{name: row.get(name) for name in names}, "folder": path.name}
    problems.raise_errors()


def _evidence(source: Source, path: Path) -> Iterator[dict[str, Any]]:
    """Sentences by run and outcome."""
    if not (path / EVIDENCE).is_file():
        return
    problems, counts = Problems(), dict[str, Counter[str]]()
    for row in read_sentence_evidence(path / EVIDENCE, problems):
        counts.setdefault(row.run_id, Counter())[row.outcome or "unjudged"] += 1
    problems.raise_errors()
    for run_id, counted in counts.items():
        yield {"run": source.name_run(path, run_id), "n": counted.total(), "counts": counted}
