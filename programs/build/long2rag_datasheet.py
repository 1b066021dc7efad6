"""The datasheet of a built Long2RAG collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..engine.datasheet import generated, left_out, licence, plain, sources, table
from .long2rag_files import statistics_table
from .verification import agreement_lines, retention_table

_MADE = {
    "question_scorer": "the scores of seed questions",
    "question_evolver": "new questions, from the seeds",
    "question_decomposer": "the sub-questions, from the questions",
    "keypoint_extractor": "the key points, from the documents",
    "keypoint_merger": "the merged key points",
    "keypoint_filter": "which key points answer the question",
}
_LIMITS = (
    "- No person has read the questions. New ones were not scored: read them before use.",
    "- The five criteria are a reading of the paper, and so are the three kinds of sub-questions.",
    "- Key points are those of the given documents; what these lack is asked of no answer.",
    "- A question made in width has the documents of its seed unless it was given some of its own:",
    "  few key points may be left of it.",
    "- Key points that another judge makes are not comparable with those of the judge named above.",
)


def long2rag_datasheet(manifest: Mapping[str, Any]) -> str:
    """The text of DATASHEET.md, from the manifest of a build. Holds no time, cost or address."""
    return "\n".join(_lines(manifest)) + "\n"


def _lines(manifest: Mapping[str, Any]) -> Iterator[str]:
    found = manifest["statistics"]
    yield f"# Datasheet of a collection of {sum(found['questions'].values()):,} questions"
    yield ""
    yield "Made by `judge build long2rag` of nuggetjudge, by the protocol of Long2RAG"
    yield "(arXiv:2410.23000), to measure how much of what documents offer is taken up in answers."
    yield ""
    yield "## Where it comes from"
    yield from sources(manifest["inputs"])
    yield ""
    yield "Seed questions and documents were given. Who wrote them, when, in which language and on"
    yield "what terms they may be passed on is not known to the program: the maker has to add it."
    yield ""
    yield "## What was generated, and by what"
    yield from generated(manifest, _MADE)
    yield ""
    yield "## Numbers it was made with"
    yield from _settings(manifest)
    yield ""
    yield "## What is in it"
    yield from table(statistics_table(found))
    for by in ("domain", "category"):
        if groups := found[f"by_{by}"]:
            yield ""
            rows = [
                [plain(g), str(n["questions"]), str(n["key_points"])] for g, n in groups.items()
            ]
            yield from table([[by, "questions", "key points"], *rows])
    yield ""
    yield "## What people verified"
    yield from _verified(manifest)
    yield ""
    yield "## What was left out, and why"
    yield from left_out(manifest) or ["Nothing."]
    yield ""
    yield "## Known limits"
    yield from _LIMITS
    yield ""
    yield from licence()


def _settings(manifest: Mapping[str, Any]) -> Iterator[str]:
    numbers, points = manifest["config"]["long2rag"], manifest["config"]["keypoints"]
    yield f"- a seed question is kept from a score of {numbers['least']} on each of five criteria"
    yield f"- new questions asked for: {numbers['evolve']} in depth and in width, of each seed"
    yield f"- readings of each window of a document, at most: {points['rounds']}"
    yield f"- a key point answers the question from a score of {points['threshold']} on"


def _verified(manifest: Mapping[str, Any]) -> Iterator[str]:
    if (found := manifest["statistics"]["verification"]) is None:
        yield "Nothing. `verification.csv` is the sheet for it, where there are key points."
        return
    yield "People said of each key point whether its spans support it (grounded), and whether it"
    yield "helps to answer the question (key point). What most of them rejected was dropped."
    yield ""
    yield from sources(manifest["verified_with"])
    yield ""
    yield from table([[plain(name), *counts] for name, *counts in retention_table(found)])
    yield ""
    for line in agreement_lines(found):
        yield f"- {line}"
