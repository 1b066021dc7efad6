"""The rule-based twin of the judge that writes answers: it says nothing in words of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...records.answers import count_words
from .answers import subject_words
from .nuggets_and_citations import SENTENCE_FULL, carried, content_words, update_nuggets
from .segments import sentences

MOST_SENTENCE_WORDS = 40  # a longer one is a list or a table, as a rule
MARKS = re.compile(r"(?<!\s)\s*\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]")  # of citations, as in a [2, 3]
_BRACKETS = str.maketrans("", "", "[]")


def write_answer(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Sentences of the passages with words that the question asks about, until no more fit.

    Those that say most come first, and one that mostly repeats another is passed over. Each cites
    its own passage, then others that carry it. Without a sentence that fits: the first words.
    """
    passages = {n: _unmarked(text) for n, text in inputs["passages"].items()}
    source: dict[str, str] = {}  # a sentence -> its passage
    for number, passage in passages.items():
        for sentence in sentences(passage):
            text = " ".join(sentence.split())
            if text[-1] in ".!。！" and count_words(text) <= MOST_SENTENCE_WORDS:
                source.setdefault(text, number)
    wanted_words = content_words(subject_words(inputs["question"]))
    about = [text for text in source if wanted_words & content_words(text)] or list(source)
    listed = {"question": inputs["question"], "nuggets": about, "passages": {}}
    answer, room = [], inputs["words"]
    for text in update_nuggets({**listed, "limit": len(about)})["updated"]:
        if (n := count_words(text)) <= room:
            room -= n
            answer.append((text, source[text]))
    if not answer:
        texts = ((" ".join(p.split()[: inputs["words"]]), n) for n, p in passages.items())
        answer = [(text, number) for text, number in texts if text][:1]
    return {
        "answer": [
            {"text": text, "citations": _cited(text, number, passages)[: inputs["citations"]]}
            for text, number in answer
        ]
    }


def _unmarked(text: str) -> str:
    bare = MARKS.sub("", text)
    return bare.translate(_BRACKETS) if MARKS.search(bare) else bare  # a mark around a mark


def _cited(text: str, source: str, passages: Mapping[str, str]) -> list[int]:
    others = (n for n in passages if n != source and carried(text, passages[n]) >= SENTENCE_FULL)
    return [int(source), *map(int, others)]
