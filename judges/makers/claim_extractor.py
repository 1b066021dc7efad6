"""Which claims does an answer make, one by one?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen

from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...backends.replies.schema import AtMost
from ...records.judgements import Provenance
from ..lexical import keypoints as lexical_keypoints
from ..lexical.filling import filled
from ..lexical.segments import sentences
from .examples import CLAIMS, add_example
from .lists import Inputs, ListMaker, Spans


class ExtractClaims(dspy.Signature):  # type: ignore[misc]
    """Split the answer into the claims that it makes.

    - A claim is one sentence that states one thing, which is true or false.
    - Each claim can be understood without the answer. Replace pronouns and vague references by the
      names, places and dates that the answer gives.
    - Follow the answer from its first sentence to its last. Include every claim and add none.
    - No two claims say the same. Stop after the claims of the last sentence.
    - Questions, headings and remarks about the answer itself are not claims. Leave them out.
    """

    answer: str = dspy.InputField(desc="the answer to split")
    claims: Annotated[list[Annotated[str, MaxLen(400)]], AtMost("answer")] = dspy.OutputField(
        desc="the claims, in the order of the answer"
    )


class ClaimExtractor(ListMaker):
    """Splits an answer into atomic claims: `judge(answer=).claims`, a list of texts in its order.

    Blank entries are dropped, and of claims with the same words all but the first. An answer may
    make no claim. A blank one makes none, without a call.

    Args:
        example: show one worked example, made up for the prompt.

    Raises: JudgeError.
    Source: arXiv:2410.23000 scores the precision of answers; the claims are our reading of it.
    """

    name = "claim_extractor"
    kind = "claims"
    made_from = ("answer",)
    predictor, output = "split", "claims"
    version = "4"
    twins: Mapping[str, Twin] = {"split": lexical_keypoints.extract_claims}

    def __init__(self, *args: Any, example: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        self.split = dspy.Predict(ExtractClaims)
        if example:
            add_example(self.split, CLAIMS)

    async def decide(self, *, answer: str) -> dspy.Prediction:  # type: ignore[override]
        """One call, or none."""
        return dspy.Prediction(claims=(await self.extract(answer))[0])

    async def made(self, *, answer: str) -> list[str]:  # type: ignore[override]
        """See ListMaker."""
        return (await self.extract(answer))[0]

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """See ListMaker."""
        return {"answer": inputs["answer"], "claims": list(texts)}

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: a claim for each sentence, at least."""
        n = len(sentences(inputs["answer"]))
        return reply._replace(values={"claims": filled(reply.values["claims"], n)})

    async def extract(self, answer: str) -> tuple[list[str], list[Provenance]]:
        """The claims, and the provenance of the call if there was one."""
        if not answer.strip():
            return [], []
        reply = await self.ask("split", answer=answer)
        claims = (" ".join(text.split()) for text in reply.values["claims"])
        return list(dict.fromkeys(filter(None, claims))), [reply.provenance]
