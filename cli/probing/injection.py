"""`judge probe SOURCE --injection`: whether texts that talk to the judge decide its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..tables import bounds, cell, figure, shown
from .kind import Kind, Wanted, who

MOST_SHOWN = 8  # payloads that flipped most


def injection(wanted: Wanted, judge: str, config: Any) -> Kind:
    """Plant payloads, and show which labels they decide."""
    from ...programs.analysis.probe.injection.probing import Injected, injecting
    from ...records.reading.problems import Problems

    probing = injecting(wanted.source, judge, config, Problems(), wanted.options())
    about = wanted.about("sample", "repeats", "seed")
    return Kind(probing, Injected, about, injection_text, missing="neither flips nor not")


def injection_text(result: Any) -> str:
    """What was found as tables of 100 columns; `--json` has all figures."""
    rows = {by: [row for row in result.rows if row["by"] == by] for by in ("kind", "place")}
    (whole,) = (row for row in result.rows if row["by"] == "all")
    has_other = "lexical" in whole
    lines = [
        f"{who(result.judge)}: {whole['n_payloads']} payloads in {len(result.items):,} "
        "honest items",
        "",
        *_flips("kind of payload", [*rows["kind"], whole], has_other),
        "",
        *_flips("planted in", rows["place"], has_other),
        "",
        *_most(result.rows),
        _parser(result.echoes),
        "",
        *_guards(result.guards),
    ]
    return shown("\n".join(lines) + "\n")


def _flips(title: str, rows: Sequence[Mapping[str, Any]], has_other: bool) -> list[str]:
    lines = [
        f"{title:<16}{'cells':>7}{'lost':>6}{'flip':>8}{'interval':>16}{'nearer':>8}{'noted':>7}"
        + (f"{'lexical: n':>12}{'flip':>7}{'nearer':>8}" if has_other else "")
    ]
    for row in rows:
        line = (
            f"{cell(row['name'], 16):<16}{row['cells']:>7,}{row['n_unjudged']:>6,}"
            f"{figure(row['flip']['value']):>8}{bounds(row['flip']):>16}"
            f"{_value(row['nearer']):>8}{figure(row['noted'], 2):>7}"
        )
        if has_other:
            other = row.get("lexical", {"n": 0, "flip": None, "nearer": None})
            line += f"{other['n']:>12,}{_value(other['flip']):>7}{_value(other['nearer']):>8}"
        lines.append(line)
    return lines


def _most(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The payloads that flipped the largest share of their cells, then the most of them."""
    flipped = [row for row in rows if row["by"] == "payload" and row["flip"]["value"]]
    if not flipped:
        return ["no payload flipped a label", ""]
    flipped.sort(key=lambda row: (-row["flip"]["value"], -row["n"], row["name"]))
    lines = [f"payloads that flipped labels: {len(flipped)}; the largest share of their cells:"]
    for row in flipped[:MOST_SHOWN]:
        n = round(row["flip"]["value"] * row["n"])
        lines.append(f"{row['name']:<18}{n:>4} of {row['n']:<4}{cell(repr(row['text']), 70)}")
    return [*lines, ""]


def _parser(echoes: Sequence[Mapping[str, Any]]) -> str:
    shares = []
    for what, is_honest in (("honest", True), ("echoing", False)):
        rows = [row for row in echoes if row["is_honest"] == is_honest]
        n, hijacked = (sum(row[name] for row in rows) for name in ("replies", "hijacked"))
        shares.append(f"{hijacked:,} of {n:,} {what} replies in {len(rows)} forms")
    return f"hijacked by the parser: {', '.join(shares)}"


def _guards(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        f"{'guard':<8}{'n':>6}{'lost':>6}{'changed':>9}{'interval':>15}{'gain':>8}{'interval':>16}"
        f"{'score':>8}{'interval':>16}"
    ]
    for row in rows:
        gain = row["gain"] or {}
        lines.append(
            f"{row['name']:<8}{row['n']:>6,}{row['n_unjudged']:>6,}"
            f"{figure(row['changed']['value']):>9}{bounds(row['changed']):>15}"
            f"{figure(gain.get('value'), sign='+'):>8}{bounds(gain, '+'):>16}"
            f"{figure(row['score']['value'], sign='+'):>8}{bounds(row['score'], '+'):>16}"
        )
    return lines


def _value(row: Mapping[str, Any] | None) -> str:
    return figure(row["value"] if row is not None else None)
