"""Items and lists whose labels their stamps tell, for judges that are fitted to them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from json_lines import write_rows
from stamp_brain import SENTENCE, STAMPS

REASON = "the stamp says so"


@dataclass(frozen=True)
class Stamped:
    """A labelled item of the support judge (or the assigner) whose label its stamp tells."""

    topic_id: str
    inputs: dict[str, str]
    label: str
    rationale: str = REASON

    @property
    def ids(self) -> dict[str, str]:
        return {"topic_id": self.topic_id}


def stamped(
    n: int, *, first: int = 0, scale: Sequence[str] = ("none", "partial", "full"), topics: int = 4
) -> list[Stamped]:
    """n items with the numbers from `first` on; red is the commonest stamp."""
    found = []
    for i in range(first, first + n):
        place = (0, 0, 1, 0, 2)[i % 5]
        inputs = {
            "sentence": f"Claim {i} holds.",
            "passage": f"Page {i * 7919 % 1000}, stamped {STAMPS[place]}.",
        }
        found.append(Stamped(f"t{first}-{i % topics}", inputs, scale[place]))
    return found


def stamped_nuggets(n_answers: int, n_nuggets: int, *, first: int = 0) -> list[Stamped]:
    """Answers with some nuggets each, for the assigner."""
    scale = ("not_support", "partial_support", "support")
    found = []
    for i in range(first, first + n_answers):
        for j in range(n_nuggets):
            place = (i + 2 * j) % 3
            inputs = {
                "question": f"Question {i}?",
                "answer": f"Answer {i}.",
                "nugget": f"fact {i}.{j} stamped {STAMPS[place]}",
            }
            found.append(Stamped(f"t{i}", inputs, scale[place]))
    return found


def fact(i: int, j: int) -> str:
    """Three words that no other fact has."""
    digits = hashlib.sha256(f"{i}.{j}".encode()).hexdigest()
    letters = digits.translate(str.maketrans("0123456789", "klmnopqrst"))
    return " ".join(letters[n : n + 8] for n in (0, 8, 16))


def text_about(i: int, n: int = 8) -> str:
    """n facts of topic i, every other one stamped green."""
    return " ".join(f"{fact(i, j)} stamped {('green', 'red')[j % 2]}." for j in range(n))


def wanted_of(i: int, n: int = 8) -> list[str]:
    """What people list of topic i."""
    return [fact(i, j) for j in range(0, n, 2)]


def write_nugget_data(folder: Path, n_topics: int, *, n_passages: int = 2) -> dict[str, Path]:
    """Nuggets of people, and the candidates with texts that they are made from."""
    half = 8 // n_passages
    nuggets, candidates = [], []
    for i in range(n_topics):
        query = f"What of number {i}?"
        listed = [{"text": text, "importance": "vital"} for text in wanted_of(i)]
        nuggets.append({"qid": f"t{i}", "query": query, "nuggets": listed})
        sentences = SENTENCE.findall(text_about(i))
        passages = [
            {
                "docid": f"d{i}.{p}",
                "doc": {
                    "segment": " ".join(
                        f"{words} stamped {colour}."
                        for words, colour in sentences[p * half : (p + 1) * half]
                    )
                },
            }
            for p in range(n_passages)
        ]
        candidates.append({"query": {"qid": f"t{i}", "text": query}, "candidates": passages})
    return {
        "nuggets": write_rows(folder / "nuggets.jsonl", nuggets),
        "candidates": write_rows(folder / "candidates.jsonl", candidates),
    }


def write_question_data(folder: Path, n_topics: int) -> dict[str, Path]:
    """Sub-questions of people, and the reports that they are made from."""
    questions = [{"id": f"t{i}", "subquestions": wanted_of(i)} for i in range(n_topics)]
    reports = [{"id": f"t{i}", "report": text_about(i)} for i in range(n_topics)]
    return {
        "questions": write_rows(folder / "questions.jsonl", questions),
        "reference": write_rows(folder / "reports.jsonl", reports),
    }
