"""The datasheet of a built collection: what is known of how it was made, and what is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..engine.datasheet import generated, left_out, licence, plain, sources, table
from .crux_statistics import reference_coverage, statistics_table

_MADE = {
    "request": "the request of a topic, from its reference report",
    "subquestions": "the sub-questions, from the reference report",
    "decontextualizer": "the passages, from the documents",
    "answerability": "the ratings 0-5 of passages and reference reports for each question",
}


def datasheet(manifest: Mapping[str, Any]) -> str:
    """The text of DATASHEET.md, from the manifest of a build. Holds no time, cost or address."""
    return "\n".join(_lines(manifest)) + "\n"


def _lines(manifest: Mapping[str, Any]) -> Iterator[str]:
    found = manifest["statistics"]
    yield f"# Datasheet of a collection of {found['topics']:,} topics"
    yield ""
    yield "Made by `judge build crux` of nuggetjudge, by the protocol of CRUX (arXiv:2506.20051),"
    yield "to measure how much of what a report needs is in retrieved passages and in answers."
    yield ""
    yield "## Where it comes from"
    yield from sources(manifest["inputs"])
    yield ""
    yield "Documents and summaries were given. Who wrote them, when, in which language and on what"
    yield "terms they may be passed on is not known to the program: the maker has to add it here."
    yield ""
    yield "## What was generated, and by what"
    yield from generated(manifest, _MADE)
    yield ""
    yield "## Numbers it was made with"
    yield from _settings(manifest)
    yield ""
    yield "## What is in it"
    yield from table(statistics_table(found))
    yield ""
    grades = ", ".join(f"{n:,} of grade {grade}" for grade, n in found["passage_grades"].items())
    yield f"- passages in qrels.txt: {grades.replace('grade open', 'open grade (left out)')}"
    yield f"- coverage of the reference reports: {reference_coverage(found)}"
    n = found["topics_without_answerable_question"]
    yield f"- topics without an answerable question: {n:,}"
    yield ""
    yield "## What was left out, and why"
    yield from [*left_out(manifest), *_missing(manifest)] or ["Nothing."]
    yield ""
    yield "## Known limits"
    yield from _LIMITS
    yield ""
    yield from licence()


_LIMITS = (
    "- No person has read the requests, questions, passages or ratings. Check a sample by hand.",
    "- The questions come from one summary a topic: what its author left out is not asked for.",
    "- A question is answerable if a passage of the topic's own documents answers it by the judge.",
    "- Passages were rated for their own topic only; for other topics they are not judged.",
    "- Passages were rewritten by the judge, so they are not the words of the documents.",
    "- Scores that another judge gives are not comparable with those of the judge named above.",
)


def _settings(manifest: Mapping[str, Any]) -> Iterator[str]:
    numbers = manifest["config"]["coverage"]
    window = manifest["judges"]["answerability"]["window"]
    how = "one question a call" if window == 1 else f"up to {window} questions a call"
    yield f"- sub-questions asked for: {numbers['n']} a topic"
    yield f"- a text answers a question from rating {numbers['eta']} on (eta), graded {how}"
    yield "- required passages: greedily the one that answers most questions not yet answered,"
    yield "  ties by the natural order of the ids"
    yield "- qrels.txt: 3 required; 2 answers something better than any required passage;"
    yield "  1 answers nothing better; 0 answers nothing"
    yield f"- tokens counted by: {plain(numbers['tokenizer'])}"


def _missing(manifest: Mapping[str, Any]) -> Iterator[str]:
    found = manifest["statistics"]
    ratings = found["ratings"]
    if ratings["missing"]:
        total = ratings["given"] + ratings["missing"]
        yield f"- {ratings['missing']:,} of {total:,} ratings are missing (-1 or -2)"
        yield f"- {found['undecided_questions']:,} questions are undecided for that reason"
