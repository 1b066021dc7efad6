"""The rule-based twins of the judges that search for nuggets; no model.

They let a search run and stand in for a model in tests. What they read is English.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from .answers import subject_words
from .clauses import statements
from .grounds import find_quote
from .nuggets_and_citations import (
    REPEATED,
    STOP_WORDS,
    WORD,
    content_words,
    recall,
    stem,
    update_nuggets,
)
from .segments import sentences

MORE_WORDS = 3  # that a query takes from the nuggets so far


def propose_nuggets(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The statements that say most, of the sentences with a word that the facet asks about.

    One that mostly repeats a known nugget is left out. The quote is the statement itself where it
    stands so in the passage, and else its sentence.
    """
    facet_words = content_words(subject_words(inputs["facet"]))
    known_words = [content_words(text) for text in inputs["known"]]
    proposals: dict[str, tuple[int, str]] = {}
    for number, passage in inputs["passages"].items():
        for sentence in sentences(passage):
            if not facet_words & content_words(sentence):
                continue
            for text in statements(sentence):
                new = content_words(text) - facet_words
                if all(recall(new, old) < REPEATED for old in known_words):
                    quote = text if find_quote(text, passage) else sentence
                    proposals.setdefault(text, (int(number), quote))
    question = f"{inputs['question']} {inputs['facet']}"
    listed = {"question": question, "limit": inputs["limit"], "passages": {}}
    best = update_nuggets({**listed, "nuggets": list(proposals)})["updated"]
    return {
        "proposed": [
            {"nugget": text, "passage": proposals[text][0], "quote": proposals[text][1]}
            for text in best
        ]
    }


def write_gap_queries(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What each facet is about, with the commonest words of the nuggets that were not tried yet."""
    tried = {stem(word) for text in inputs["tried"] for word in _words(text)}
    seen = Counter(word for text in inputs["nuggets"] for word in dict.fromkeys(_words(text)))
    new = sorted((word for word in seen if stem(word) not in tried), key=lambda w: (-seen[w], w))
    queries = {}
    for index, (number, facet) in enumerate(inputs["facets"].items()):
        start = index * MORE_WORDS  # other words for each facet, as far as there are any
        more = new[start : start + MORE_WORDS] or new[:MORE_WORDS]
        queries[number] = " ".join([subject_words(facet), *more])
    return {"queries": queries}


def _words(text: str) -> list[str]:
    return [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
