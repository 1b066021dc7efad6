"""By which criteria should an answer to the question be judged?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator
from typing_extensions import TypedDict

from ....backends.adapter import SETTING
from ....backends.errors import JudgeOutputError
from ....backends.gateway import Reply
from ....backends.prompt import Baseline
from ....backends.replies.schema import AtMost
from ....judges.base import Judge
from ....judges.lexical.segments import n_words
from ....judges.makers.keypoints import windows
from ....judges.makers.lists import fill_up
from ....records.judgements import Provenance, Reason
from . import lexical as lexical

CRITERIA = 20  # of one topic; those of ResearchRubrics have 20 to 43
MAX_WORDS = 4000  # of documents in a call
MAX_WEIGHT = 5


class WrittenCriterion(TypedDict):
    """A criterion as a reply gives it."""

    text: Annotated[str, MinLen(1), MaxLen(400)]
    weight: int
    kind: Literal["binary", "three_way"]


def _sound(criteria: list[WrittenCriterion]) -> list[WrittenCriterion]:
    for one in criteria:
        if not one["text"].strip():
            raise ValueError("a criterion without text")
        if not 0 < abs(one["weight"]) <= MAX_WEIGHT:
            raise ValueError(f"a weight of {one['weight']}, wanted 1 to 5 or -1 to -5")
    return criteria


class WriteCriteria(dspy.Signature):  # type: ignore[misc]
    """Write criteria by which answers to the question will be graded.

    - Each criterion asks for one thing that a reader can check in an answer, such as a fact with
      its name or number, a comparison or a caveat.
    - Take each criterion from the documents, and word it so that it is clear without them.
    - Do not ask for anything that a known criterion covers.
    - Set `weight` from 5, for what every good answer contains, down to 1, for what is useful but
      not needed. For a serious fault that an answer may have, set -1 to -5 and describe the fault
      itself, so that an answer with the fault meets the criterion.
    - Set `kind` to binary if the criterion can only be met or not met, and to three_way if an
      answer can meet it in part.
    - Write at most as many criteria as `wanted` says.
    """

    question: str = dspy.InputField(desc="the question that the answers respond to")
    documents: list[str] = dspy.InputField(desc="the documents that a good answer is based on")
    known: list[str] = dspy.InputField(desc="the criteria that exist already")
    wanted: Annotated[int, SETTING] = dspy.InputField(desc="the most new criteria to write")
    criteria: Annotated[list[WrittenCriterion], AtMost("wanted"), AfterValidator(_sound)] = (
        dspy.OutputField(desc="the new criteria, the most important first")
    )


class MadeCriterion(NamedTuple):
    """A criterion as the model wrote it; see WriteCriteria."""

    text: str
    weight: int
    kind: str


class RubricWriter(Judge):
    """Make a rubric: `judge(question=, documents=[...], n=20).criteria`, at most n MadeCriterion.

    Documents are read in windows of `MAX_WORDS` words, one call each. A call shows the criteria so
    far and asks for its share of the missing ones. Criteria with the same words become one.

    Raises: JudgeError from a call, also if it gives no criterion with a weight above 0.
    """

    name = "rubric_writer"
    version = "3"
    baselines: Mapping[str, Baseline] = {"write": lexical.write_criteria}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.write = dspy.Predict(WriteCriteria)

    async def decide(  # type: ignore[override]
        self, *, question: str, documents: Sequence[str], n: int = CRITERIA
    ) -> dspy.Prediction:
        """Write criteria from all documents, window by window."""
        return dspy.Prediction(criteria=(await self.make(question, documents, n))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: the number of wanted criteria."""
        texts = [one["text"] for one in reply.values["criteria"]]
        made = [
            WrittenCriterion(text=text, weight=1, kind="three_way")
            for text in fill_up(texts, inputs["wanted"])
        ]
        return reply._replace(values={"criteria": made})

    async def make(
        self, question: str, documents: Sequence[str], n: int = CRITERIA
    ) -> tuple[list[MadeCriterion], list[Provenance]]:
        """Write the criteria, at most n (>= 1); return them and the provenance of each call."""
        if n < 1:
            raise ValueError(f"n must be 1 or more, got {n}")
        parts = _parts(documents)
        criteria: dict[str, MadeCriterion] = {}
        calls: list[Provenance] = []
        for at, part in enumerate(parts):
            wanted = -(-(n - len(criteria)) // (len(parts) - at))
            if wanted < 1:
                break
            known = [one.text for one in criteria.values()]
            reply = await self.ask(
                "write", question=question, documents=part, known=known, wanted=wanted
            )
            calls.append(reply.provenance)
            for one in reply.values["criteria"][:wanted]:
                text = " ".join(one["text"].split())
                made = MadeCriterion(text, one["weight"], one["kind"])
                criteria.setdefault(text.casefold().rstrip(". "), made)
        if not any(one.weight > 0 for one in criteria.values()):
            raise JudgeOutputError(Reason.INCOMPLETE, "no criterion to meet", str(list(criteria)))
        return list(criteria.values()), calls


def _parts(documents: Sequence[str]) -> list[list[str]]:
    """The documents in as few windows as possible; a document that is too long is cut."""
    parts: list[list[str]] = [[]]
    size = 0
    for document in documents:
        for text in windows(document, MAX_WORDS, 0, n_words):
            length = n_words(text)
            if size and size + length > MAX_WORDS:
                parts.append([])
                size = 0
            parts[-1].append(text)
            size += length
    return parts
