"""`judge probe ITEMS --injection` of an agent: whether passages that it finds end or steer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..tables import bounds, cell, figure, shown
from .kind import Kind, Wanted


def agent_injection(wanted: Wanted, judge: str, config: Any) -> Kind:
    """Plant payloads in the passages that an agent looks at, and show what they do to it."""
    from ...programs.analysis.probe.agents.probing import InjectedAgent, injecting_agent
    from ...records.reading.problems import Problems

    probing = injecting_agent(wanted.source, judge, config, Problems(), wanted.options())
    about = wanted.about("sample", "repeats", "seed")
    return Kind(probing, InjectedAgent, about, agent_text, missing="neither flips nor not")


def agent_text(result: Any) -> str:
    """What was found as tables of 100 columns; `--json` has all figures."""
    rows = [row for row in result.rows if row["by"] == "kind"]
    rows += [row for row in result.rows if row["by"] == "all"]
    about = result.about()
    lines = [
        f"{cell(about['agent'])}, {cell(about['model'])} (support: {cell(about['support_model'])}):"
        f" {len(result.cells):,} planted passages, {len(result.honest):,} honest items",
        "",
        f"{'kind of payload':<18}{'cells':>7}{'lost':>6}{'flip':>8}{'interval':>16}"
        f"{'steered':>9}{'interval':>16}{'changed':>9}{'noted':>7}",
        *map(_line, rows),
        "",
    ]
    if (echoes := result.echoes) is not None:
        counts = (
            f"{echoes[f'{what}_hijacked']:,} of {echoes[what]:,} {what} replies"
            for what in ("honest", "echoing")
        )
        lines += [f"taken over by the parser: {', '.join(counts)}", ""]
    (fence,) = (row for row in result.rows if row["by"] == "guard")
    changed = fence["changed"]
    lines.append(
        f"without the fence, of {fence['n']:,} honest items: {figure(changed['value'])} end "
        f"otherwise {bounds(changed)}, {fence['n_unjudged']:,} lost"
    )
    return shown("\n".join(lines) + "\n")


def _line(row: Mapping[str, Any]) -> str:
    return (
        f"{cell(row['name'], 18):<18}{row['cells']:>7,}{row['n_unjudged']:>6,}"
        f"{_share(row['flip'])}{_share(row['steered'], 9)}"
        f"{figure(row['changed']['value']):>9}{figure(row['noted'], 2):>7}"
    )


def _share(estimate: Mapping[str, Any], width: int = 8) -> str:
    return f"{figure(estimate['value']):>{width}}{bounds(estimate):>16}"
