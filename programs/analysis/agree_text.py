"""The result of `agree` as text of at most 100 columns: the command's, and a notebook's."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from ...records.writing.printed import cell, estimate, figure
from .agree import SCORES

_NAME = 30  # columns of a figure's name
_CELL = 22  # columns of a figure with its interval

# Figures that only labels with an order have.
_BY_DISTANCE = (
    "Cohen kappa, linear",
    "Cohen kappa, quadratic",
    "Krippendorff alpha, ordinal",
    "Krippendorff alpha, interval",
)
_COEFFICIENTS = {
    "tau_b": "Kendall tau-b",
    "tau_ap": "tau_ap",
    "spearman": "Spearman",
    "pearson": "Pearson",
    "tau_top_5": "tau-b, top 5",
    "tau_top_10": "tau-b, top 10",
    "tau_top_15": "tau-b, top 15",
    "tau_top_20": "tau-b, top 20",
}
_LEVELS = {"run_level": "runs", "topic_mean": "per topic", "pooled": "all cells"}


def agree_text(comparison: Mapping[str, Any]) -> str:
    """What `agree` returned, of labels, of annotators or of scores, as lines."""
    if comparison["kind"] == SCORES:
        return _scores_text(comparison)
    return _labels_text(comparison) if "confusion" in comparison else _annotators_text(comparison)


def _labels_text(comparison: Mapping[str, Any]) -> str:
    """Two files of labels: agreement, the annotators' beside it, confusion, and each label."""
    scale, intervals, annotators = (
        comparison["scale"],
        comparison["intervals"],
        comparison["annotators"],
    )
    counted = f"n {comparison['n']:,}"
    if comparison["n_topics"]:
        counted += f" on {comparison['n_topics']:,} topics"
    only = f"only human {comparison['n_human_only']:,}, only judged {comparison['n_judged_only']:,}"
    lines = [f"{counted}  ({only}, unjudged {comparison['n_judged_unlabelled']:,})"]
    if (took := comparison.get("calls")) is not None and took["judgements"]:
        each = took["calls"] / took["judgements"]
        lines.append(f"calls of models {took['calls']:,}, {each:.2f} a judgement")
    if comparison["cut"] is not None:
        human, judged = comparison["cut"]
        lines.append(f"positive: human {human} or better, judged {judged} or better")
    if comparison["scale_note"] is not None:
        lines += ["", *textwrap.wrap(f"Beware: {comparison['scale_note']}.", 98)]
    lines.append("")
    columns: dict[str, Mapping[str, Any]] = {"judge": _flat(intervals)}
    if annotators:
        judge, among = annotators["judge"]["intervals"], annotators["among"]["intervals"]
        columns = {
            "judge, majority": columns["judge"],
            "judge, each": _kappas(judge),
            "annotators": _flat(among),
        }
    if is_binary := len(scale) == 2:
        first, *others = columns
        columns[first] = _of_positive(intervals, scale[-1]) | {**columns[first]}
        if others:
            pooled = annotators["judge"]["pooled"]["intervals"]
            columns[others[0]] = _of_positive(pooled, scale[-1]) | {**columns[others[0]]}
    is_weighted = comparison["is_ordered"] and not (is_binary and comparison["cut"] is not None)
    lines += _table(columns, intervals["accuracy"], is_weighted)
    if annotators:
        lines += ["", *_who(annotators)]
    width = max(*map(len, scale), 9) + 2
    lines += [
        "",
        "human \\ judged".ljust(width + 6) + "".join(label.rjust(width) for label in scale),
    ]
    for label, row in zip(scale, comparison["confusion"], strict=True):
        lines.append(label.ljust(width + 6) + "".join(f"{n:,}".rjust(width) for n in row))
    lines += ["", "label".ljust(width + 6) + "precision  recall     F1  kappa against the rest"]
    for label in scale:
        one, two, f1 = (figure(comparison[name][label]) for name in ("precision", "recall", "f1"))
        kappa = estimate(intervals["one_vs_rest"][label])
        lines.append(f"{label.ljust(width + 6)}{one:>9}{two:>8}{f1:>7}  {kappa}")
    if "verified" in comparison:
        lines += ["", *_verified(comparison["verified"])]
    return "\n".join([*lines, *_aliases(comparison)]) + "\n"


def _verified(verified: Mapping[str, Any]) -> list[str]:
    n, changed, row = verified["n_verified"], verified["n_changed"], verified["difference"]
    verdict = {True: "verification helped", False: "verification did harm", None: "verification "}
    outcome = verdict[verified["helped"]]
    if verified["helped"] is None:
        outcome += "did not help" if row["low"] is not None else "has no interval on these topics"
    bounds = "" if row["low"] is None else f" [{row['low']:+.3f} {row['high']:+.3f}]"
    return [
        f"{n:,} labels were verified, {changed:,} of them changed ({changed / n:.1%}).",
        f"By the labels of people: wrong to right {verified['wrong_to_right']:,}, right to wrong "
        f"{verified['right_to_wrong']:,}, wrong to wrong {verified['wrong_to_wrong']:,};",
        f"share of right labels {row['value']:+.3f}{bounds}: {outcome}.",
    ]


def _annotators_text(comparison: Mapping[str, Any]) -> str:
    """One file of labels: the agreement among its annotators."""
    annotators = comparison["annotators"]
    intervals = annotators["among"]["intervals"]
    columns = {"annotators": _flat(intervals)}
    is_weighted = comparison["is_ordered"] and comparison["cut"] is None
    table = _table(columns, intervals["observed"], is_weighted)
    return "\n".join([*_who(annotators), "", *table]) + "\n"


def _scores_text(comparison: Mapping[str, Any]) -> str:
    """Two files of scores: a block of coefficients for each measure."""
    blocks = [_measure(name, values) for name, values in comparison["measures"].items()]
    lines = [line for block in blocks for line in (*block, "")][:-1]
    return "\n".join([*lines, *_aliases(comparison)]) + "\n"


def _measure(measure: str, values: Mapping[str, Any]) -> list[str]:
    lines = [_row("", [f"{name} (n)" for name in _LEVELS.values()])]
    for key, name in _COEFFICIENTS.items():
        levels = {level: row[key] for level, row in values["coefficients"].items() if key in row}
        cells = [
            f"{estimate(values['intervals'][level][key])} ({row['n']:,})"
            for level, row in levels.items()
        ]
        if not key.startswith("tau_top_") or any(row["n"] for row in levels.values()):
            lines.append(_row(name, cells))
    return [measure, *([] if values["note"] is None else [f"({values['note']})"]), *lines]


def _row(name: str, cells: Sequence[str]) -> str:
    return (name.ljust(14) + "".join(cell.ljust(29) for cell in cells)).rstrip()


def _who(annotators: Mapping[str, Any]) -> list[str]:
    among = annotators["among"]
    return [
        f"{among['n_annotators']} annotators, {among['n_items']:,} items on "
        f"{annotators['n_topics']:,} topics, {among['n_labels']:,} labels; "
        f"{among['n_pairable']:,} items with 2 or more labels,",
        f"{among['n_evenly']:,} with {among['labels_each']} (Fleiss, Randolph); "
        f"{among['pairwise_kappa']['n_pairs']} pairs of annotators with a Cohen kappa",
    ]


def _flat(intervals: Mapping[str, Any]) -> dict[str, Any]:
    """Figures by the names they are printed under."""
    share = intervals.get("accuracy") or intervals["observed"]
    flat = {"share of equal labels": share}
    if "macro_f1" in intervals:
        flat["macro F1"] = intervals["macro_f1"]
    flat |= _kappas(intervals.get("cohen_kappa") or intervals["pairwise_kappa"])
    flat |= {f"Krippendorff alpha, {k}": alpha for k, alpha in intervals["alpha"].items()}
    for key, name in (("fleiss_kappa", "Fleiss"), ("randolph_kappa", "Randolph")):
        flat[f"{name} kappa"] = intervals[key]
    return flat | {"Gwet AC1": intervals["ac1"]}


def _of_positive(intervals: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Precision, recall and F1 of the better of two labels."""
    names = {"precision": "precision", "recall": "recall", "f1": "F1"}
    return {f"{name} of {cell(label, 15)}": intervals[key][label] for key, name in names.items()}


def _kappas(intervals: Mapping[str, Any]) -> dict[str, Any]:
    return {f"Cohen kappa, {name}": kappa for name, kappa in intervals.items()}


def _table(
    columns: Mapping[str, Mapping[str, Any]], one: Mapping[str, Any], is_ordered: bool
) -> list[str]:
    names = [
        name for name in next(iter(columns.values())) if is_ordered or name not in _BY_DISTANCE
    ]
    title = "" if one["low"] is None else f"[{100 * one['level']:g}% interval, by topic]"
    lines = [(title.ljust(_NAME) + "".join(name.ljust(_CELL) for name in columns)).rstrip()]
    for name in names:
        cells = [estimate(c[name]) if name in c else "" for c in columns.values()]
        lines.append((name.ljust(_NAME) + "".join(f"{c} ".ljust(_CELL) for c in cells)).rstrip())
    return lines


def _aliases(comparison: Mapping[str, Any]) -> Sequence[str]:
    n = len(comparison["run_aliases"])
    return ["", f"{n} run names were matched without their team prefix."] if n else []
