"""What would someone ask for who gets this report?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator

from ...backends.errors import JudgeError, JudgeOutputError
from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...records.judgements import Provenance, Reason
from ..base import Judge
from ..lexical import writing as lexical_writing
from ..lexical.filling import UNKNOWN
from .examples import REQUEST, add_example

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
