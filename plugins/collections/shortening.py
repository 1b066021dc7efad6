"""Makes a document shorter for a question: the excerpt that helps most, or a summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import dspy
from annotated_types import MaxLen

from ...backends.adapter import SETTING
from ...backends.errors import JudgeOutputError
from ...backends.gateway import Reply
from ...backends.prompt import Baseline
from ...judges.base import Judge
from ...judges.lexical.overlap import content_words
from ...judges.lexical.segments import n_words, sentences
from ...records.judgements import Provenance, Reason

Way = Literal["snippet", "summary"]
MAX_CHARACTERS = 12_000  # of a reply
MAX_EXCESS = 2  # times the words that were asked for; a longer text is rejected


class TakeSnippet(dspy.Signature):  # type: ignore[misc]
    """Copy the excerpt of the document that helps most to answer the question.

    - The excerpt is contiguous and copied exactly, with no word changed, added or left out.
    - It begins and ends with whole sentences and has at most the given number of words.
    - Return an empty text if nothing in the document helps to answer the question.
    """

    question: str = dspy.InputField(desc="the question of the user")
    document: str = dspy.InputField(desc="a document that was retrieved for the question")
    words: Annotated[int, SETTING] = dspy.InputField(desc="most words of the text")
    text: Annotated[str, MaxLen(MAX_CHARACTERS)] = dspy.OutputField(
        desc="the excerpt; empty if nothing helps"
    )


class SummarizeDocument(dspy.Signature):  # type: ignore[misc]
    """Summarize what the document says that helps to answer the question.

    - Keep names, numbers, dates and the reasons that the document gives.
    - Use only the document, not your own knowledge. Do not answer the question.
    - Use at most the given number of words.
    - Return an empty text if nothing in the document helps to answer the question.
    """

    question: str = dspy.InputField(desc="the question of the user")
    document: str = dspy.InputField(desc="a document that was retrieved for the question")
    words: Annotated[int, SETTING] = dspy.InputField(desc="most words of the text")
    text: Annotated[str, MaxLen(MAX_CHARACTERS)] = dspy.OutputField(
        desc="the summary; empty if nothing helps"
    )


def take_snippet(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Take sentences, beginning with the one that shares most words with the question."""
    wanted = content_words(inputs["question"])
    spoken = sentences(inputs["document"])
    shared = [len(wanted & content_words(text)) for text in spoken]
    if not any(shared):
        return {"text": ""}
    return {"text": " ".join(_take(spoken[shared.index(max(shared)) :], inputs["words"]))}


def summarize_document(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Take the sentences that share most words with the question, in their order."""
    wanted = content_words(inputs["question"])
    spoken = [text for text in sentences(inputs["document"]) if wanted & content_words(text)]
    best = sorted(spoken, key=lambda text: -len(wanted & content_words(text)))
    chosen = set(_take(best, inputs["words"]))
    return {"text": " ".join(text for text in spoken if text in chosen)}


def _take(texts: list[str], most: int) -> list[str]:
    taken: list[str] = []
    for text in texts:
        if taken and n_words(" ".join([*taken, text])) > most:
            break
        taken.append(text)
    return [" ".join(taken[0].split()[:most])] if n_words(" ".join(taken)) > most else taken


class DocumentShortener(Judge):
    """Shortens a document: `judge(question=, document=, way="snippet", words=100).text`.

    `snippet` is copied from the document, `summary` is written. An empty text means that nothing in
    the document helps to answer the question. One call.

    Raises: JudgeError, also for more than twice the words (unparseable).
    Source: arXiv:2410.23000, section 5.6, which prints no prompts.
    """

    version = "1"
    examples: Mapping[str, str | list[str]] = {"way": ["snippet", "summary"]}
    baselines: Mapping[str, Baseline] = {"snippet": take_snippet, "summary": summarize_document}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.snippet = dspy.Predict(TakeSnippet)
        self.summary = dspy.Predict(SummarizeDocument)

    async def decide(  # type: ignore[override]
        self, *, question: str, document: str, way: Way = "snippet", words: int = 100
    ) -> dspy.Prediction:
        """One call."""
        return dspy.Prediction(text=(await self.shorten(question, document, way, words))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: as many words as are allowed."""
        return reply._replace(values={"text": "word " * inputs["words"]})

    async def shorten(
        self, question: str, document: str, way: Way, words: int
    ) -> tuple[str, list[Provenance]]:
        """The text and the provenance of the call."""
        if words < 1:
            raise ValueError(f"words must be 1 or more, got {words}")
        reply = await self.ask(way, question=question, document=document, words=words)
        text = " ".join(reply.values["text"].split())
        if (n := n_words(text)) > MAX_EXCESS * words:
            what = f"the {way} has {n:,} words, wanted at most {words:,}"
            raise JudgeOutputError(Reason.UNPARSEABLE, what, str(reply.values))
        return text, [reply.provenance]
