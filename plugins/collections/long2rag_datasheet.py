"""The datasheet of `judge build long2rag`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...programs.engine.making import (
    datasheet,
    describe_generated,
    list_excluded,
    plain,
    sources,
    table,
)
from .verification import agreement_lines, retention_table


def statistics_table(stats: Mapping[str, Any]) -> list[list[str]]:
    """The statistics as rows of a table, the header first."""
    n_questions = sum(stats["questions"].values())
    rows = [["", "n", "per question"]]

    def add(name: str, n: int, *, each: bool = True) -> None:
        per = f"{n / n_questions:.1f}" if each and n_questions else ""
        rows.append([name, f"{n:,}", per])

    add("seed questions", stats["seeds"]["given"], each=False)
    add("seed questions kept", stats["seeds"]["kept"], each=False)
    for way, n in stats["questions"].items():
        add(f"questions ({way})", n, each=False)
    if stats["questions"]["depth"]:
        add("questions (depth) 10 to 20 words longer", stats["depth_in_range"], each=False)
    for kind, n in stats["types"].items():
        add(f"questions that are {kind}", n, each=False)
    add("sub-questions", stats["subquestions"])
    if stats["documents"] is not None:
        add("documents", stats["documents"]["n"])
        for what, n in stats["key_points"].items():
            add(f"key points {what.replace('_', ' ')}", n)
    if (grid := stats["grid"]) is not None:
        pairs = f"pairs of category and domain with {grid['each']}"
        add(f"{pairs}, of {grid['pairs']:,}", grid["full"], each=False)
    return rows


_MADE_FOR_LONG2RAG = {
    "question_scorer": "the scores of seed questions",
    "question_categorizer": "the categories of seeds that had none",
    "question_evolver": "new questions, from the seeds",
    "question_decomposer": "the types of the questions, and their sub-questions",
    "keypoint_extractor": "the key points, from the documents",
    "keypoint_merger": "the merged key points",
    "keypoint_filter": "which key points answer the question",
}
_LIMITS_OF_LONG2RAG = (
    "- No person has read the questions, and new ones were not scored: read them before use.",
    "- A judge chose the seeds by points; the paper's authors also chose by hand.",
    "- Key points come from the given documents only; no answer is asked for other facts.",
    "- A question made in width has the documents of its seed, unless it was given its own: it may",
    "  have few key points.",
    "- Key points that another judge makes are not comparable with those of the judge named above.",
)


def long2rag_datasheet(manifest: Mapping[str, Any]) -> str:
    """Write the datasheet as Markdown."""
    stats = manifest["statistics"]
    return datasheet(
        f"Datasheet of a collection of {sum(stats['questions'].values()):,} questions",
        "Made by `judge build long2rag` of nuggetjudge, by the protocol of Long2RAG\n"
        "(arXiv:2410.23000), to measure how many key points of the documents an answer states.",
        {
            "Where it comes from": [
                *sources(manifest["inputs"]),
                "",
                "Seed questions and documents were given. Add who wrote them, when, in which "
                "language, and\nunder which licence: nuggetjudge does not know.",
            ],
            "What was generated, and by what": describe_generated(manifest, _MADE_FOR_LONG2RAG),
            "Numbers it was made with": _numbers_of_long2rag(manifest["config"]),
            "What is in it": _content_of_long2rag(stats),
            "What people verified": _describe_verified(manifest),
            "What was left out, and why": list_excluded(manifest) or ["Nothing."],
            "Known limits": _LIMITS_OF_LONG2RAG,
        },
    )


def _numbers_of_long2rag(config: Mapping[str, Any]) -> Iterator[str]:
    numbers, points = config["long2rag"], config["keypoints"]
    least = numbers["min_points"]
    yield f"- a seed question is kept if it scores at least {least} on each of five criteria"
    where = f", for each of the domains {plain(numbers['domains'])}" if numbers["domains"] else ""
    each = f"{numbers['evolve']} in depth and as many in width from each seed{where}"
    yield f"- new questions asked for: {each}"
    if numbers["per_pair"]:
        yield f"- new questions kept: at most {numbers['per_pair']} of a category and domain"
    yield f"- readings of each window of a document, at most: {points['rounds']}"
    yield f"- a key point answers the question if it scores at least {points['threshold']}"


def _content_of_long2rag(stats: Mapping[str, Any]) -> Iterator[str]:
    yield from table(statistics_table(stats))
    for by in ("domain", "category"):
        if groups := stats[f"by_{by}"]:
            rows = [
                [plain(g), str(n["questions"]), str(n["key_points"])] for g, n in groups.items()
            ]
            yield ""
            yield from table([[by, "questions", "key points"], *rows])


def _describe_verified(manifest: Mapping[str, Any]) -> Iterator[str]:
    if (verification := manifest["statistics"]["verification"]) is None:
        yield "Nothing yet. If there are key points, `verification.csv` is the sheet for people."
        return
    yield "People decided whether its spans support each key point (grounded), and whether it"
    yield "helps to answer the question (key point). Points that most rejected were dropped."
    yield ""
    yield from sources(manifest["verified_with"])
    yield ""
    yield from table([[plain(name), *counts] for name, *counts in retention_table(verification)])
    yield ""
    for line in agreement_lines(verification):
        yield f"- {line}"
