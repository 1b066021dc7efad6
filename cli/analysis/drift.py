"""`judge drift`: did the judge move, or the systems?"""

from __future__ import annotations

from ..options import Kind, Output, Where, where_of
from ..signatures import There
from ..stopping import list_problems


def drift(
    old: There,
    new: There,
    *,
    labels: There | None = None,
    where: Where = None,
    kind: Kind = None,
    measure: list[str] | None = None,
    margin: float = 0.05,
    output: Output,
) -> None:
    """Tell whether a change of scores is one of the judge, or of the systems that it judges.

    Example: judge drift results/may results/june --labels human.csv

    Args:
        old: What the judge said before: results, or a file.
        new: What it says now, or another judge.
        labels: Labels of people: what they labelled and both judged are the anchors; else all that
            both judged.
        measure: Measure whose change is split; may be repeated; else the main one.
        margin: A change certain to be smaller than this counts as none.
    """
    from ...programs.analysis.drift.drift import judge_drift
    from ...programs.analysis.tables.drift import drift_view
    from ...records.reading.problems import InputError, Problems

    if where and labels is None:
        raise InputError("--where: chooses labels of people, wanted --labels too")
    problems = Problems()
    changes = judge_drift(
        old,
        new,
        problems,
        labels=labels,
        where=where_of(where or ()),
        kind=kind,
        measures=measure or (),
        margin=margin,
    )
    output.print(changes, lambda _: drift_view(changes))
    list_problems(problems)
