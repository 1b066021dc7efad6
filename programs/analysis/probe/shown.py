"""Variants of a judge, and those that change what it is shown, and not what there is to judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ....judges import ItemJudge
from ....judges.calls import answers
from ....judges.variants import with_input
from ....records.labels.items import BETWEEN, ItemRow
from .items import with_text
from .padding import padding, without_fillers

ANSWERS = ("answer", "response", "report")  # inputs that a system wrote
CONTEXTS = ("context", "passages", "documents", "sources")  # inputs that may hold several passages
PLAIN, KNOWN = "student-baseline-2", "openai-gpt-5"  # names of runs, a plain and a known one
N_CITATIONS = 3  # that a sentence is shown to have
_BLOCKS = re.compile(r"\n\s*\n")  # between the texts of an input that is a list


@dataclass(frozen=True)
class Variant:
    """A judge that differs in one thing, named in a word and for people.

    `items` are all items, as they are shown to it; None: as they are. `order` has the indices of
    those that it is asked about; None: of all, in their order.
    """

    name: str
    what: str
    judge: ItemJudge = field(repr=False)
    items: Sequence[ItemRow] | None = field(default=None, repr=False)
    order: list[int] | None = field(default=None, repr=False)


Made = Variant | str  # why there is none


class Base(NamedTuple):
    """What variants are made of: the judge, its items, how many random ones, and by which rng."""

    judge: ItemJudge
    items: Sequence[ItemRow]
    rng: np.random.Generator
    repeats: int


def longer_and_shorter(base: Base) -> Iterator[Made]:
    """Answers with padding of as many words, at most, and without any; else why not."""
    judge, items = base.judge, base.items
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

    for at, preposition in (("start", "before"), ("end", "after")):
        what = f"words that say nothing {preposition} it, up to as many"
        yield from _changed(base, name, padded(at == "start"), f"length-{at}", what)
    what = "without sentences that say nothing"
    yield from _changed(base, name, lambda i, text: without_fillers(text), "length-cut", what)


def reversed_passages(base: Base) -> Iterator[Made]:
    """The passages of a context, blocks between blank lines, from last to first; else why not."""
    name = next((name for name in CONTEXTS if name in base.judge.inputs), None)
    if name is None:
        yield f"the {base.judge.name} judge sees no context of several passages"
        return

    def turned(i: int, text: str) -> str:
        blocks = _BLOCKS.split(text.strip())
        return BETWEEN.join(reversed(blocks)) if len(blocks) > 1 else text

    what = "passages from last to first"
    variants = list(_changed(base, name, turned, "passages-reversed", what))
    if not variants:
        yield f"no {name} of these items has several passages (blank lines between them)"
    yield from variants


def citation_ranks(base: Base) -> Iterator[Made]:
    """The citation shown as the first, and the last, of its sentence; else why not."""
    ids = base.items[0].ids.keys()
    if not {"sentence_id", "passage_id"} <= ids:
        yield "the items are no citations of sentences (sentence_id, passage_id)"
        return
    desc = "which citation of its sentence the passage is"
    ranks = {"first": f"1 of {N_CITATIONS}", "later": f"{N_CITATIONS} of {N_CITATIONS}"}
    for name, rank in ranks.items():
        what = f"said to be citation {rank}"
        yield _with_line(base, "citation_rank", desc, rank, f"citation-{name}", what)


def run_names(base: Base) -> Iterator[Made]:
    """A plain and a known name shown as that of the system; else why not."""
    if "run_id" not in base.items[0].ids:
        yield "the items belong to no run (run_id)"
        return
    desc = "the system that wrote the answer"
    for name, system in (("plain", PLAIN), ("known", KNOWN)):
        what = f"said to be written by {system}"
        yield _with_line(base, "written_by", desc, system, f"name-{name}", what)


def _with_line(base: Base, field: str, desc: str, line: str, name: str, what: str) -> Made:
    """All items with a line more of input."""
    try:
        twin = with_input(base.judge, field, desc)
    except ValueError as error:
        return str(error)
    return Variant(name, what, twin, [with_text(item, field, line) for item in base.items])


def _changed(
    base: Base, field: str, change: Callable[[int, str], str], name: str, what: str
) -> Iterator[Variant]:
    """The items with an input changed, where that makes a difference to any."""
    texts = [change(i, item.inputs[field]) for i, item in enumerate(base.items)]
    order = [i for i, item in enumerate(base.items) if texts[i] != item.inputs[field]]
    if order:
        items = [with_text(item, field, text) for item, text in zip(base.items, texts, strict=True)]
        yield Variant(name, what, base.judge, items, order)
