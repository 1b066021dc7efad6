"""The rule-based twins of the judges that make key points and claims; no model.

They let a whole pipeline run and stand in for a model in tests. What they read is English.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .answers import subject_words
from .clauses import MOST_WORDS, statements
from .nuggets_and_citations import content_words, update_nuggets
from .segments import n_words, sentences

MOST_POINTS, MOST_POINT_WORDS = 10, 25  # from one window of a document; in each
SAME = 0.5  # of the words of two points, to be one; not fitted


def find_key_points(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The statements that say most, of the sentences with a word that the question asks about.

    Each rests on its sentence. What they are does not depend on the known points, so asking again
    brings nothing new.
    """
    question_words = content_words(subject_words(inputs["question"]))
    rests_on: dict[str, str] = {}
    for text, sentence in _statements(inputs["document"]):
        if n_words(text) <= MOST_POINT_WORDS and question_words & content_words(sentence):
            rests_on.setdefault(text, sentence)
    listed = {"question": inputs["question"], "limit": MOST_POINTS, "passages": {}}
    best = set(update_nuggets({**listed, "nuggets": list(rests_on)})["updated"])
    new = best.difference(inputs["known"])
    return {
        "points": [
            {"text": text, "spans": [span]} for text, span in rests_on.items() if text in new
        ]
    }


def merge_points(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Each point joins the first group whose first point shares half of the words with it.

    The words of the question do not count. A group has the text of its point with most words.
    """
    question_words = content_words(inputs["question"])
    words = {
        number: content_words(text) - question_words or content_words(text)
        for number, text in inputs["points"].items()
    }
    groups: list[list[str]] = []
    for number, own in words.items():
        same = (g for g in groups if len(own & words[g[0]]) >= SAME * len(own | words[g[0]]))
        if (group := next(same, None)) is not None:
            group.append(number)
        else:
            groups.append([number])
    return {
        "merged": [
            {
                "text": inputs["points"][max(group, key=lambda number: len(words[number]))],
                "members": [int(number) for number in group],
            }
            for group in groups
        ]
    }


def extract_claims(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The statements of the answer in its order, each once; nothing is resolved."""
    return {"claims": list(dict.fromkeys(text for text, _ in _statements(inputs["answer"])))}


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """Each statement with its sentence; a long sentence that holds none stands for itself."""
    for sentence in sentences(text):
        is_whole = n_words(sentence) > MOST_WORDS and sentence[-1] in ".!"
        texts = statements(sentence) or ([" ".join(sentence.split())] if is_whole else [])
        for statement in texts:
            yield statement, sentence
