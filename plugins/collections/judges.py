"""The judges that only the making of collections asks: requests, passages, new questions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator

from ...backends.adapter import SETTING
from ...backends.errors import JudgeError, JudgeOutputError
from ...backends.gateway import Reply
from ...backends.prompt import Baseline
from ...backends.replies.schema import AtMost
from ...judges.base import Judge
from ...judges.labels import YesNo
from ...judges.lexical.segments import MAX_TOKENS, n_words, segments
from ...judges.makers.lists import FERRY, UNKNOWN, add_example, fill_up
from ...judges.questions import CRUX_SAMPLING
from ...metrics.length import token_counter
from ...records.judgements import Provenance, Reason
from . import lexical
from .lexical import MAX_PASSAGES

REQUEST: dict[str, Any] = {
    "report": FERRY,
    "request": (
        "Write a report on the grounding of the ferry Marrin Star off Coldhaven in 2011. Describe "
        "the accident and the rescue, what the inquiry said about its causes and about the "
        "owner, Selwick Lines, and what followed for the company, for the town and its trade, and "
        "for the safety rules of ferries."
    ),
}

MIN_WORDS, MAX_WORDS = 8, 120  # of a request; about 50 are asked for, arXiv:2506.20051


def _of_fair_length(request: str) -> str:
    n = len(request.split())
    if not MIN_WORDS <= n <= MAX_WORDS:
        raise ValueError(f"a request of {n} words, wanted {MIN_WORDS} to {MAX_WORDS}")
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
    baselines: Mapping[str, Baseline] = {"compose": lexical.write_request}

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


def _a_few(passages: list[str]) -> list[str]:
    n = sum(bool(text.strip()) for text in passages)
    if not 1 <= n <= MAX_PASSAGES:
        raise ValueError(f"{n} passages, wanted 1 to {MAX_PASSAGES}")
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
        MaxLen(MAX_PASSAGES),
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
    baselines: Mapping[str, Baseline] = {"rewrite": lexical.write_passages}

    def __init__(
        self,
        *args: Any,
        most_tokens: int = MAX_TOKENS,
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
        return reply._replace(values={"passages": fill_up(reply.values["passages"], n)})

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


CRITERIA = ("uncommon", "clear", "unambiguous", "complex", "opinion")


class ScoreQuestion(dspy.Signature):  # type: ignore[misc]
    """Decide for each of five criteria whether the question meets it.

    - Judge the question as it is written, and each criterion separately.
    - Do not answer the question.
    """

    question: str = dspy.InputField(desc="the question to judge")
    uncommon: YesNo = dspy.OutputField(
        desc="yes if neither common knowledge nor one simple search answers the question"
    )
    clear: YesNo = dspy.OutputField(desc="yes if the question's topic and its scope are clear")
    unambiguous: YesNo = dspy.OutputField(
        desc="yes if the question has only one interpretation and every reference in it is clear"
    )
    complex: YesNo = dspy.OutputField(
        desc="yes if the question needs deep thought, several reasoning steps or a long explanation"
    )
    opinion: YesNo = dspy.OutputField(
        desc="yes if the question asks for a personal view or judgement"
    )


class QuestionScorer(Judge):
    """Gives a question a point for each criterion met: `judge(question=).scores`, 0 or 1 by name.

    Source: arXiv:2410.23000, appendix B, whose five criteria these are; a seed question needs at
        least 4 of the 5 points. Differs: one label a criterion, where the paper asks for the sum.
    """

    version = "3"
    baselines: Mapping[str, Baseline] = {"score": lexical.score_question}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.score = dspy.Predict(ScoreQuestion)

    async def decide(self, *, question: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        return dspy.Prediction(scores=(await self.scores(question))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: all points, so that the question is kept."""
        return reply._replace(values=dict.fromkeys(CRITERIA, YesNo.YES))

    async def scores(self, question: str) -> tuple[dict[str, int], list[Provenance]]:
        """The five points, each 0 or 1, in the order of CRITERIA, and the call's provenance."""
        reply = await self.ask("score", question=question)
        points = {name: int(reply.values[name] == YesNo.YES) for name in CRITERIA}
        return points, [reply.provenance]


Way = Literal["depth", "width"]
NewQuestions = Annotated[list[Annotated[str, MaxLen(600)]], MinLen(1), AtMost("wanted")]


class DeepenQuestion(dspy.Signature):  # type: ignore[misc]
    """Write more complex versions of the question.

    - Make it more complex in one of these ways: ask for more depth, replace something general by a
      concrete case, require one more step of reasoning, or add a condition.
    - Each new question is 10 to 20 words longer than the given one.
    - Each stays closely related to the domain, belongs to the category and has the style of the
      given question. It asks about something specific in the domain that few people ask about.
    - Each needs a long answer with several specific details, which documents can support. It is
      neither common knowledge nor vague or ambiguous.
    - Each can be understood on its own, and no two ask the same thing.
    """

    question: str = dspy.InputField(desc="the given question")
    domain: Annotated[str, SETTING] = dspy.InputField(
        desc="the field that the new questions are about; if empty, that of the given question"
    )
    category: Annotated[str, SETTING] = dspy.InputField(
        desc="the kind of question to write; if empty, that of the given question"
    )
    wanted: Annotated[int, SETTING] = dspy.InputField(desc="how many new questions to write")
    questions: NewQuestions = dspy.OutputField(desc="the new questions")


class WidenQuestion(dspy.Signature):  # type: ignore[misc]
    """Write new questions on different subjects in the same field as the question.

    - Each has a length, a difficulty and a style similar to those of the given question.
    - Each is closely related to the domain and belongs to the category. It asks about something
      specific in the domain that few people ask about. Prefer questions that need deep thought,
      a detailed explanation or several steps of reasoning.
    - Each needs a long answer with several specific details, which documents can support. It is
      neither common knowledge nor vague or ambiguous.
    - Each can be understood without the given question, and no two have the same subject.
    """

    question: str = dspy.InputField(desc="the given question")
    domain: Annotated[str, SETTING] = dspy.InputField(
        desc="the field that the new questions are about; if empty, that of the given question"
    )
    category: Annotated[str, SETTING] = dspy.InputField(
        desc="the kind of question to write; if empty, that of the given question"
    )
    wanted: Annotated[int, SETTING] = dspy.InputField(desc="how many new questions to write")
    questions: NewQuestions = dspy.OutputField(desc="the new questions")


class QuestionEvolver(Judge):
    """Makes new questions from one: `judge(question=, way="depth", n=1).questions`, at most n.

    `depth` asks for more about its subject, `width` about other subjects of its domain and
    category. One call. Blank questions do not count, nor those that differ from the first one or
    from each other in case, white space and the final question mark alone; those beyond n are cut.

    Raises: JudgeError, also when no new question came (incomplete).
    Source: arXiv:2410.23000, in-depth and in-width evolution.
    """

    version = "3"
    examples: Mapping[str, str | list[str]] = {"way": ["depth", "width"]}
    baselines: Mapping[str, Baseline] = {
        "depth": lexical.deepen_question,
        "width": lexical.widen_question,
    }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.depth = dspy.Predict(DeepenQuestion)
        self.width = dspy.Predict(WidenQuestion)

    async def decide(  # type: ignore[override]
        self, *, question: str, way: Way, n: int = 1, domain: str = "", category: str = ""
    ) -> dspy.Prediction:
        """One call."""
        return dspy.Prediction(questions=(await self.evolve(question, way, n, domain, category))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: as many questions as are wanted."""
        questions = fill_up(reply.values["questions"], inputs["wanted"])
        return reply._replace(values={"questions": questions})

    async def evolve(
        self, question: str, way: Way, n: int = 1, domain: str = "", category: str = ""
    ) -> tuple[list[str], list[Provenance]]:
        """The new questions, 1 to n (>= 1), and the provenance of the call."""
        if n < 1:
            raise ValueError(f"n must be 1 or more, got {n}")
        reply = await self.ask(way, question=question, domain=domain, category=category, wanted=n)
        evolved: dict[str, str] = {}
        for text in reply.values["questions"]:
            if (key := _key(text)) not in ("", _key(question)):
                evolved.setdefault(key, " ".join(text.split()))
        if not evolved:
            raise JudgeOutputError(Reason.INCOMPLETE, "no new question", str(reply.values))
        return list(evolved.values())[:n], [reply.provenance]


def _key(question: str) -> str:
    return " ".join(question.split()).casefold().rstrip("? ")
