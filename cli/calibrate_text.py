"""The report of `judge calibrate` as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

FEW_TOPICS = 5  # below which draws of topics are too much alike
_DROPPED = (
    "The correction of the judge's state is dropped: it was fitted to scores of the old prompt.\n"
    "Fit another to those of the new one, with this file as state."
)
NAMES = {
    "kappa": "Cohen kappa",
    "linear": "linear kappa",
    "quadratic": "quadratic kappa",
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
}


def report_text(report: Mapping[str, Any], out: Path | None) -> str:
    """What was fitted, on what, and whether it helped."""
    lines = [
        f"{report['judge']} by {report['model'] or 'DSPy'}, method {report['method']}, "
        f"chosen by {report['objective']}",
        _topics(report),
        "",
        "test".ljust(24) + "before".rjust(24) + "after".rjust(24) + "difference".rjust(24),
    ]
    best = f"kappa {report['scale'][-1]} or not"
    names = {**NAMES, "best_vs_rest": best}
    for name, figure in report["figures"].items():
        lines.append(_row(names[name], figure))
    if "without_topic_labels" in report:
        n = report["topic_labels"]
        lines += ["", f"without the labels of the test topics, {n} of each at most"]
        for name, figure in report["without_topic_labels"].items():
            lines.append(_row(names[name], figure))
    for side, scores in report.get("probabilities", {}).items():
        lines += ["", _chances(side, scores)]
    if "optimiser" in report:
        lines += ["", _optimiser(report["optimiser"])]
    lines += ["", _verdict(report, names)]
    has_intervals = report["figures"][report["main_figure"]]["after"]["low"] is not None
    if has_intervals and report["n_test_topics"] < FEW_TOPICS:
        n, n_all = report["n_test_topics"], len(_topics_of(report))
        more = f"; --folds {n_all} tests all {n_all}" if n < n_all else ""
        lines.append(f"Intervals before and after, drawn over {n} topics, are too narrow{more}.")
    if report["n_unjudged"]:
        why = ", ".join(f"{reason} {n:,}" for reason, n in report["unjudged"].items())
        lines.append(f"{report['n_unjudged']:,} items were not judged and are left out: {why}.")
    if out is not None:
        lines.append(f"Judge file: {out}")
    return "\n".join(lines) + "\n"


def _topics(report: Mapping[str, Any]) -> str:
    splits = report["topics"]
    n = f"{report['n_labels']:,} labels; tested on {report['n_test']:,} of "
    n += f"{report['n_test_topics']} topics"
    if len(splits) > 1:
        return f"{n}, each topic by a fit to the other {len(splits) - 1} of {len(splits)} folds"
    parts = ", ".join(f"{name} {len(splits[0][name])}" for name in ("train", "dev", "test"))
    return f"{n} (topics: {parts})"


def _topics_of(report: Mapping[str, Any]) -> set[str]:
    return {topic for part in report["topics"][0].values() for topic in part}


def _row(name: str, figure: Mapping[str, Any]) -> str:
    columns = (_interval(figure[side]) for side in ("before", "after", "difference"))
    return f"  {name}".ljust(24) + "".join(column.rjust(24) for column in columns)


def _interval(found: Mapping[str, Any] | None) -> str:
    if found is None or found["value"] is None:
        return "-"
    if found["low"] is None:
        return f"{found['value']:.3f}"
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def _chances(side: str, scores: Mapping[str, Any]) -> str:
    width = max(22, *(len(row["label"]) for row in scores["reliability"])) + 2
    lines = [
        f"probabilities {side}: Brier {scores['brier']:.3f}, log loss {scores['log_loss']:.3f}, "
        f"ECE {scores['ece']:.3f} (n {scores['n']:,})",
        "  label".ljust(width) + "foretold".rjust(10) + "share".rjust(10) + "n".rjust(8),
    ]
    for row in scores["reliability"]:
        told, share = f"{row['mean_probability']:.3f}", f"{row['share']:.3f}"
        lines.append(f"  {row['label']}".ljust(width) + f"{told:>10}{share:>10}{row['n']:>8,}")
    return "\n".join(lines)


def _optimiser(found: Mapping[str, Any]) -> str:
    text = f"{found['n_candidates']} candidates, {found['calls']:,} calls; mean gain on dev "
    gains = (found["dev_gain_before"], found["dev_gain_after"])
    text += " -> ".join("-" if gain is None else f"{gain:.3f}" for gain in gains)
    if found["stopped_by"]:
        text += f"; stopped by the {found['stopped_by']}"
    if found["correction_dropped"]:
        text += f"\n{_DROPPED}"
    return text


def _verdict(report: Mapping[str, Any], names: Mapping[str, str]) -> str:
    name = names[report["main_figure"]]
    figure = report["figures"][report["main_figure"]]
    if figure["before"] is None:
        return f"The judge's own labels are of another scale, so {name} has nothing before it."
    if (figure["difference"] or {}).get("low") is None:
        return f"There is no telling whether it helped: {name} has no interval on these topics."
    return {
        "better": f"It helped: {name} is higher on topics that the fit never saw.",
        "worse": f"It did not help: {name} is lower on topics that the fit never saw.",
        "unclear": f"It is not clear that it helped: the interval of the difference in {name} "
        "holds 0.",
    }[report["verdict"]]
