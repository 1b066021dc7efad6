"""What `judge generate` writes: rows of TREC RAG answers, counts, a datasheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...records.answers import count_words
from ...records.judgements import NOT_MADE, Reason
from ...records.rows import Topic
from ..engine.making import datasheet, generated, left_out, plain, sources, table

TEAM = "nuggetjudge"  # the layout of 2025 wants one
COUNTED = (  # of a run; a passage counts once for each context that has it
    *("topics", "answers", "words", "sentences", "cited_sentences", "citations"),
    *("passages", "cited_passages"),
)
_MADE = {"answer_writer": "the answers, from the question and the passages"}
_LIMITS = (
    "- No person has read the answers. That a passage is cited does not say that it supports the",
    "  sentence: `judge run support` asks that.",
    "- The references of an answer are all passages that its writer was given, cited or not.",
    "- The writer saw the texts of the passages, not their titles.",
)


def answer_row(
    run_id: str,
    topic: Topic,
    references: Sequence[str],
    answer: Sequence[Mapping[str, Any]],
    layout: str,
) -> dict[str, Any]:
    """One line of a run in the layout of TREC RAG 2024 (`rag24`) or 2025 (`rag25`).

    Args:
        answer: `text` and `citations` of each sentence, 0-based positions in the references.
    """
    if layout == "rag25":
        whose = {"team_id": TEAM, "run_id": run_id, "type": "automatic"}
        metadata = {**whose, "narrative_id": topic.id, "narrative": topic.text}
        return {"metadata": metadata, "references": references, "answer": answer}
    return {
        "run_id": run_id,
        "topic_id": topic.id,
        "topic": topic.text,
        "references": references,
        "response_length": _n_words(answer),
        "answer": answer,
    }


def not_made_row(
    run_id: str, topic: Topic, references: Sequence[str], reason: Reason, layout: str
) -> dict[str, Any]:
    """The line in the place of an answer that could not be made: for other tools an empty one."""
    return {**answer_row(run_id, topic, references, [], layout), NOT_MADE: reason}


def answer_counts(references: Sequence[str], answer: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """What one answer adds to the counts of its run."""
    cited = [index for sentence in answer for index in sentence["citations"]]
    return {
        "answers": 1,
        "words": _n_words(answer),
        "sentences": len(answer),
        "cited_sentences": sum(bool(sentence["citations"]) for sentence in answer),
        "citations": len(cited),
        "passages": len(references),
        "cited_passages": len(set(cited)),
    }


def statistics_table(stats: Mapping[str, Any]) -> list[list[str]]:
    """The counts of each run as rows of a table, the header first; - where nothing was made."""
    rows = [["run", "answers", "words each", "sentences each", "with citation", "passages cited"]]
    for run_id, n in stats["runs"].items():
        each = [_mean(n["words"], n["answers"]), _mean(n["sentences"], n["answers"])]
        answers = _share(n["answers"], n["topics"])
        cited = _share(n["cited_sentences"], n["sentences"])
        rows.append([run_id, answers, *each, cited, _share(n["cited_passages"], n["passages"])])
    return rows


def answers_datasheet(manifest: Mapping[str, Any]) -> str:
    """That of `judge generate`."""
    data = manifest["data"]
    header, *rows = statistics_table(manifest["statistics"])
    reasons = manifest["unjudged_by_reason"].items()
    missing = [f"- {n:,} answers were not made ({reason})" for reason, n in reasons]
    return datasheet(
        f"Datasheet of answers: runs {data['runs']:,}, topics {data['topics']:,}",
        "Written by `judge generate` of nuggetjudge from what retrieval runs found.",
        {
            "What they were written from": sources(manifest["inputs"]),
            "What was generated, and by what": generated(manifest, _MADE),
            "Numbers it was made with": _numbers(manifest["config"]["generate"]),
            "What is in it": table([header, *([plain(run), *cells] for run, *cells in rows)]),
            "What was left out, and why": [*missing, *left_out(manifest)] or ["Nothing."],
            "Known limits": _LIMITS,
        },
    )


def _numbers(numbers: Mapping[str, Any]) -> Iterator[str]:
    yield f"- passages given: the first {numbers['k']} of a topic's ranking"
    yield f"- words of an answer, at most: {numbers['words']}"
    yield f"- citations of a sentence, at most: {numbers['citations']}"
    own = "the writer's" if numbers["instructions"] is None else "of one's own"
    yield f"- instructions: {own}, named by the hash of the prompts above"


def _n_words(answer: Sequence[Mapping[str, Any]]) -> int:
    return count_words(" ".join(sentence["text"] for sentence in answer))


def _mean(total: int, n: int) -> str:
    return f"{total / n:.1f}" if n else "-"


def _share(part: int, n: int) -> str:
    return f"{part:,} of {n:,}" if n else "-"
