"""People and judge: how good is it, against what ceiling; all of it from `judge agree`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....programs.analysis.answers.wording import command
from ..source import Sides, Source

# What is shown of the figures of `agree`, in this order, as it prints them.
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
    "": "under no named condition",
}


def data(source: Source) -> Mapping[str, Any]:
    """The labels of people for the same items, by file of labels and folder."""
    if not source.labels:
        return without_labels(source, "No labels of people were given, so nothing here says how")
    return {"sides": [_of(source, sides) for sides in source.sides]}


def without_labels(source: Source, what: str) -> dict[str, Any]:
    """What stands instead of a section that needs labels of people."""
    folders = [source.named(path) for path in source.paths]
    return {
        "missing": f"{what} far this judge can be trusted. The first command makes a sheet of "
        "items to label, half of them at random; the second shows what was labelled.",
        "command": command("judge", "next", folders[0], "--n", "100", "--out", "sheet.csv")
        + "\n"
        + command("judge", "report", *folders, "--labels", "sheet.csv"),
    }


def _of(source: Source, sides: Sides) -> dict[str, Any]:
    agreement = sides.comparison["agreement"]
    annotators = agreement["annotators"]
    files = [source.named(path) for path in (sides.one, sides.other)]
    intervals, others = _flat(agreement["intervals"]), {}
    if annotators:
        others["each"] = _flat(annotators["judge"]["intervals"])
        others["people"] = _flat(annotators["among"]["intervals"])
    columns = {"judge": intervals, **others}
    confusion = agreement["confusion"]
    return {
        "labels": sides.one.name,
        "given": ", ".join(_CONDITIONS.get(name, name) for name in sides.comparison["conditions"]),
        "pooled": pooled_text(source, sides),
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


def pooled_text(source: Source, sides: Sides) -> str:
    """What to beware of where a file has labels of several conditions; "" where it has not."""
    counts = sides.comparison["conditions"]
    if len(counts) < 2:
        return ""
    each = ", ".join(f"{n:,} {_CONDITIONS.get(name, name)}" for name, n in sorted(counts.items()))
    labels, folder = source.named(sides.one), source.named(sides.other)
    one = next(name for name in sorted(counts) if name)
    shown = command("judge", "agree", labels, folder, "--where", f"condition={one}")
    return (
        f"{sides.one.name} pools labels of {len(counts)} conditions: {each}. People agree more "
        "often with a label that they see, so these figures hold for neither condition. "
        f"For one condition: {shown}"
    )


def _flat(intervals: Mapping[str, Any]) -> dict[str, Any]:
    """Figures by the names of `_FIGURES`, each with its interval."""
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
