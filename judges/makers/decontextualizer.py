"""What does a document say, in passages that each can be understood alone?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator

from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...metrics.length import token_counter
from ...records.judgements import Provenance
from ..base import Judge
from ..lexical import writing as lexical_writing
from ..lexical.filling import filled
from ..lexical.segments import MOST_PASSAGES, MOST_TOKENS, n_words, segments
from .request import CRUX_SAMPLING


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
