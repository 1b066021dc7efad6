"""The folder of a self-test: its rows, each planted text, and what was said of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .....judges.verdicts import Verdict
from .....records.judgements import Unjudged
from .....records.labels.items import ItemRow
from .....records.writing.files import remove
from ....engine.results import MANIFEST
from ..files import UNJUDGED, why_unjudged, write_lines, write_manifest
from .figures import moved_as_it_must
from .probing import SelfTest, Tested

ROWS, CASES = "faults.jsonl", "cases.jsonl"
NAMES = (ROWS, CASES, UNJUDGED, MANIFEST)


def write_self_test(folder: Path, found: SelfTest, settings: dict[str, Any]) -> None:
    """Write what a self-test found; two equal ones differ in the manifest's `this_time` alone.

    faults.jsonl: a row for each judge and fault. cases.jsonl: a row for each label that had to
    fall or to stay, with the text before and after. unjudged.jsonl: why, and the raw reply.

    Args:
        settings: what was asked for, for the manifest.
    """
    remove(folder / MANIFEST)  # it is of the rows before
    write_lines(folder / ROWS, fault_lines(found))
    write_lines(folder / CASES, (row for one in found.tested for row in case_rows(one)))
    write_lines(folder / UNJUDGED, (row for one in found.tested for row in _missing(one)))
    about = {
        **settings,
        "judges": [one.judge for one in found.tested],
        "n_cases": sum(len(one.answered) for one in found.tested),
    }
    write_manifest(folder, about, found)


def fault_lines(found: SelfTest) -> list[dict[str, Any]]:
    """The rows of all judges and, behind them, the judges without any."""
    rows = [{"judge": one.judge["judge"], **row} for one in found.tested for row in one.rows]
    return rows + [{"judge": each.name, "skipped": each.reason} for each in found.skipped]


def case_rows(one: Tested) -> Iterator[dict[str, Any]]:
    """Each label that had to do something: of what, in which texts, and what became of it.

    `as_it_must` None: not judged, or without the best label there was nothing to fall from.
    """
    for each in one.answered:
        cells = iter(each.cells())
        lexical = iter(each.cells(lexical=True) if each.lexical else ())
        for item, must in zip(each.case.items, each.case.must, strict=True):
            if must is None:
                continue
            cell, other = next(cells), next(lexical, None)
            row = {"judge": one.judge["judge"], "fault": each.case.fault, "must": must}
            row |= {"as_it_must": moved_as_it_must(cell, one.scale, one.gains)}
            row |= item.ids | {one.form.target: item.inputs[one.form.target]}
            row |= {"before": each.case.before, "after": each.case.after}
            row |= {"label_before": cell.before, "label_after": cell.after}
            if other is not None:
                row |= {"lexical_before": other.before, "lexical_after": other.after}
            yield row


def _missing(one: Tested) -> Iterator[dict[str, Any]]:
    seen = set()
    for number, each in enumerate(one.answered):
        for name, outcomes in (("unchanged", each.before), (each.case.fault, each.after)):
            for item, outcome in zip(each.case.items, outcomes, strict=True):
                key = (item.cell, name if name == "unchanged" else number)
                if isinstance(outcome, Verdict) or key in seen:
                    continue
                seen.add(key)
                yield _why(one, name, item, outcome)


def _why(one: Tested, fault: str, item: ItemRow, outcome: Unjudged) -> dict[str, Any]:
    ids = {"judge": one.judge["judge"], "fault": fault, **item.ids}
    return ids | why_unjudged(outcome)
