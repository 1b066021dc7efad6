"""Conditions that change what the judge is shown of an item, and not what there is to judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....judges import ItemJudge
from ....judges.calls import answers
from ....judges.variants import with_input
from ....records.labels.items import BETWEEN, ItemRow
from .padding import padding, without_fillers

ANSWERS = ("answer", "response", "report")  # inputs that a system wrote
CONTEXTS = ("context", "passages", "documents", "sources")  # inputs that may hold several passages
PLAIN, KNOWN = "student-baseline-2", "openai-gpt-5"  # names of runs, a plain and a known one
N_CITATIONS = 3  # that a sentence is said to have
_BLOCKS = re.compile(r"\n\s*\n")  # between the texts of an input that is a list


@dataclass(frozen=True)
class Shown:
    """A judge and items that differ from the base in what is shown.

    `order` are the places of the items that there is something to change in, `items` all of them.
    """

    name: str
    what: str
    judge: ItemJudge
    items: Sequence[ItemRow]
    order: list[int]


def longer_and_shorter(judge: ItemJudge, items: Sequence[ItemRow]) -> Iterator[Shown | str]:
    """Answers with padding of as many words, at most, and without any; else why not."""
    name = next((name for name in ANSWERS if name in judge.inputs), None)
    if name is None:
        yield f"the {judge.name} judge reads no answer ({', '.join(ANSWERS)})"
        return
    groups = answers(judge, items)
    fillers: dict[int, str] = {}
    for group in groups:
        n_words = len(items[group[0]].inputs[name].split())
        others = {t for i in group for key, t in items[i].inputs.items() if key != name}
        fillers |= dict.fromkeys(group, padding(n_words, others))
    if not any(fillers.values()):
        yield "no sentence says nothing for certain beside these questions and what is looked for"

    def padded(before: bool) -> Callable[[int, str], str]:
        return lambda i, text: " ".join(filter(None, (fillers[i], text)[:: 1 if before else -1]))

    for at, said in (("start", "before"), ("end", "after")):
        what = f"words that say nothing {said} it, up to as many"
        changed, order = _changed(items, name, padded(at == "start"))
        if order:
            yield Shown(f"length-{at}", what, judge, changed, order)
    changed, order = _changed(items, name, lambda i, text: without_fillers(text))
    if order:
        yield Shown("length-cut", "without sentences that say nothing", judge, changed, order)


def reversed_passages(judge: ItemJudge, items: Sequence[ItemRow]) -> Iterator[Shown | str]:
    """The passages of a context, blocks between blank lines, from last to first; else why not."""
    name = next((name for name in CONTEXTS if name in judge.inputs), None)
    if name is None:
        yield f"the {judge.name} judge sees no context of several passages"
        return

    def turned(i: int, text: str) -> str:
        blocks = _BLOCKS.split(text.strip())
        return BETWEEN.join(reversed(blocks)) if len(blocks) > 1 else text

    changed, order = _changed(items, name, turned)
    if not order:
        yield f"no {name} of these items has several passages (blank lines between them)"
        return
    yield Shown("passages-reversed", "passages from last to first", judge, changed, order)


def citation_ranks(judge: ItemJudge, items: Sequence[ItemRow]) -> Iterator[Shown | str]:
    """The citation said to be the first, and the last, of its sentence; else why not."""
    ids = items[0].ids.keys()
    if not {"sentence_id", "passage_id"} <= ids:
        yield "the items are no citations of sentences (sentence_id, passage_id)"
        return
    desc = "which citation of its sentence the passage is"
    for name, rank in (("first", 1), ("later", N_CITATIONS)):
        line = f"{rank} of {N_CITATIONS}"
        what = f"said to be citation {line}"
        yield from _told(judge, items, "citation_rank", desc, line, f"citation-{name}", what)


def run_names(judge: ItemJudge, items: Sequence[ItemRow]) -> Iterator[Shown | str]:
    """A plain and a known name shown as that of the system; else why not."""
    if "run_id" not in items[0].ids:
        yield "the items belong to no run (run_id)"
        return
    desc = "the system that wrote the answer"
    for name, system in (("plain", PLAIN), ("known", KNOWN)):
        what = f"said to be written by {system}"
        yield from _told(judge, items, "written_by", desc, system, f"name-{name}", what)


MAKERS: Mapping[str, Callable[[ItemJudge, Sequence[ItemRow]], Iterator[Shown | str]]] = {
    "passages": reversed_passages,
    "length": longer_and_shorter,
    "citation": citation_ranks,
    "name": run_names,
}


def _told(
    judge: ItemJudge,
    items: Sequence[ItemRow],
    field: str,
    desc: str,
    line: str,
    name: str,
    what: str,
) -> Iterator[Shown | str]:
    """All items with a line more of input."""
    try:
        twin = with_input(judge, field, desc)
    except ValueError as error:
        yield str(error)
        return
    told = [_with(item, field, line) for item in items]
    yield Shown(name, what, twin, told, list(range(len(items))))


def _with(item: ItemRow, name: str, text: str) -> ItemRow:
    return item.model_copy(update={"inputs": {**item.inputs, name: text}})


def _changed(
    items: Sequence[ItemRow],
    name: str,
    change: Callable[[int, str], str],
) -> tuple[list[ItemRow], list[int]]:
    """The items with an input changed, and the places of those where that made a difference."""
    found, order = list(items), []
    for i, item in enumerate(items):
        text = item.inputs[name]
        if (new := change(i, text)) != text:
            found[i] = _with(item, name, new)
            order.append(i)
    return found, order
