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

FEWEST_WORDS, MOST_WORDS = 8, 120  # of a request; about 50 are asked for, arXiv:2506.20051

# Made up for this prompt: the town, the ferry and the people are not real.
_EXAMPLE = dspy.Example(
    report=(
        "The car ferry Marrin Star ran aground off Coldhaven on 3 February 2011 with 84 people "
        "aboard. Lifeboats took all of them ashore within five hours; two passengers broke bones. "
        "The inquiry found that the mate, alone on the bridge after a double shift, had fallen "
        "asleep and that the watch alarm had been switched off for months. It blamed the owner, "
        "Selwick Lines, for short crews and poor records. Selwick was fined 1.2 million, sold its "
        "two oldest ships and hired 30 seamen. Coldhaven, which lives on visitors, lost a third "
        "of its summer trade while the pier stayed closed. Since 2013 every ferry on that coast "
        "must carry two officers on the bridge at night."
    ),
    request=(
        "Write a report on the grounding of the ferry Marrin Star off Coldhaven in 2011. Describe "
        "the accident and the rescue, what the inquiry said about its causes and about the "
        "owner, Selwick Lines, and what followed for the company, for the town and its trade, and "
        "for the safety rules of ferries."
    ),
).with_inputs("report")


def _of_fair_length(request: str) -> str:
    n = len(request.split())
    if not FEWEST_WORDS <= n <= MOST_WORDS:
        raise ValueError(f"a request of {n} words, wanted {FEWEST_WORDS} to {MOST_WORDS}")
    return request


class WriteRequest(dspy.Signature):  # type: ignore[misc]
    """Write the request that the report would be a good response to.

    In about 50 words ask for a report: name the topic, with people, place and time as far as one
    must know them, and the aspects to cover. Keep it open-ended. What the report finds, its
    figures, causes and outcomes, is for the writer to say: do not give it away.
    """

    report: str = dspy.InputField(desc="the report that will be written")
    request: Annotated[str, MinLen(1), MaxLen(1_500), AfterValidator(_of_fair_length)] = (
        dspy.OutputField(desc="the request, one paragraph")
    )


class RequestWriter(Judge):
    """Makes an open-ended request from a report: `judge(report=).request`, one line of text.

    One worked example goes with it, as a demo of the predictor.

    Raises: JudgeError, also for a request below 8 or above 120 words (unparseable), or a blank
        report (not asked).
    Source: arXiv:2506.20051, report requests.
    """

    version = "2"
    twins: Mapping[str, Twin] = {"compose": lexical_writing.write_request}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.compose = dspy.Predict(WriteRequest)
        self.compose.demos = [_EXAMPLE]

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
