"""Sentences that say nothing, put into an answer or taken out: its length, not its content."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ....judges.lexical.nuggets_and_citations import content_words
from ....judges.lexical.segments import sentences

# Each is about the text itself, so that it states, denies and limits nothing.
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
# What models end with, which says nothing either and can be taken out.
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


def padding(n_words: int, others: Iterable[str]) -> str:
    """Fillers of about so many words together, each once; "" where none is free of the matter.

    Args:
        others: what is looked for in the answer, and the question. A filler that shares a word with
            one of these, stop words aside, might count as content and is not used.
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
    """The text without its sentences that say nothing; as it is where it has none, or no other."""
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
