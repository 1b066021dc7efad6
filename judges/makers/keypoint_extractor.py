"""Which points of a document should an answer to the question take up, and in which words?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, NamedTuple

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator
from typing_extensions import TypedDict

from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...records.judgements import Provenance
from ..lexical import keypoints as lexical_keypoints
from ..lexical.entailment import judge_point
from ..lexical.filling import filled
from ..lexical.quotes import find_quote
from ..lexical.segments import n_words, segments
from .examples import KEY_POINTS, add_example
from .lists import Inputs, ListMaker, Spans

ROUNDS = 2  # calls about one window, at most
POINTS, SPAN_CHARS = 8, 100  # of a window and of each, as a dry run assumes
MOST_TOKENS, OVERLAP = 2000, 100  # words of a window, and of what it repeats


class FoundPoint(NamedTuple):
    """A key point: what it says, and the spans of the document that it rests on.

    `spans` stand in the document as they are here. `missing` are those that the model quoted and
    that do not: with no span at all, nothing shows that the document says so.
    """

    text: str
    spans: tuple[str, ...]
    missing: tuple[str, ...]


class QuotedPoint(TypedDict):
    """A key point as a reply gives it."""

    text: Annotated[str, MinLen(1), MaxLen(400)]
    spans: Annotated[list[Annotated[str, MaxLen(400)]], MinLen(1), MaxLen(5)]


def _worded(points: list[QuotedPoint]) -> list[QuotedPoint]:
    if not all(point["text"].strip() for point in points):
        raise ValueError("a point without text")
    return points


class FindKeyPoints(dspy.Signature):  # type: ignore[misc]
    """Find the key points: what in the document directly helps to answer the question.

    - A key point is one fact or argument. Write it in one sentence, in the language of the
      document. It can be understood on its own, may summarize, and says no more than the document
      does.
    - Give for each key point the spans that state it. A span is one contiguous excerpt of the
      document, copied exactly, with no word changed, added or left out and without "...".
    - If parts that are apart from each other state a key point together, give one span for each
      part.
    - Do not repeat what a known key point says. Return an empty list if nothing else in the
      document helps to answer the question.
    """

    question: str = dspy.InputField(desc="the question of the user")
    document: str = dspy.InputField(desc="a document or a part of one")
    known: list[str] = dspy.InputField(desc="the key points found in it before")
    points: Annotated[list[QuotedPoint], MaxLen(40), AfterValidator(_worded)] = dspy.OutputField(
        desc="the new key points, in the order of the document, each with 1 to 5 spans"
    )


class KeyPointExtractor(ListMaker):
    """Finds key points: `judge(question=, document=).points`, a list of FoundPoint.

    A document longer than `most_tokens` is read in windows that overlap, all at once. Each window
    is asked about in rounds; a round shows the points there are and asks for what was overlooked,
    and one that brings nothing new is the last. Points that differ in case, white space or the
    final full stop alone are one, with the spans of both; others that say the same are for
    KeyPointMerger. Spans are looked for in the whole document (judges/lexical/quotes.py). A blank
    document has no points, without a call.

    Args:
        rounds: most calls for one window.
        most_tokens: in a window. overlap: of them, most that the window before ended with.
        count: the tokens of a text; words between white space if not given.
        example: show one worked example, made up for the prompt.

    Raises: JudgeError, also where one window or round of several fails.
    Source: arXiv:2410.23000, key point extraction.
    """

    name = "keypoint_extractor"
    kind = "key_points"
    made_from = ("question", "documents")
    predictor, output = "find", "points"
    version = "3"
    twins: Mapping[str, Twin] = {"find": lexical_keypoints.find_key_points}

    def __init__(
        self,
        *args: Any,
        rounds: int = ROUNDS,
        most_tokens: int = MOST_TOKENS,
        overlap: int = OVERLAP,
        count: Callable[[str], int] = n_words,
        example: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        if rounds < 1:
            raise ValueError(f"rounds must be 1 or more, got {rounds}")
        _check_window(most_tokens, overlap)
        self.rounds = rounds
        self.most_tokens = most_tokens
        self.overlap = overlap
        self.count = count
        self.find = dspy.Predict(FindKeyPoints)
        if example:
            add_example(self.find, KEY_POINTS)

    async def decide(self, *, question: str, document: str) -> dspy.Prediction:  # type: ignore[override]
        """All windows at once, and their rounds in turn."""
        return dspy.Prediction(points=(await self.extract(question, document))[0])

    async def made(self, *, question: str, documents: Sequence[str]) -> list[str]:  # type: ignore[override]
        """See ListMaker: the points of all documents of which a span stands in the document."""
        read = await asyncio.gather(*(self.extract(question, text) for text in documents))
        points = [point for extracted, _ in read for point in extracted if point.spans]
        return list(dict.fromkeys(point.text for point in points))

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """See ListMaker: the window that states most of the points, with those.

        A point is stated where one of its spans stands; where it has none, in the sentence that
        the lexical entailment judge quotes for it.
        """
        cut = (self.most_tokens, self.overlap, self.count)
        parts = [part for text in inputs["documents"] for part in windows(text, *cut)]
        stated = [_stated(part, texts, spans) for part in parts]
        best = max(range(len(parts)), key=lambda i: (len(stated[i]), -i))
        inputs_of_part = {"question": inputs["question"], "document": parts[best], "known": []}
        return {**inputs_of_part, "points": stated[best]}

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: so many points at first that a window has `POINTS` of them."""
        points: list[QuotedPoint] = reply.values["points"]
        texts = [point["text"] for point in points]
        span = inputs["document"].strip()[:SPAN_CHARS]
        made = filled(texts, 0 if inputs["known"] else POINTS)[len(texts) :]
        more = [QuotedPoint(text=text, spans=[span]) for text in made]
        return reply._replace(values={"points": [*points, *more]})

    async def extract(
        self, question: str, document: str
    ) -> tuple[list[FoundPoint], list[Provenance]]:
        """The points in the order of the windows, and one provenance per call."""
        parts = windows(document, self.most_tokens, self.overlap, self.count)
        read = await asyncio.gather(*(self._read(question, part) for part in parts))
        points = _distinct(chain.from_iterable(points for points, _ in read))
        calls = [call for _, made in read for call in made]
        return [_checked(point, document) for point in points], calls

    async def _read(self, question: str, part: str) -> tuple[list[QuotedPoint], list[Provenance]]:
        points: list[QuotedPoint] = []
        calls: list[Provenance] = []
        for _ in range(self.rounds):
            known = [point["text"] for point in points]
            reply = await self.ask("find", question=question, document=part, known=known)
            calls.append(reply.provenance)
            points = _distinct([*points, *reply.values["points"]])
            if len(points) == len(known):
                break
        return points, calls


def windows(
    document: str,
    most_tokens: int = MOST_TOKENS,
    overlap: int = OVERLAP,
    count: Callable[[str], int] = n_words,
) -> list[str]:
    """A document in windows that together hold all of it, as segments() cuts: at sentences.

    Args:
        most_tokens: in a window, > overlap.
        overlap: most that a window repeats of the one before, whole sentences where they fit.

    Returns: the windows in order, each a run of the document; [] for a blank document.
    Raises: ValueError if overlap is below 0 or most_tokens not above it.

    >>> windows("Rain fell. The river rose. A dam broke.", most_tokens=6, overlap=3)
    ['Rain fell.', 'Rain fell. The river rose.', 'The river rose. A dam broke.']
    """
    _check_window(most_tokens, overlap)
    if count(document) <= most_tokens:
        return [text] if (text := document.strip()) else []
    cut: list[str] = []
    end = repeated = 0
    for part in segments(document, most_tokens - overlap, count):
        start = document.index(part, end)  # white space alone lies between
        cut.append(document[end - repeated : start + len(part)] if repeated else part)
        end = start + len(part)
        repeated = len(segments(part, overlap, count)[-1]) if overlap else 0
    return cut


def _check_window(most_tokens: int, overlap: int) -> None:
    if not 0 <= overlap < most_tokens:
        wanted = "most_tokens must be above overlap, and overlap 0 or more"
        raise ValueError(f"{wanted}, got {most_tokens} and {overlap}")


def _distinct(points: Iterable[QuotedPoint]) -> list[QuotedPoint]:
    """The points in order, those of the same text as one."""
    distinct: dict[str, QuotedPoint] = {}
    for point in points:
        text = " ".join(point["text"].split())
        same = distinct.setdefault(text.casefold().rstrip(". "), {"text": text, "spans": []})
        same["spans"] = [*same["spans"], *point["spans"]]
    return list(distinct.values())


def _stated(
    part: str, texts: Sequence[str], spans: Mapping[str, Sequence[str]]
) -> list[QuotedPoint]:
    """Those of the points that a part of a document states, each with the words that do."""
    stated = []
    for text in texts:
        quotes = spans.get(text) or [judge_point({"key_point": text, "response": part})["evidence"]]
        if evidence := [quote for quote in quotes if quote.strip() and find_quote(quote, part)]:
            stated.append(QuotedPoint(text=text, spans=evidence))
    return stated


def _checked(point: QuotedPoint, document: str) -> FoundPoint:
    offsets = {quote: find_quote(quote, document) for quote in point["spans"] if quote.strip()}
    spans = (document[start:end] for start, end in filter(None, offsets.values()))
    missing = (quote for quote, offset in offsets.items() if offset is None)
    return FoundPoint(point["text"], tuple(dict.fromkeys(spans)), tuple(missing))
