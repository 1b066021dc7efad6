"""Judges that make CRUX's texts: requests and sub-questions of reports, passages of documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator

from ...backends.adapter import SETTING
from ...backends.errors import JudgeError, JudgeOutputError
from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...backends.replies.schema import AtMost
from ...metrics.length import token_counter
from ...records.judgements import Provenance, Reason
from ..base import Judge
from ..lexical import writing as lexical_writing
from ..lexical.filling import UNKNOWN, filled
from ..lexical.segments import MOST_PASSAGES, MOST_TOKENS, n_words, segments
from .examples import REQUEST, SUBQUESTIONS, add_example
from .lists import Inputs, ListMaker, Spans

FEWEST_WORDS, MOST_WORDS = 8, 120  # of a request; about 50 are asked for, arXiv:2506.20051
# Of the texts that CRUX generates (requests, questions, passages), appendix A.1.
CRUX_SAMPLING = {"temperature": 0.7, "top_p": 0.95}


def _of_fair_length(request: str) -> str:
    n = len(request.split())
    if not FEWEST_WORDS <= n <= MOST_WORDS:
        raise ValueError(f"a request of {n} words, wanted {FEWEST_WORDS} to {MOST_WORDS}")
    return request


class WriteRequest(dspy.Signature):  # type: ignore[misc]
    """Write the request for which the report is a good response.

    - Ask for a report, in one paragraph of about 50 words.
    - Name the topic, with the people, places and dates that identify it, and the aspects to cover.
    - Keep the request open-ended. Do not reveal what the report finds, such as its figures, the
      causes and the outcomes.
    """

    report: str = dspy.InputField(desc="the report that the request asks for")
    request: Annotated[str, MinLen(1), MaxLen(1_500), AfterValidator(_of_fair_length)] = (
        dspy.OutputField(desc="the request, in one paragraph")
    )


class RequestWriter(Judge):
    """Makes an open-ended request from a report: `judge(report=).request`, one line of text.

    Args:
        example: show one worked example, made up for the prompt.

    Raises: JudgeError, also for a request below 8 or above 120 words (unparseable), or a blank
        report (not asked).
    Source: arXiv:2506.20051, report requests.
    """

    version = "3"
    sampling: Mapping[str, float] = CRUX_SAMPLING
    twins: Mapping[str, Twin] = {"compose": lexical_writing.write_request}

    def __init__(self, *args: Any, example: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        self.compose = dspy.Predict(WriteRequest)
        if example:
            add_example(self.compose, REQUEST)

    async def decide(self, *, report: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        return dspy.Prediction(request=(await self.write(report))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: some request."""
        return reply._replace(values={"request": reply.values["request"] or UNKNOWN})

    async def write(self, report: str) -> tuple[str, Provenance]:
        """The request and the provenance of the call."""
        if not report.strip():
            raise JudgeError(Reason.NO_PASSAGE, "the report is blank")
        reply = await self.ask("compose", report=report)
        if not (request := " ".join(reply.values["request"].split())):
            raise JudgeOutputError(Reason.UNPARSEABLE, "no topic was found in the report", "")
        return request, reply.provenance


QUESTIONS = 15  # of one report; arXiv:2506.20051 has 15 for DUC'04 and 10 for Multi-News
ROUNDS = 3  # most calls about one report


class WriteSubQuestions(dspy.Signature):  # type: ignore[misc]
    """Write questions that the report answers and that together cover the information in it.

    - Write diverse questions. Each asks about another fact or aspect of the report.
    - Each question is self-contained: a reader who has never seen the report understands it. Use
      names, places and dates instead of words such as "he", "the company" or "in the report".
    - Do not repeat or paraphrase a known question.
    - Write as many questions as `wanted` says, and fewer only if the report answers no more.
    """

    report: str = dspy.InputField(desc="the report to cover")
    known: list[str] = dspy.InputField(desc="the questions that exist already")
    wanted: Annotated[int, SETTING] = dspy.InputField(desc="how many new questions to write")
    questions: Annotated[list[Annotated[str, MaxLen(400)]], AtMost("wanted")] = dspy.OutputField(
        desc="the new questions, without the known ones"
    )


class SubQuestionGenerator(ListMaker):
    """Makes questions from a report: `judge(report=, n=15).questions`, at most n, all different.

    A model that returns too few is shown those and asked for the rest, as long as each call
    brings something new. Fewer than n after that are returned as they are: a short report may
    not answer more. A reply is read on one line each, without blank entries; questions that
    differ in case, white space or the final question mark alone are one; those beyond n are cut.

    Args:
        rounds: most calls for one report.
        example: show one worked example, made up for the prompt.

    Raises: JudgeError, also when no question came at all, or the report is blank (not asked).
    Source: arXiv:2506.20051, sub-question generation.
    """

    name = "subquestions"
    kind = "questions"
    made_from = ("report", "n")
    predictor, output = "write", "questions"
    version = "3"
    sampling: Mapping[str, float] = CRUX_SAMPLING
    twins: Mapping[str, Twin] = {"write": lexical_writing.write_questions}

    def __init__(
        self, *args: Any, rounds: int = ROUNDS, example: bool = True, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        if rounds < 1:
            raise ValueError(f"rounds must be 1 or more, got {rounds}")
        self.rounds = rounds
        self.write = dspy.Predict(WriteSubQuestions)
        if example:
            add_example(self.write, SUBQUESTIONS)

    async def decide(self, *, report: str, n: int = QUESTIONS) -> dspy.Prediction:  # type: ignore[override]
        """One call, or up to `rounds`."""
        return dspy.Prediction(questions=(await self.generate(report, n))[0])

    async def made(self, *, report: str, n: int = QUESTIONS) -> list[str]:  # type: ignore[override]
        """See ListMaker."""
        return (await self.generate(report, n))[0]

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """See ListMaker: all questions at once, as many as are wanted."""
        questions = list(texts)
        inputs_of_call = {"report": inputs["report"], "known": [], "wanted": len(questions)}
        return {**inputs_of_call, "questions": questions}

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: as many questions as are wanted."""
        questions = filled(reply.values["questions"], inputs["wanted"])
        return reply._replace(values={"questions": questions})

    async def generate(self, report: str, n: int = QUESTIONS) -> tuple[list[str], list[Provenance]]:
        """The questions, at most n (>= 1), and one provenance per call."""
        if n < 1:
            raise ValueError(f"n must be 1 or more, got {n}")
        if not report.strip():
            raise JudgeError(Reason.NO_PASSAGE, "the report is blank")
        questions: dict[str, str] = {}
        calls: list[Provenance] = []
        for _ in range(self.rounds):
            n_known = len(questions)
            reply = await self.ask(
                "write", report=report, known=list(questions.values()), wanted=n - n_known
            )
            calls.append(reply.provenance)
            for text in reply.values["questions"]:
                question = " ".join(text.split())
                if key := _key(question):
                    questions.setdefault(key, question)
            if len(questions) >= n or len(questions) == n_known:
                break
        if not questions:
            raise JudgeOutputError(Reason.INCOMPLETE, "no question", str(reply.values))
        return list(questions.values())[:n], calls


def _key(question: str) -> str:
    return question.casefold().rstrip("? ")


def _a_few(passages: list[str]) -> list[str]:
    n = sum(bool(text.strip()) for text in passages)
    if not 1 <= n <= MOST_PASSAGES:
        raise ValueError(f"{n} passages, wanted 1 to {MOST_PASSAGES}")
    return passages


PASSAGES, WORDS = 3, 200  # asked for: passages of a part, unless it has so few words


class WritePassages(dspy.Signature):  # type: ignore[misc]
    """Rewrite the part of a document as 2 or 3 standalone passages of about 200 words each.

    - A reader of one passage sees nothing else. Replace pronouns and vague references, such as
      "the company" or "last week", by the names, places and dates that the document gives.
    - Otherwise keep the original wording and phrasing. Keep every fact of the part, in its order,
      and add none.
    - Use `before` only to find out what a reference means. Do not rewrite it.
    - Write only one passage if the part has up to 200 words. If the part is too long for 3
      passages of 200 words, write 3 longer ones rather than leave out a fact.
    """

    before: str = dspy.InputField(desc="the text before the part; empty at the start")
    part: str = dspy.InputField(desc="the part of the document to rewrite")
    passages: Annotated[
        list[Annotated[str, MaxLen(8_000)]],
        MinLen(1),
        MaxLen(MOST_PASSAGES),
        AfterValidator(_a_few),
    ] = dspy.OutputField(desc="the passages, in the order of the part")


class Decontextualizer(Judge):
    """Makes standalone passages from a document: `judge(document=).passages`, in its order.

    A long document is cut into segments first (lexical/segments.py), each of which is one call
    that also shows the segment before it. Blank passages are dropped. A blank document has none,
    without a call.

    Args:
        most_tokens: in a segment.
        count: the tokens of a text; words between white space if not given. tokenizer: see
            token_counter; it takes the place of `count`.

    Raises: JudgeError, also for a segment that came back as no passage or as more than 6
        (unparseable).
    Source: arXiv:2506.20051, passages of 2 to 3 to a segment of at most 1,024 tokens.
    """

    version = "3"
    sampling: Mapping[str, float] = CRUX_SAMPLING
    twins: Mapping[str, Twin] = {"rewrite": lexical_writing.write_passages}

    def __init__(
        self,
        *args: Any,
        most_tokens: int = MOST_TOKENS,
        count: Callable[[str], int] = n_words,
        tokenizer: str = "",
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        if most_tokens < 1:
            raise ValueError(f"most_tokens must be 1 or more, got {most_tokens}")
        self.most_tokens = most_tokens
        self.count = token_counter(tokenizer) if tokenizer else count
        self.rewrite = dspy.Predict(WritePassages)

    async def decide(self, *, document: str) -> dspy.Prediction:  # type: ignore[override]
        """All segments at once."""
        return dspy.Prediction(passages=(await self.split(document))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: as many passages as are asked for."""
        n = PASSAGES if n_words(inputs["part"]) > WORDS else 1
        return reply._replace(values={"passages": filled(reply.values["passages"], n)})

    async def split(self, document: str) -> tuple[list[str], list[Provenance]]:
        """The passages of all segments, in order, and one provenance per call."""
        parts = segments(document, self.most_tokens, self.count)
        calls = map(self._rewrite, ["", *parts], parts)
        rewritten = await asyncio.gather(*calls)
        return [text for texts, _ in rewritten for text in texts], [call for _, call in rewritten]

    async def _rewrite(self, before: str, part: str) -> tuple[list[str], Provenance]:
        reply = await self.ask("rewrite", before=before, part=part)
        passages = [text for passage in reply.values["passages"] if (text := passage.strip())]
        return passages, reply.provenance
