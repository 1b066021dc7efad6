"""What was run, and can it be trusted: a question, four facts, and warnings first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...programs.analysis.answers.wording import counted
from ...records.reading.problems import InputError
from ..source import Source
from .questions import question
from .warnings import told_apart, warnings


def data(source: Source) -> Mapping[str, Any]:
    """`title`, of the page too; `lead`; `facts` (name, value, note); `warnings`."""
    return {
        "title": question(source),
        "lead": _lead(source),
        "facts": [_judged(source), _agreement(source), _apart(source), _spent(source)],
        "warnings": warnings(source),
        "measure": source.measures[0],
    }


def _lead(source: Source) -> str:
    manifests = [result.manifest for result in source.results]
    data = [manifest["data"] for manifest in manifests]
    topics, runs = len(source.topics), len(source.runs)
    parts = [counted(topics, "topic"), counted(runs, "run")]
    for name, noun in (("answers", "answer"), ("sentences", "sentence")):
        if n := sum(one.get(name, 0) for one in data):
            parts.append(counted(n, noun))
    models = dict.fromkeys(name for one in manifests for name in one.get("answered_by", ()))
    judges = dict.fromkeys(name for one in manifests for name in one.get("judges", ()))
    text = f"{', '.join(parts)}; judged by {', '.join(models) or 'nobody yet'}"
    if judges:
        text += f" as {', '.join(judges)}"
    version = manifests[0].get("versions", {}).get("nuggetjudge")
    of = f" with nuggetjudge {version}" if version else ""
    names = ", ".join(str(source.named(path)) for path in source.paths)
    return f"{text}{of}. Results: {names}."


def _judged(source: Source) -> dict[str, str]:
    judged = sum(result.n_judged for result in source.results)
    missing = sum(result.n_unjudged for result in source.results)
    stages = {s for r in source.results for s in (*r.manifest["judged"], *r.manifest["unjudged"])}
    note = ", ".join(sorted(stages))
    return _fact("judged", f"{judged:,} of {judged + missing:,}", note)


def _agreement(source: Source) -> dict[str, str]:
    """Kappa of the judge with people beside that of people with each other."""
    name = "agreement with people"
    if not source.labels:
        return _fact(name, "not known", "give labels of a part with --labels")
    try:
        sides = source.sides
    except InputError as error:
        return _fact(name, "not known", str(error))
    kappas, notes = [], []
    for side in sides:
        agreement = side.comparison["agreement"]
        kappas.append(f"κ {_short(agreement['cohen_kappa']['unweighted'])}")
        note = f"{agreement['kind']}, {counted(agreement['n'], 'label')}"
        if agreement["annotators"] is None:
            notes.append(f"{note}, one each: people's own agreement is not known")
        else:
            people = agreement["annotators"]["among"]["pairwise_kappa"]["unweighted"]
            notes.append(f"{note}; people with each other κ {_short(people)}")
    return _fact(name, ", ".join(kappas), "; ".join(notes))


def _short(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}".replace("0.", ".", 1)


def _apart(source: Source) -> dict[str, str]:
    measure = source.measures[0]
    n_apart, n_steps = told_apart(source, measure)
    if len(source.runs) < 2 or not n_steps:
        return _fact("runs told apart", "–", "one run has nothing to be told apart from")
    if len(source.runs) == 2:
        value = {None: "not known", 0: "no", 1: "yes"}[n_apart]
        return _fact("runs told apart", value, f"by {measure}, randomisation test")
    value = "not known" if n_apart is None else f"{n_apart:,} of {n_steps:,} steps"
    pairs = source.compared(measure)["pairs"]
    n = sum(bool(pair["is_told_apart"]) for pair in pairs)
    test = source.compared(measure)["test"]
    note = f"by {measure} from one run to the next; {n:,} of {len(pairs):,} pairs ({test})"
    return _fact("runs told apart", value, note)


def _spent(source: Source) -> dict[str, str]:
    from .cost import totals

    spent = totals(source)
    return _fact("spent", spent["text"], spent["note"])


def _fact(name: str, value: str, note: str = "") -> dict[str, str]:
    return {"name": name, "value": value, "note": note}
