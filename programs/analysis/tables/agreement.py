"""Agreement of labels, annotators or scores as tables, verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....records.reading.problems import cell
from ....views.numbers import format_short_share
from ....views.table import Column, Kind, Row, Style, Table, View
from ..agree import SCORES
from ..compare_runs import PRIMARY
from .words import (
    choose_kappa_word,
    choose_tau_word,
    count,
    get_interval,
    name_level,
    write_estimate,
)

_SHARE, _UNWEIGHTED, _LINEAR = (
    "share of equal labels",
    "Cohen kappa, unweighted",
    "Cohen kappa, linear",
)
_OF_ORDERED = (
    _LINEAR,
    "Cohen kappa, quadratic",
    _UNWEIGHTED,
    "Krippendorff alpha, ordinal",
    _SHARE,
)
_OF_OTHERS = (_UNWEIGHTED, "Krippendorff alpha, nominal", _SHARE)
_BY_DISTANCE = {*_OF_ORDERED, "Krippendorff alpha, interval"} - {_UNWEIGHTED, _SHARE}
_COEFFICIENTS = {
    "tau_b": "Kendall tau-b",
    "tau_ap": "tau_ap",
    "spearman": "Spearman",
    "pearson": "Pearson",
    **{f"tau_top_{k}": f"tau-b, top {k}" for k in (5, 10, 15, 20)},
}
_LEVELS = {"run_level": "runs", "topic_mean": "per topic", "pooled": "all cells"}

_HIDDEN = "--all shows the other coefficients"

_Figures = Mapping[str, Mapping[str, Any]]


def make_agreement_view(comparison: Mapping[str, Any], *, has_all: bool = False) -> View:
    """Return the view of an agreement.

    Args:
        has_all: show all coefficients; default: those that fit the labels, and tau-b for scores.
    """
    if comparison["kind"] == SCORES:
        return _scores_view(comparison, has_all)
    has_two = "confusion" in comparison
    sides = _sides(comparison) if has_two else {"annotators": _flat(_among(comparison))}
    tables = [_figures(comparison, sides, has_all)]
    if has_two:
        percents = [_confusion(comparison, in_percent=True)] if has_all else []
        tables += [_confusion(comparison), *percents, _by_label(comparison)]
    if (runs := comparison.get("runs")) is not None:
        tables.append(_measure("Order of the runs by mean gain", runs, has_all))
    return View(_labels_verdict(comparison, sides), tables, [*_notes(comparison)])


# Labels


class Strength(NamedTuple):
    """How strongly a judge agrees with people; with single annotators if there are several.

    `word`: an adverb, "" if kappa is undefined. `kappa`: name of the coefficient. `value`: kappa of
    the judge. `people`: kappa among annotators; None: one label per item. `n_equal` of `n` labels
    are equal.
    """

    word: str
    kappa: str
    value: float | None
    people: float | None
    share_equal: float | None


def rate_agreement(comparison: Mapping[str, Any]) -> Strength:
    """Return the values of the verdict on the agreement of a judge with people."""
    sides, name = _sides(comparison), _main_figure(comparison)
    judge = sides["judge, each" if "annotators" in sides else "judge"]
    people = sides.get("annotators", {}).get(name)
    value = judge[name]["value"]
    return Strength(
        "" if value is None else choose_kappa_word(value),
        _kappa_name(name),
        value,
        None if people is None else people["value"],
        judge[_SHARE]["value"] if _SHARE in judge else comparison["accuracy"],
    )


def _kappa_name(figure: str) -> str:
    return f"{figure.partition(', ')[2]} kappa".removeprefix("unweighted ")


def _labels_verdict(comparison: Mapping[str, Any], sides: Mapping[str, _Figures]) -> str:
    """Describe the agreement, and the agreement among annotators if there are several.

    A single annotator errs more than a majority, so annotators are compared with `judge, each`.
    Labels of two scales have no verdict.
    """
    if comparison.get("has_two_scales"):
        return f"No verdict: {comparison['scale_note']}."
    name = _main_figure(comparison)
    kappa = _kappa_name(name)
    people = sides.get("annotators", {}).get(name)
    if "confusion" not in comparison:
        return _strength("The annotators agree with each other", people, kappa) + "."
    if people is None:
        return _strength("The judge agrees with people", sides["judge"][name], kappa) + "."
    judge = _strength("The judge agrees with single annotators", sides["judge, each"][name], kappa)
    among = format_short_share(people["value"]) if people["value"] is not None else "undefined"
    return f"{judge}; annotators with each other: {among}."


def _main_figure(comparison: Mapping[str, Any]) -> str:
    return _LINEAR if _is_weighted(comparison) else _UNWEIGHTED


def _is_weighted(comparison: Mapping[str, Any]) -> bool:
    """Return whether the distance between labels matters."""
    return bool(comparison["is_ordered"]) and len(comparison["scale"]) > 2


def _strength(who: str, row: Mapping[str, Any] | None, kappa: str) -> str:
    if row is None or row["value"] is None:
        return f"{who} to an unknown degree: {kappa} is undefined, as if all labels are equal"
    return f"{who} {choose_kappa_word(row['value'])}: {kappa} {write_estimate(row)}"


def _sides(comparison: Mapping[str, Any]) -> dict[str, _Figures]:
    """Return coefficients by the sides that are compared."""
    intervals, annotators, scale = (
        comparison[name] for name in ("intervals", "annotators", "scale")
    )
    majority = _flat(intervals) | _of_positive(intervals, scale)
    if not annotators:
        return {"judge": majority}
    judge = annotators["judge"]
    each = _kappas(judge["intervals"]) | _of_positive(judge["pooled"]["intervals"], scale)
    among = _flat(annotators["among"]["intervals"])
    return {"judge, majority": majority, "judge, each": each, "annotators": among}


def _among(comparison: Mapping[str, Any]) -> Mapping[str, Any]:
    intervals: Mapping[str, Any] = comparison["annotators"]["among"]["intervals"]
    return intervals


def _flat(intervals: Mapping[str, Any]) -> dict[str, Any]:
    """Return coefficients by their names in tables."""
    flat = {_SHARE: intervals.get("accuracy") or intervals["observed"]}
    flat |= {"macro F1": intervals["macro_f1"]} if "macro_f1" in intervals else {}
    flat |= _kappas(intervals.get("cohen_kappa") or intervals["pairwise_kappa"])
    flat |= {f"Krippendorff alpha, {name}": row for name, row in intervals["alpha"].items()}
    for key, name in (("fleiss_kappa", "Fleiss"), ("randolph_kappa", "Randolph")):
        flat[f"{name} kappa"] = intervals[key]
    return flat | {"Gwet AC1": intervals["ac1"]}


def _kappas(intervals: Mapping[str, Any]) -> dict[str, Any]:
    return {f"Cohen kappa, {name}": row for name, row in intervals.items()}


def _of_positive(intervals: Mapping[str, Any], scale: Sequence[str]) -> dict[str, Any]:
    """Return precision, recall and F1 of the better of two labels."""
    if len(scale) != 2:
        return {}
    names = {"precision": "precision", "recall": "recall", "f1": "F1"}
    return {
        f"{name} of {cell(scale[-1], 15)}": intervals[key][scale[-1]] for key, name in names.items()
    }


def _figures(comparison: Mapping[str, Any], sides: Mapping[str, _Figures], has_all: bool) -> Table:
    """Make a table with a row for each coefficient and comparison, the most suitable first."""
    is_weighted = _is_weighted(comparison)
    main = _OF_ORDERED if is_weighted else _OF_OTHERS
    known = dict.fromkeys(name for figures in sides.values() for name in figures)
    rest = [name for name in known if name not in main]
    rest = [name for name in rest if is_weighted or name not in _BY_DISTANCE]
    names = [*main, *(name for name in rest if has_all or " of " in name)]
    columns = [
        Column("figure", Kind.TEXT, "agreement"),
        *[Column("who", Kind.TEXT, "of")] * (len(sides) > 1),
        Column("value", Kind.SHARE),
        _interval_column(next(iter(sides.values()))[_SHARE]),
    ]
    rows = [
        Row(
            [name, *[who] * (len(sides) > 1), *_value(figures[name])],
            Style.LEADING if name == main[0] else Style.PLAIN,
        )
        for name in names
        for who, figures in sides.items()
        if name in figures
    ]
    hidden = [] if has_all else [_HIDDEN]
    return Table(_counts(comparison), columns, rows, notes=hidden)


def _interval_column(row: Mapping[str, Any]) -> Column:
    return Column("interval", Kind.INTERVAL, name_level(row["level"]))


def _value(row: Mapping[str, Any]) -> list[Any]:
    return [row["value"], get_interval(row)]


def _counts(comparison: Mapping[str, Any]) -> str:
    """Return the numbers of items and topics as text."""
    among = comparison["annotators"]
    n = comparison["n"] if "n" in comparison else among["among"]["n_items"]
    topics = comparison["n_topics"] if "n_topics" in comparison else among["n_topics"]
    return count(n, "item") + (f", {count(topics, 'topic')}" if topics else "")


def _confusion(comparison: Mapping[str, Any], *, in_percent: bool = False) -> Table:
    scale = comparison["scale"]
    kind = Kind.NUMBER if in_percent else Kind.COUNT
    columns = [Column("human", Kind.NAME, "people")]
    columns += [Column(label, kind, optional=1, digits=1) for label in scale]
    counts = comparison["confusion"]
    if in_percent:
        counts = [[100 * n / comparison["n"] for n in row] for row in counts]
    rows = [Row([label, *row]) for label, row in zip(scale, counts, strict=True)]
    title = "Human labels (rows) by the judge's labels (columns)" + ", in percent" * in_percent
    return Table(title, columns, rows, has_all=True)


def _by_label(comparison: Mapping[str, Any]) -> Table:
    columns = [
        Column("label", Kind.NAME),
        *(Column(name, Kind.SHARE, optional=1) for name in ("precision", "recall", "F1")),
        Column("kappa", Kind.SHARE, "one-vs-rest kappa"),
        _interval_column(comparison["intervals"]["accuracy"]),
    ]
    rows = []
    for label in comparison["scale"]:
        shares = [comparison[name][label] for name in ("precision", "recall", "f1")]
        kappa = comparison["intervals"]["one_vs_rest"][label]
        rows.append(Row([label, *shares, *_value(kappa)]))
    return Table("", columns, rows, has_all=True)


def _notes(comparison: Mapping[str, Any]) -> Iterator[str]:
    """List notes on the compared items."""
    if comparison.get("scale_note") is not None and not comparison["has_two_scales"]:
        yield f"Warning: {comparison['scale_note']}."
    if "confusion" in comparison:
        left = {
            "labelled only by people": comparison["n_human_only"],
            "labelled only by the judge": comparison["n_judged_only"],
            "unjudged": comparison["n_judged_unlabelled"],
        }
        if any(left.values()):
            yield (
                "Items left out: "
                + ", ".join(f"{n:,} {what}" for what, n in left.items() if n)
                + "."
            )
        if comparison["cut"] is not None:
            human, judged = comparison["cut"]
            yield f"Positive: people {human} or better, judge {judged} or better."
    if comparison["annotators"]:
        yield _annotators_note(comparison["annotators"])
    if (took := comparison.get("calls")) is not None and took["judgements"]:
        each = took["calls"] / took["judgements"]
        yield f"Model calls: {took['calls']:,}, {each:.2f} per judgement."
    if "verified" in comparison:
        yield from _describe_verified(comparison["verified"])
    yield from _aliases(comparison)


def _annotators_note(annotators: Mapping[str, Any]) -> str:
    among = annotators["among"]
    n_pairs = among["pairwise_kappa"]["n_pairs"]
    return (
        f"{among['n_annotators']} annotators, {among['n_items']:,} items on "
        f"{annotators['n_topics']:,} topics, {among['n_labels']:,} labels: "
        f"{among['n_pairable']:,} items with 2 or more labels, {among['n_evenly']:,} with "
        f"{among['labels_each']} (Fleiss, Randolph); {n_pairs} "
        f"pair{'s' * (n_pairs != 1)} of annotators with a Cohen kappa."
    )


def _describe_verified(verified: Mapping[str, Any]) -> Iterator[str]:
    n, changed, row = verified["n_verified"], verified["n_changed"], verified["difference"]
    verdict = {
        True: "verification helped",
        False: "verification made labels worse",
        None: "verification ",
    }
    outcome = verdict[verified["helped"]]
    if verified["helped"] is None:
        outcome += "did not help" if row["low"] is not None else "has no interval on these topics"
    yield f"{n:,} labels were verified, {changed:,} of them changed ({changed / n:.1%})."
    yield (
        f"By human labels: wrong to right {verified['wrong_to_right']:,}, right to wrong "
        f"{verified['right_to_wrong']:,}, wrong to wrong {verified['wrong_to_wrong']:,}; "
        f"share of right labels {write_estimate(row, signed=True)}: {outcome}."
    )


def _aliases(comparison: Mapping[str, Any]) -> list[str]:
    n = len(comparison.get("run_aliases", ()))
    return [f"{n} run names were matched without their team prefix."] if n else []


# Scores


def _scores_view(comparison: Mapping[str, Any], has_all: bool) -> View:
    measures = comparison["measures"]
    ordered = sorted(measures, key=lambda name: name.partition("=")[0] not in PRIMARY)
    tables = [_measure(name, measures[name], has_all) for name in ordered]
    hidden = [] if has_all else [_HIDDEN]
    verdict = _order_verdict(ordered[0], measures[ordered[0]])
    return View(verdict, tables, [*_aliases(comparison), *hidden])


def _order_verdict(name: str, values: Mapping[str, Any]) -> str:
    """Describe how similar the judge's and people's orders of runs are, by one measure."""
    n = values["coefficients"]["run_level"]["tau_b"]["n"]
    row = values["intervals"]["run_level"]["tau_b"]
    runs = count(n, "run")
    if row["value"] is None:
        return f"By {name} the order of runs cannot be compared: tau-b is undefined over {runs}."
    word = choose_tau_word(row["value"])
    estimate = write_estimate(row)
    return f"By {name} the judge orders the runs {word} people do: tau-b {estimate} over {runs}."


def _measure(measure: str, values: Mapping[str, Any], has_all: bool) -> Table:
    columns = [
        Column("coefficient", Kind.TEXT),
        Column("of", Kind.TEXT),
        Column("n", Kind.COUNT),
        Column("value", Kind.SHARE),
        _interval_column(values["intervals"]["run_level"]["tau_b"]),
    ]
    rows: list[Row] = []
    for key, name in _COEFFICIENTS.items() if has_all else [("tau_b", _COEFFICIENTS["tau_b"])]:
        found = {of: row[key] for of, row in values["coefficients"].items() if key in row}
        if key.startswith("tau_top_") and not any(row["n"] for row in found.values()):
            continue
        for of, row in found.items():
            cells = [name, _LEVELS[of], row["n"], *_value(values["intervals"][of][key])]
            rows.append(Row(cells, Style.LEADING if not rows else Style.PLAIN))
    notes = [] if values["note"] is None else [values["note"]]
    return Table(measure, columns, rows, notes=notes)
