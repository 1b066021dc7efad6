"""Where people and the judge, or two judges, gave one item different labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....programs.analysis.answers.wording import command
from ....programs.analysis.cell_texts import TEXTS
from ..columns import Column, Texts
from ..source import Sides, Source
from .people import without_labels

# What a side gave beside its label; `annotations` as one text.
_REASONS = ("rationale", "other_rationale", "quote", "other_quote", "votes", "other_votes")
# Short texts first: where not all fit, the answers themselves are left to their own section.
_TEXTS = ("nugget", "key_point", "criterion", "sentence", "question", *_REASONS, "title")
_KEYS = ("topic_id", "run_id")


def data(source: Source) -> Mapping[str, Any]:
    """Each item with two labels, the furthest apart first, by what was compared."""
    if not source.sides:
        return without_labels(source, "Nobody else labelled these items, so nothing here says how")
    compared = [_of(source, sides) for sides in source.sides]
    return {"count": sum(one["n"] for one in compared), "compared": compared}


def _of(source: Source, sides: Sides) -> dict[str, Any]:
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
    names = [*_TEXTS, *(name for name in TEXTS if name not in _TEXTS)]
    names += [name for row in rows[:1] for name in _inputs(row, keys, names)]
    packing = Texts(names)
    for row in rows:
        packing.add(row)
    texts, n_left = packing.packed()
    columns = {name: Column(row[name] for row in rows).packed() for name in keys}
    columns["run"] = Column(
        source.shown_run(sides.other, row.get("run_id", "")) for row in rows
    ).packed()
    columns["pair"] = Column(f"{row['label']} → {row['other_label']}" for row in rows).packed()
    for name in ("label", "other_label"):
        columns[name] = Column(row[name] for row in rows).packed()
    apart = [abs(rank[row["label"]] - rank[row["other_label"]]) for row in rows]
    columns["distance"] = Column(apart if agreement["is_ordered"] else [None] * len(rows)).packed()
    scores = [row.get("other_score") for row in rows]
    columns["score"] = Column([s if s is None else round(s, 3) for s in scores]).packed()
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
        "results": command(source.named(sides.other)),
    }


def _key_names(flips: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ids of a row: what stands before its label."""
    names = list(flips[0]) if flips else []
    return names[: names.index("label")] if names else []


def _inputs(row: Mapping[str, Any], keys: Sequence[str], names: Sequence[str]) -> list[str]:
    """Texts of judged items, which have any names: what else is text."""
    others = {*keys, *names, "label", "other_label", "raw", "other_raw"}
    return [name for name, value in row.items() if name not in others and isinstance(value, str)]
