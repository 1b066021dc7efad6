"""The texts about a kind of label: the question, the guidelines, the words for labels.

Each kind has a file in `words/`.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ....judges.table import Variant
from ....programs.config.base import find_variant_of_scale
from ....records.judgements import text_hash
from ....records.kinds import find_kind
from ..store.kinds import Kind, words_file

TELL = 'If you cannot decide, choose "cannot tell": a guess would count as your judgement.'
ALONE = "Judge only by the texts in front of you, not by what you know or could look up."
_GRADED = 6  # with this many whole grades, the digits are the grades
_MAX_KEYS = 9
MAX_MEANING = 300  # characters


class ShownLabel(NamedTuple):
    """A label as people see it: its word, its key ("": none), its mark.

    `meaning`: its definition in the guidelines, or "".
    """

    label: str
    word: str
    key: str
    mark: str
    meaning: str = ""


class ShownText(NamedTuple):
    """A text as people see it.

    Attributes:
        of: the judge's input, as in spans and in the judges' quotes.
        name: its heading. sha256: the start of its hash, see `text_hash`.
    """

    of: str
    name: str
    text: str
    sha256: str


class Practice(NamedTuple):
    """A practice item with its label. `why`: the explanation, shown after a choice."""

    texts: list[ShownText]
    label: str
    why: str


@dataclass(frozen=True)
class Words:
    """The texts about one kind: a file of `words/`.

    Attributes:
        title: name of the kind. question: the question about each item. parts: the questions
            about parts of an item, if it has parts.
        guidelines: with {alone} and {tell} for shared sentences, {labels} for the definitions.
        labels: words for labels. penalty_question, penalty_labels: the same for points with a
            weight below 0. names: headings of texts. inputs: the judge's names, if they differ.
        shared: the text that several items share, and the last of the ids that name it.
        practice_texts: the names of the texts of `practice`, which are made-up items.
    """

    guidelines: str
    title: str = ""
    question: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    penalty_question: str = ""
    penalty_labels: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    shared: Sequence[str] = ()
    practice_texts: Sequence[str] = ()
    practice: Sequence[Mapping[str, Any]] = ()


_ANY_NAMES = {
    "key_point": "Key point",
    "answer_text": "Answer",
    "title": "Title of the page",
    "sub_narratives": "Parts of the question",
}


@cache
def get_words(kind: str) -> Words:
    """The texts about a kind."""
    return Words(**_read(words_file(kind)))


def find_variant(kind: Kind, scale: Sequence[str]) -> Variant | None:
    """The variant of the kind's judge that gives these labels; None: the kind's own scale."""
    declared = find_kind(kind)
    return find_variant_of_scale(declared.judge, scale) if declared is not None else None


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def get_question(kind: Kind, part: str = "") -> str:
    """The question about each item, or about one part of it for `verify`."""
    words = get_words(kind)
    return words.parts.get(part, words.question)


def write_guidelines(kind: str, variant: Variant | None = None) -> str:
    """The guidelines of a kind or of a variant of its judge, with the definition of each label."""
    declared = find_kind(kind)
    scale = variant.load_scale() if variant else declared.scale if declared else ()
    words = Words(**_read(variant.words)) if variant else get_words(kind)
    labels = () if isinstance(scale, tuple) else scale
    best_first = [label for label in reversed(list(labels)) if label.meaning]
    is_number = all(label.value.isdecimal() for label in best_first)
    lines = (
        f"{label.value if is_number else words.labels[label.value]}: {label.meaning}."
        for label in best_first
    )
    return words.guidelines.format(alone=ALONE, tell=TELL, labels="\n".join(lines))


def show_labels(kind: Kind, scale: Sequence[str], guidelines: str = "") -> list[ShownLabel]:
    """The labels, worst to best. Keys are 1, 2, 3 ..., or the grades if these are 0 to 5.

    >>> [tuple(one[1:4]) for one in show_labels("support", ["none", "partial", "full"])]
    [('none of it', '1', '✗'), ('part of it', '2', '◐'), ('all of it', '3', '✓')]
    """
    variant = find_variant(kind, scale)
    words = (Words(**_read(variant.words)) if variant else get_words(kind)).labels
    is_graded = _is_graded(scale)
    shown = []
    for at, label in enumerate(scale):
        key = label if is_graded else str(at + 1) if at < _MAX_KEYS else ""
        mark = "✗" if at == 0 else "✓" if at == len(scale) - 1 else "◐"
        shown.append(ShownLabel(label, words.get(label, label.replace("_", " ")), key, mark))
    meanings = _meanings_in(guidelines, shown)
    return [one._replace(meaning=meanings.get(one.label, "")) for one in shown]


def _meanings_in(guidelines: str, shown: Sequence[ShownLabel]) -> dict[str, str]:
    """The text after "label:" or its word, up to the next label or the end of the paragraph.

    A label with two definitions is left out.
    """
    labels = {name.lower(): one.label for one in shown for name in (one.label, one.word)}
    names = "|".join(re.escape(name) for name in sorted(labels, key=len, reverse=True))
    found = list(re.finditer(rf"(?<!\w)({names}):\s+", guidelines, re.IGNORECASE)) if names else []
    ends = [*(match.start() for match in found[1:]), len(guidelines)]
    n = Counter(labels[match[1].lower()] for match in found)
    meanings = {}
    for match, end in zip(found, ends, strict=False):  # no match: one end
        text = " ".join(guidelines[match.end() : end].split("\n\n")[0].split())
        if n[label := labels[match[1].lower()]] == 1:
            meanings[label] = text[:MAX_MEANING]
    return meanings


def cannot_tell_key(scale: Sequence[str]) -> str:
    """The key of "cannot tell": 0, or - if 0 is a grade."""
    return "-" if _is_graded(scale) else "0"


def name_text(kind: Kind, name: str) -> str:
    """The heading of a text with this name in files."""
    plain = name.replace("_", " ").capitalize()
    return get_words(kind).names.get(name) or _ANY_NAMES.get(name, plain)


def judge_input(kind: Kind, name: str) -> str:
    """The judge's input for a text with this name in files."""
    return get_words(kind).inputs.get(name, name)


def make_practice(kind: Kind, scale: Sequence[str]) -> list[Practice]:
    """Practice items; [] if their labels are not on this scale.

    For `bank`, the label is what to do with a nugget.
    """
    words, wordings = get_words(kind), _read(words_file("texts"))
    fits = kind == "bank" or {one["label"] for one in words.practice} <= set(scale)
    if not fits or find_variant(kind, scale) is not None:  # 3 may be another grade there
        return []
    practices = []
    for one in words.practice:
        texts = [
            ShownText(judge_input(kind, name), name_text(kind, name), text, text_hash(text))
            for name, text in zip(
                words.practice_texts,
                (text.format(**wordings) for text in one["texts"]),
                strict=True,
            )
        ]
        practices.append(Practice(texts, one["label"], one["why"]))
    return practices


def _is_graded(scale: Sequence[str]) -> bool:
    digits = [str(grade) for grade in range(len(scale))]
    return _GRADED <= len(scale) <= _MAX_KEYS + 1 and list(scale) == digits
