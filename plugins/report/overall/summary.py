"""Which run scores highest, and can that be trusted: a statement, its group, and three verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....programs.analysis.answers.wording import counted
from ....programs.analysis.tables.leaderboards import name_judges
from ....views.numbers import format_money
from ..runs.leaderboard import main_measure
from ..source import Source
from .boxes import make_boxes
from .cost import total_cost
from .statements import state_group, state_result


def data(source: Source) -> Mapping[str, Any]:
    """`title`, of the page too; `group`; `about` the data; `boxes`."""
    return {
        "title": state_result(source),
        "group": state_group(source),
        "about": _describe(source),
        "boxes": make_boxes(source),
        "measure": main_measure(source),
    }


def _describe(source: Source) -> str:
    """How much was judged, and by which model."""
    manifests = [result.manifest for result in source.results]
    parts = [counted(len(source.topics), "topic"), counted(len(source.runs), "run")]
    if n := sum(one["data"].get("answers", 0) for one in manifests):
        parts.append(counted(n, "answer"))
    models = dict.fromkeys(name for one in manifests for name in one.get("answered_by", ()))
    judges = f"judged by {name_judges(list(models))}" if models else "not judged yet"
    names = [source.named(path).name for path in source.paths]
    of = f"{', '.join(names)}: " if len(names) > 1 else ""
    cost = f", cost {format_money(spent)}" if (spent := total_cost(source)) else ""
    return f"{of}{', '.join(parts)}; {judges}{cost}."
