"""The datasheets of built collections: what is known of how they were made, and what is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..engine.making import datasheet, generated, left_out, plain, sources, table
from . import crux_statistics, long2rag_files
from .verification import agreement_lines, retention_table

_MADE_FOR_CRUX = {
    "request": "the request of a topic, from its reference report",
    "subquestions": "the sub-questions, from the reference report",
    "decontextualizer": "the passages, from the documents",
    "answerability": "the ratings 0-5 of passages and reference reports for each question",
}
_LIMITS_OF_CRUX = (
    "- No person has read the requests, questions, passages or ratings. Check a sample by hand.",
    "- The questions come from one summary a topic: what its author left out is not asked for.",
    "- A question is answerable if a passage of the topic's own documents answers it by the judge.",
    "- Passages were rated for their own topic only; for other topics they are not judged.",
    "- Passages were rewritten by the judge, so they are not the words of the documents.",
    "- Scores that another judge gives are not comparable with those of the judge named above.",
)
_MADE_FOR_LONG2RAG = {
    "question_scorer": "the scores of seed questions",
    "question_evolver": "new questions, from the seeds",
    "question_decomposer": "the types of the questions, and their sub-questions",
    "keypoint_extractor": "the key points, from the documents",
    "keypoint_merger": "the merged key points",
    "keypoint_filter": "which key points answer the question",
}
_LIMITS_OF_LONG2RAG = (
    "- No person has read the questions. New ones were not scored: read them before use.",
    "- Seeds were kept by the points of a judge; the paper's were then chosen by hand as well.",
    "- Key points are those of the given documents; what these lack is asked of no answer.",
    "- A question made in width has the documents of its seed unless it was given some of its own:",
    "  few key points may be left of it.",
    "- Key points that another judge makes are not comparable with those of the judge named above.",
)


def crux_datasheet(manifest: Mapping[str, Any]) -> str:
    """That of `judge build crux`."""
    stats = manifest["statistics"]
    return datasheet(
        f"Datasheet of a collection of {stats['topics']:,} topics",
        "Made by `judge build crux` of nuggetjudge, by the protocol of CRUX (arXiv:2506.20051),\n"
        "to measure how much of what a report needs is in retrieved passages and in answers.",
        {
            "Where it comes from": [
                *sources(manifest["inputs"]),
                "",
                "Documents and summaries were given. Who wrote them, when, in which language and "
                "on what\nterms they may be passed on is not known to the program: the maker has "
                "to add it here.",
            ],
            "What was generated, and by what": generated(manifest, _MADE_FOR_CRUX),
            "Numbers it was made with": _numbers_of_crux(manifest),
            "What is in it": _content_of_crux(stats),
            "What was left out, and why": [*left_out(manifest), *_missing_ratings(stats)]
            or ["Nothing."],
            "Known limits": _LIMITS_OF_CRUX,
        },
    )


def _numbers_of_crux(manifest: Mapping[str, Any]) -> Iterator[str]:
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


def _content_of_crux(stats: Mapping[str, Any]) -> Iterator[str]:
    yield from table(crux_statistics.statistics_table(stats))
    yield ""
    grades = ", ".join(f"{n:,} of grade {grade}" for grade, n in stats["passage_grades"].items())
    yield f"- passages in qrels.txt: {grades.replace('grade open', 'open grade (left out)')}"
    yield f"- coverage of the reference reports: {crux_statistics.reference_coverage(stats)}"
    n = stats["topics_without_answerable_question"]
    yield f"- topics without an answerable question: {n:,}"


def _missing_ratings(stats: Mapping[str, Any]) -> Iterator[str]:
    ratings = stats["ratings"]
    if ratings["missing"]:
        total = ratings["given"] + ratings["missing"]
        yield f"- {ratings['missing']:,} of {total:,} ratings are missing (-1 or -2)"
        yield f"- {stats['undecided_questions']:,} questions are undecided for that reason"


def long2rag_datasheet(manifest: Mapping[str, Any]) -> str:
    """That of `judge build long2rag`."""
    stats = manifest["statistics"]
    return datasheet(
        f"Datasheet of a collection of {sum(stats['questions'].values()):,} questions",
        "Made by `judge build long2rag` of nuggetjudge, by the protocol of Long2RAG\n"
        "(arXiv:2410.23000), to measure how much of what documents offer is taken up in answers.",
        {
            "Where it comes from": [
                *sources(manifest["inputs"]),
                "",
                "Seed questions and documents were given. Who wrote them, when, in which language "
                "and on\nwhat terms they may be passed on is not known to the program: the maker "
                "has to add it.",
            ],
            "What was generated, and by what": generated(manifest, _MADE_FOR_LONG2RAG),
            "Numbers it was made with": _numbers_of_long2rag(manifest["config"]),
            "What is in it": _content_of_long2rag(stats),
            "What people verified": _verified(manifest),
            "What was left out, and why": left_out(manifest) or ["Nothing."],
            "Known limits": _LIMITS_OF_LONG2RAG,
        },
    )


def _numbers_of_long2rag(config: Mapping[str, Any]) -> Iterator[str]:
    numbers, points = config["long2rag"], config["keypoints"]
    yield f"- a seed question is kept from a score of {numbers['least']} on each of five criteria"
    yield f"- new questions asked for: {numbers['evolve']} in depth and in width, of each seed"
    yield f"- readings of each window of a document, at most: {points['rounds']}"
    yield f"- a key point answers the question from a score of {points['threshold']} on"


def _content_of_long2rag(stats: Mapping[str, Any]) -> Iterator[str]:
    yield from table(long2rag_files.statistics_table(stats))
    for by in ("domain", "category"):
        if groups := stats[f"by_{by}"]:
            rows = [
                [plain(g), str(n["questions"]), str(n["key_points"])] for g, n in groups.items()
            ]
            yield ""
            yield from table([[by, "questions", "key points"], *rows])


def _verified(manifest: Mapping[str, Any]) -> Iterator[str]:
    if (verification := manifest["statistics"]["verification"]) is None:
        yield "Nothing. `verification.csv` is the sheet for it, where there are key points."
        return
    yield "People said of each key point whether its spans support it (grounded), and whether it"
    yield "helps to answer the question (key point). What most of them rejected was dropped."
    yield ""
    yield from sources(manifest["verified_with"])
    yield ""
    yield from table([[plain(name), *counts] for name, *counts in retention_table(verification)])
    yield ""
    for line in agreement_lines(verification):
        yield f"- {line}"
