"""Make the conditions of a probe: each changes one thing about the judge or its input."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from ....judges import ItemJudge
from ....judges.combined.jury import with_input
from ....judges.items import answers, calls
from ....judges.lexical.overlap import content_words
from ....judges.lexical.segments import sentences
from ....records.labels import BETWEEN, ItemRow
from .probing import BASE, Options, Skipped, get_backend, with_text
from .variants import list_inputs, list_labels, with_first_input, with_label_order

Kind = Literal[
    "batch", "order", "labels", "input", "replicates", "schema",
    "passages", "length", "citation", "name",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)  # append new ones: random orders depend on the index
BATCHES = (1, 5, 10, 20)  # items per call
ANSWERS = ("answer", "response", "report")  # inputs written by a system
CONTEXTS = ("context", "passages", "documents", "sources")  # inputs that may hold several passages
PLAIN, KNOWN = "student-baseline-2", "openai-gpt-5"  # names of systems: a plain and a famous one
N_CITATIONS = 3  # number of citations that the sentence is said to have
_BLOCKS = re.compile(r"\n\s*\n")  # between the texts of an input that is a list
# Each sentence is only about the text itself: it states, denies and limits no fact.
FILLERS = (
    "Let us go through this one step at a time.",
    "This deserves a closer look, and it will get one.",
    "With that in mind, let us move on.",
    "That is a good place to pause for a moment.",
    "So much for that part.",
    "Now for the next one.",
    "It is worth reading this slowly.",
    "One could go on at length here.",
    "This can be read again at any time.",
    "Some of it may be familiar already.",
    "More could be added, but this will do.",
    "I hope this helps.",
    "Thank you for the question.",
    "Feel free to ask if anything is unclear.",
)
# Sentences with which models often end; they add no fact and can be removed.
CLOSERS = (
    "I hope this helps.",
    "I hope that helps.",
    "Hope this helps.",
    "I hope this answers your question.",
    "Let me know if you have any questions.",
    "Let me know if you have any other questions.",
    "Let me know if you have any further questions.",
    "Please let me know if you have any questions.",
    "Feel free to ask if you have any questions.",
    "Feel free to ask if you have any further questions.",
    "Feel free to reach out if you have any questions.",
    "Is there anything else you would like to know?",
    "Thank you for the question.",
    "Thank you for your question.",
    "Thanks for the question.",
    "That is a great question.",
    "That's a great question.",
    "Great question.",
)


@dataclass(frozen=True)
class Condition:
    """A judge with one change, and the items that it gets.

    Attributes:
        name: the change in a word. what: its description.
        items: all items with changed inputs; None: unchanged.
        order: the positions of the items to ask about; None: all, in their order.
        calls: the positions of the items of each call.
    """

    name: str
    what: str
    judge: ItemJudge = field(repr=False)
    items: Sequence[ItemRow] | None = field(default=None, repr=False)
    order: list[int] | None = field(default=None, repr=False)
    kind: str = ""
    calls: list[list[int]] = field(default_factory=list, repr=False)

    @property
    def in_order(self) -> list[tuple[int, ItemRow]]:
        """The items to ask about, each with its position."""
        assert self.items is not None
        assert self.order is not None
        return [(i, self.items[i]) for i in self.order]


Made = Condition | str  # the reason why a condition is skipped


class Base(NamedTuple):
    """The inputs for conditions: the judge, its items, the number of random orders, the rng."""

    judge: ItemJudge
    items: Sequence[ItemRow]
    rng: np.random.Generator
    repeats: int


def make_conditions(
    judge: ItemJudge, items: Sequence[ItemRow], options: Options
) -> tuple[list[Condition], list[Skipped]]:
    """Make all conditions of a probe, the base first, and list those that do not apply."""
    model = get_backend(judge).config
    what = f"window {judge.window}, given order" if judge.listed else "given order"
    what += "" if model.way in ("lexical", "decision") else f", schema {model.reply_schema}"
    conditions = [_complete(BASE, Condition(BASE, what, judge), items)]
    skipped: list[Skipped] = []
    for number, kind in enumerate(KINDS):
        if options.kinds is not None and kind not in options.kinds:
            continue
        base = Base(judge, items, np.random.default_rng([options.seed, number]), options.repeats)
        for made in MAKERS[kind](base):
            if isinstance(made, str):
                skipped.append(Skipped(kind, made))
                continue
            new = _complete(kind, made, items)
            others = conditions if kind in ("batch", "order") else []  # these change only the calls
            same = [one.name for one in others if sorted(one.calls) == sorted(new.calls)]
            if same:
                reason = f"the same calls as {same[0]} on these items"
                skipped.append(Skipped(new.name, reason))
            else:
                conditions.append(new)
    return conditions, skipped


def _complete(kind: str, made: Condition, all_items: Sequence[ItemRow]) -> Condition:
    items = all_items if made.items is None else made.items
    order = list(range(len(items))) if made.order is None else made.order
    in_calls = calls(made.judge, [items[i] for i in order])
    positions = [[order[i] for i in call] for call in in_calls]
    return replace(made, items=items, order=order, kind=kind, calls=positions)


def _batches(base: Base) -> Iterator[Made]:
    if base.judge.listed is None:
        yield _one_a_call(base.judge)
        return
    for size in BATCHES:
        if size != base.judge.window:
            changed = base.judge.deepcopy()
            changed.window = size
            what = f"{size} items per call" if size > 1 else "1 item per call"
            yield Condition(f"batch-{size}", what, changed)


def _orders(base: Base) -> Iterator[Made]:
    if base.judge.listed is None:
        yield _one_a_call(base.judge)
        return
    groups = answers(base.judge, base.items)
    for n in range(1, base.repeats + 1):
        order = [int(i) for group in groups for i in base.rng.permutation(group)]
        what = f"items of an answer in random order {n}"
        yield Condition(f"order-{n}", what, base.judge, order=order)


def _one_a_call(judge: ItemJudge) -> str:
    return f"the {judge.name} judge takes one item per call"


def _own_prompt(judge: ItemJudge) -> str:
    return f"the {judge.name} judge has a custom prompt"


def _label_orders(base: Base) -> Iterator[Made]:
    judge, labels = base.judge, list_labels(base.judge)
    if not labels:
        is_own = judge.own_words == "prompt"
        range_ = f"the {judge.name} judge gives a number in a range, not one of several labels"
        yield _own_prompt(judge) if is_own else range_
        return
    orders: dict[tuple[str, ...], None] = {}
    while len(orders) < min(base.repeats, math.factorial(len(labels)) - 1):
        order = tuple(labels[i] for i in base.rng.permutation(len(labels)))
        if order != labels:
            orders.setdefault(order)
    for n, order in enumerate(orders, 1):
        baseline = with_label_order(judge, order)
        yield Condition(f"labels-{n}", f"labels {', '.join(order)}", baseline)


def _inputs(base: Base) -> Iterator[Made]:
    for name in list_inputs(base.judge)[1:]:
        yield Condition(f"input-{name}", f"{name} shown first", with_first_input(base.judge, name))


def _replicates(base: Base) -> Iterator[Made]:
    for n in range(1, base.repeats + 1):
        changed = base.judge.deepcopy()
        changed.replicate = n
        yield Condition(f"replicate-{n}", f"asked again, replicate {n}", changed)


def _schemas(base: Base) -> Iterator[Made]:
    model = get_backend(base.judge).config
    if (why_not := without_schema(base.judge)) or base.judge.own_words == "prompt":
        yield why_not or _own_prompt(base.judge)
        return
    for form in ("json_schema", "none"):
        if form != model.reply_schema:
            what = "the reply schema is sent" if form != "none" else "no reply schema is sent"
            yield Condition(f"schema-{form}", what, with_schema(base.judge, form))


def longer_and_shorter(base: Base) -> Iterator[Made]:
    """Conditions with padded answers (at most twice as long) and cut ones, or why not."""
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
        yield "no filler sentence is certainly unrelated to these questions and reference items"

    def pad(before: bool) -> Callable[[int, str], str]:
        return lambda i, text: " ".join(filter(None, (fillers[i], text)[:: 1 if before else -1]))

    for at, preposition in (("start", "before"), ("end", "after")):
        what = f"filler sentences {preposition} the answer, at most as long as it"
        yield from _change(base, name, pad(at == "start"), f"length-{at}", what)
    what = "without filler sentences"
    yield from _change(base, name, lambda i, text: without_fillers(text), "length-cut", what)


def reverse_passages(base: Base) -> Iterator[Made]:
    """A condition with the passages of a context (between blank lines) reversed, or why not."""
    name = next((name for name in CONTEXTS if name in base.judge.inputs), None)
    if name is None:
        yield f"the {base.judge.name} judge gets no context of several passages"
        return

    def reverse(i: int, text: str) -> str:
        blocks = _BLOCKS.split(text.strip())
        return BETWEEN.join(reversed(blocks)) if len(blocks) > 1 else text

    what = "passages from last to first"
    conditions = list(_change(base, name, reverse, "passages-reversed", what))
    if not conditions:
        yield f"no {name} of these items has several passages (separated by blank lines)"
    yield from conditions


def citation_ranks(base: Base) -> Iterator[Made]:
    """Conditions that present a citation as the first and the last of its sentence, or why not."""
    ids = base.items[0].ids.keys()
    if not {"sentence_id", "passage_id"} <= ids:
        yield "the items are not citations of sentences (sentence_id, passage_id)"
        return
    desc = "which citation of its sentence the passage is"
    ranks = {"first": f"1 of {N_CITATIONS}", "later": f"{N_CITATIONS} of {N_CITATIONS}"}
    for name, rank in ranks.items():
        what = f"presented as citation {rank}"
        yield _with_line(base, "citation_rank", desc, rank, f"citation-{name}", what)


def run_names(base: Base) -> Iterator[Made]:
    """Conditions that name the system, once plain and once famous, or the reason why not."""
    if "run_id" not in base.items[0].ids:
        yield "the items have no run_id"
        return
    desc = "the system that wrote the answer"
    for name, system in (("plain", PLAIN), ("known", KNOWN)):
        what = f"presented as written by {system}"
        yield _with_line(base, "written_by", desc, system, f"name-{name}", what)


def _with_line(base: Base, field: str, desc: str, line: str, name: str, what: str) -> Made:
    """A condition with one more line of input for all items."""
    try:
        baseline = with_input(base.judge, field, desc)
    except ValueError as error:
        return str(error)
    return Condition(name, what, baseline, [with_text(item, field, line) for item in base.items])


def _change(
    base: Base, field: str, change: Callable[[int, str], str], name: str, what: str
) -> Iterator[Condition]:
    """A condition with one input changed, unless the change affects no item."""
    texts = [change(i, item.inputs[field]) for i, item in enumerate(base.items)]
    order = [i for i, item in enumerate(base.items) if texts[i] != item.inputs[field]]
    if order:
        items = [with_text(item, field, text) for item, text in zip(base.items, texts, strict=True)]
        yield Condition(name, what, base.judge, items, order)


MAKERS: Mapping[str, Callable[[Base], Iterator[Made]]] = {
    "batch": _batches,
    "order": _orders,
    "labels": _label_orders,
    "input": _inputs,
    "replicates": _replicates,
    "schema": _schemas,
    "passages": reverse_passages,
    "length": longer_and_shorter,
    "citation": citation_ranks,
    "name": run_names,
}


def without_schema(judge: ItemJudge) -> str:
    """The reason why the judge's model takes no reply schema; "" if it takes one."""
    way = get_backend(judge).config.way
    if way in ("http", "litellm", "vllm"):
        return ""
    return f"{'a decision model' if way == 'decision' else f'model {way}'} takes no reply schema"


def with_schema(judge: ItemJudge, form: str) -> ItemJudge:
    """A copy of the judge with another form of reply schema, or without one ("none")."""
    changed: ItemJudge = judge.deepcopy()
    changed.backend = get_backend(judge).copy_with(reply_schema=form)
    return changed


def padding(n_words: int, others: Iterable[str]) -> str:
    """Different filler sentences of about this many words in total; "" if none is suitable.

    Args:
        others: the question and the reference items. A filler that shares a word with one of them,
            apart from stop words, might count as content and is not used.
    """
    matter = frozenset().union(*map(content_words, others))
    fillers: list[str] = []
    for filler in FILLERS:
        if n_words <= 0:
            break
        if not content_words(filler) & matter:
            fillers.append(filler)
            n_words -= len(filler.split())
    return " ".join(fillers)


def without_fillers(text: str) -> str:
    """The text without filler sentences; unchanged if it has none, or only those."""
    all_sentences = sentences(text)
    fillers = [sentence for sentence in all_sentences if _plain(sentence) in _KNOWN]
    if not fillers or len(fillers) == len(all_sentences):
        return text
    for sentence in fillers:
        text = text.replace(sentence, "", 1)
    return re.sub(r"[^\S\n]{2,}", " ", text).strip()


def _plain(sentence: str) -> str:
    return " ".join(re.sub(r"[^\w\s']", " ", sentence.lower().replace("’", "'")).split())


_KNOWN = {_plain(sentence) for sentence in (*FILLERS, *CLOSERS)}
