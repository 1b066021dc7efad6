"""Find key points in documents, merge those that say the same, and split answers into claims."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, combinations, pairwise
from typing import Annotated, Any, NamedTuple

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator
from typing_extensions import TypedDict

from ...backends.adapter import SETTING
from ...backends.errors import JudgeOutputError
from ...backends.gateway import Reply
from ...backends.prompt import Baseline
from ...backends.replies.schema import AtMost
from ...records.judgements import Provenance, Reason
from ..base import Judge
from ..lexical import keypoints as lexical_keypoints
from ..lexical.grounds import find_quote
from ..lexical.keypoints import judge_point
from ..lexical.segments import n_words, segments, sentences
from .lists import CLAIMS, KEY_POINTS, MERGED_POINTS, Inputs, ListMaker, Spans, add_example, fill_up

ROUNDS = 2  # calls about one window, at most
POINTS, SPAN_CHARS = 8, 100  # per window, and characters per span: assumed by a dry run
MAX_TOKENS, OVERLAP = 2000, 100  # words of a window, and of its overlap with the next


class FoundPoint(NamedTuple):
    """A key point: its text, and the spans of the document that state it.

    Attributes:
        text: the key point.
        spans: the texts of the document that state it; (): it has no source there.
        missing: quotes of the model that are not in the document.

    >>> judge = KeyPointExtractor("lexical")
    >>> judge(question="Why do bridges sway?", document="Strong wind moves bridges.").points[0]
    FoundPoint(text='Strong wind moves bridges', spans=('Strong wind moves bridges.',), missing=())
    """

    text: str
    spans: tuple[str, ...]
    missing: tuple[str, ...]


class QuotedPoint(TypedDict):
    """A key point in the form of a reply."""

    text: Annotated[str, MinLen(1), MaxLen(400)]
    spans: Annotated[list[Annotated[str, MaxLen(400)]], MinLen(1), MaxLen(5)]


def _word_points(points: list[QuotedPoint]) -> list[QuotedPoint]:
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
    points: Annotated[list[QuotedPoint], MaxLen(40), AfterValidator(_word_points)] = (
        dspy.OutputField(
            desc="the new key points, in the order of the document, each with 1 to 5 spans"
        )
    )


class KeyPointExtractor(ListMaker):
    """Find key points: `judge(question=, document=).points`, a list of FoundPoint.

    A document longer than `most_tokens` is read in overlapping windows, in parallel. Each window
    is asked about in rounds: a round shows the points so far and asks for overlooked ones. The
    first round that adds none is the last. Points that differ only in case, white space or the
    final full stop are one, with the spans of both; KeyPointMerger merges other duplicates. Spans
    are looked for in the whole document (judges/lexical/grounds.py). A blank document has no points
    and needs no call.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        rounds: the largest number of calls for one window, >= 1.
        most_tokens: the largest number of tokens of a window, above `overlap`.
        overlap: the largest number of tokens that a window repeats of the window before, >= 0.
        count: counts the tokens of a text; by default its words between white space.
        example: show one worked example, made up for the prompt.

    Raises: ValueError for numbers outside these ranges. JudgeError from a call, also if one of
        several windows or rounds fails.
    Source: arXiv:2410.23000 (Long2RAG), section 3.3.

    >>> judge = KeyPointExtractor("lexical")
    >>> reply = judge(question="Why do bridges sway?", document="Strong wind moves bridges.")
    >>> [point.spans for point in reply.points]
    [('Strong wind moves bridges.',)]
    """

    name = "keypoint_extractor"
    kind = "key_points"
    made_from = ("question", "documents")
    predictor, output = "find", "points"
    version = "3"
    baselines: Mapping[str, Baseline] = {"find": lexical_keypoints.find_key_points}

    def __init__(
        self,
        *args: Any,
        rounds: int = ROUNDS,
        most_tokens: int = MAX_TOKENS,
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
        """Find the key points of a document; `judge(...)` calls this.

        Args:
            question: the question that key points help to answer.
            document: the text to read.

        Returns: a prediction with `points`, a list of FoundPoint.
        """
        return dspy.Prediction(points=(await self.extract(question, document))[0])

    async def make_texts(self, *, question: str, documents: Sequence[str]) -> list[str]:  # type: ignore[override]
        """See ListMaker: the points of all documents with a span that is in the document."""
        read = await asyncio.gather(*(self.extract(question, text) for text in documents))
        points = [point for extracted, _ in read for point in extracted if point.spans]
        return list(dict.fromkeys(point.text for point in points))

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """See ListMaker: the window that states most of the points, with these points.

        A window states a point if it contains one of its spans; for a point without spans, if it
        contains the sentence that the lexical entailment judge quotes.
        """
        cut = (self.most_tokens, self.overlap, self.count)
        parts = [part for text in inputs["documents"] for part in windows(text, *cut)]
        stated = [_find_stated(part, texts, spans) for part in parts]
        best = max(range(len(parts)), key=lambda i: (len(stated[i]), -i))
        inputs_of_part = {"question": inputs["question"], "document": parts[best], "known": []}
        return {**inputs_of_part, "points": stated[best]}

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: enough points at first to give a window `POINTS` of them."""
        points: list[QuotedPoint] = reply.values["points"]
        texts = [point["text"] for point in points]
        span = inputs["document"].strip()[:SPAN_CHARS]
        made = fill_up(texts, 0 if inputs["known"] else POINTS)[len(texts) :]
        more = [QuotedPoint(text=text, spans=[span]) for text in made]
        return reply._replace(values={"points": [*points, *more]})

    async def extract(
        self, question: str, document: str
    ) -> tuple[list[FoundPoint], list[Provenance]]:
        """Find the key points of a document.

        Args:
            question: the question that key points help to answer.
            document: the text to read; a long one is cut into windows.

        Returns: the points in the order of the windows, and the provenance of each call.
        """
        parts = windows(document, self.most_tokens, self.overlap, self.count)
        read = await asyncio.gather(*(self._read(question, part) for part in parts))
        points = _distinct(chain.from_iterable(points for points, _ in read))
        calls = [call for _, made in read for call in made]
        return [_check(point, document) for point in points], calls

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
    most_tokens: int = MAX_TOKENS,
    overlap: int = OVERLAP,
    count: Callable[[str], int] = n_words,
) -> list[str]:
    """Cut a document into windows that together hold all of it, at sentences like segments().

    Args:
        most_tokens: the largest number of tokens of a window, > overlap.
        overlap: the largest number that a window repeats of the window before; whole sentences if
            they fit.

    Returns: the windows in order, each a part of the document; [] for a blank document.
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
        start = document.index(part, end)  # only white space is between
        cut.append(document[end - repeated : start + len(part)] if repeated else part)
        end = start + len(part)
        repeated = len(segments(part, overlap, count)[-1]) if overlap else 0
    return cut


def _check_window(most_tokens: int, overlap: int) -> None:
    if not 0 <= overlap < most_tokens:
        wanted = "most_tokens must be above overlap, and overlap 0 or more"
        raise ValueError(f"{wanted}, got {most_tokens} and {overlap}")


def _distinct(points: Iterable[QuotedPoint]) -> list[QuotedPoint]:
    """The points in order; points with the same text become one."""
    distinct: dict[str, QuotedPoint] = {}
    for point in points:
        text = " ".join(point["text"].split())
        same = distinct.setdefault(text.casefold().rstrip(". "), {"text": text, "spans": []})
        same["spans"] = [*same["spans"], *point["spans"]]
    return list(distinct.values())


def _find_stated(
    part: str, texts: Sequence[str], spans: Mapping[str, Sequence[str]]
) -> list[QuotedPoint]:
    """The points that a part of a document states, each with its words there."""
    stated = []
    for text in texts:
        quotes = spans.get(text) or [judge_point({"key_point": text, "response": part})["evidence"]]
        if evidence := [quote for quote in quotes if quote.strip() and find_quote(quote, part)]:
            stated.append(QuotedPoint(text=text, spans=evidence))
    return stated


def _check(point: QuotedPoint, document: str) -> FoundPoint:
    offsets = {quote: find_quote(quote, document) for quote in point["spans"] if quote.strip()}
    spans = (document[start:end] for start, end in filter(None, offsets.values()))
    missing = (quote for quote, offset in offsets.items() if offset is None)
    return FoundPoint(point["text"], tuple(dict.fromkeys(spans)), tuple(missing))


MAX_POINTS = 60  # in one call
REPAIRS = 2  # further calls after a reply that is not a partition


class MergedPoint(NamedTuple):
    """The common statement of one or more key points.

    Attributes:
        text: the statement.
        members: the 0-based indexes of the key points that it merges, ascending.

    >>> KeyPointMerger("lexical")(question="Why?", texts=["Wind.", "Wind."]).points
    [MergedPoint(text='Wind.', members=(0, 1))]
    """

    text: str
    members: tuple[int, ...]


class PointGroup(TypedDict):
    """A merged point in the form of a reply."""

    text: Annotated[str, MinLen(1), MaxLen(600)]
    members: Annotated[list[int], MinLen(1)]


def _with_members(groups: list[PointGroup]) -> list[PointGroup]:
    for index, group in enumerate(groups, 1):
        if not (group["text"].strip() and group["members"]):
            raise ValueError(f"merged point {index} has no text or no members")
    return groups


class MergeKeyPoints(dspy.Signature):  # type: ignore[misc]
    """Merge key points that state the same fact or argument, so that each appears only once.

    - Merge points that state the same fact or argument, in any wording, and points of which one
      contains the other.
    - Do not merge points that contradict each other, or that are only about the same subject.
    - Put the number of each point into exactly one merged point. A point that matches
      no other point becomes a merged point of its own.
    - Write each merged point as one sentence that contains all that its members say, and no more.
    - If `faults` is not empty, it lists what was wrong with `rejected`. Return the whole reply
      again, corrected.
    """

    question: str = dspy.InputField(desc="the question of the user")
    points: dict[str, str] = dspy.InputField(desc="the key points, by number")
    rejected: list[dict[str, Any]] = dspy.InputField(
        desc="your last reply, which must be corrected; empty at first"
    )
    faults: Annotated[list[str], SETTING] = dspy.InputField(
        desc="what was wrong with the rejected reply; empty at first"
    )
    merged: Annotated[
        list[PointGroup], MinLen(1), AtMost("points"), AfterValidator(_with_members)
    ] = dspy.OutputField(
        desc="the merged points; `members` are the numbers of the points that it merges"
    )


class KeyPointMerger(Judge):
    """Merge key points: `judge(question=, texts=[...]).points`, a list of MergedPoint.

    Every text is a member of exactly one merged point. A reply that loses, invents or repeats a
    number is shown to the model with its errors, up to `repairs` times. A point that is merged with
    no other keeps its text. Points are in the order of their first members.

    More than `most_points` texts are cut into blocks of up to half as many, and every two blocks
    are merged in one call, so that each point meets every other (k blocks: k (k - 1) / 2 calls,
    one after the other). A merged point stays in the earlier block and continues as one point.
    Fewer than two texts need no call.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        most_points: the largest number of points in one call, >= 2.
        repairs: the largest number of further calls after a wrong reply, >= 0.
        example: show one worked example, made up for the prompt.

    Raises: ValueError for numbers outside these ranges. JudgeError from a call, if the last repair
        is still wrong; its detail names the numbers. The reason is incomplete if the reply loses
        some, else unparseable.
    Source: arXiv:2410.23000 (Long2RAG), section 3.3. Blocks and repairs are ours.

    >>> judge = KeyPointMerger("lexical")
    >>> texts = ["Wind sways bridges.", "Bees dance.", "Wind sways bridges."]
    >>> [point.members for point in judge(question="Why?", texts=texts).points]
    [(0, 2), (1,)]
    """

    version = "3"
    baselines: Mapping[str, Baseline] = {"join": lexical_keypoints.merge_points}

    def __init__(
        self,
        *args: Any,
        most_points: int = MAX_POINTS,
        repairs: int = REPAIRS,
        example: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        if most_points < 2 or repairs < 0:
            wanted = "most_points must be 2 or more and repairs 0 or more"
            raise ValueError(f"{wanted}, got {most_points} and {repairs}")
        self.most_points = most_points
        self.repairs = repairs
        self.join = dspy.Predict(MergeKeyPoints)
        if example:
            add_example(self.join, MERGED_POINTS)

    async def decide(self, *, question: str, texts: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """Merge key points that state the same; `judge(...)` calls this.

        Args:
            question: the question that the key points help to answer.
            texts: the key points.

        Returns: a prediction with `points`, a list of MergedPoint.
        """
        return dspy.Prediction(points=(await self.merge(question, texts))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: no two points are equal."""
        alone = [{"text": text, "members": [int(n)]} for n, text in inputs["points"].items()]
        return reply._replace(values={"merged": alone})

    async def merge(
        self, question: str, texts: Sequence[str]
    ) -> tuple[list[MergedPoint], list[Provenance]]:
        """Merge key points that state the same.

        Args:
            question: the question that the key points help to answer.
            texts: the key points.

        Returns: the merged points, and the provenance of each call.
        """
        points = [MergedPoint(text, (index,)) for index, text in enumerate(texts)]
        if len(points) <= self.most_points:
            return await self._join(question, points)
        blocks = _blocks(points, self.most_points // 2)
        calls: list[Provenance] = []
        for a, b in combinations(range(len(blocks)), 2):
            if not (blocks[a] and blocks[b]):  # all its points were merged into an earlier block
                continue
            earlier = {index for point in blocks[a] for index in point.members}
            joined, made = await self._join(question, blocks[a] + blocks[b])
            blocks[a] = [point for point in joined if not earlier.isdisjoint(point.members)]
            blocks[b] = [point for point in joined if earlier.isdisjoint(point.members)]
            calls += made
        return _in_order(point for block in blocks for point in block), calls

    async def _join(
        self, question: str, points: Sequence[MergedPoint]
    ) -> tuple[list[MergedPoint], list[Provenance]]:
        if len(points) < 2:
            return list(points), []
        numbered = {str(number): point.text for number, point in enumerate(points, 1)}
        groups: list[PointGroup] = []
        faults: list[str] = []
        calls: list[Provenance] = []
        for _ in range(1 + self.repairs):
            reply = await self.ask(
                "join", question=question, points=numbered, rejected=groups, faults=faults
            )
            calls.append(reply.provenance)
            groups = reply.values["merged"]
            lost, faults = _faults(groups, len(points))
            if not faults:
                return _in_order(_merge(group, points) for group in groups), calls
        reason = Reason.INCOMPLETE if lost else Reason.UNPARSEABLE
        detail = f"of {len(points)} in a call, after {self.repairs} repairs: {'; '.join(faults)}"
        raise JudgeOutputError(reason, detail, str(groups))


def _faults(groups: Sequence[PointGroup], n: int) -> tuple[list[int], list[str]]:
    """The numbers from 1 to n without a group, and all faults of the groups as a partition."""
    times = Counter(number for group in groups for number in group["members"])
    lost = [number for number in range(1, n + 1) if number not in times]
    unknown = sorted(number for number in times if not 1 <= number <= n)
    doubled = sorted(number for number in times if 1 <= number <= n and times[number] > 1)
    faults = {
        "in no merged point": lost,
        "not the number of a point": unknown,
        "listed more than once": doubled,
    }
    return lost, [
        f"{what}: {', '.join(map(str, those))}" for what, those in faults.items() if those
    ]


def _merge(group: PointGroup, points: Sequence[MergedPoint]) -> MergedPoint:
    joined = [points[number - 1] for number in group["members"]]
    text = " ".join(group["text"].split()) if len(joined) > 1 else joined[0].text
    return MergedPoint(text, tuple(sorted(index for point in joined for index in point.members)))


def _in_order(points: Iterable[MergedPoint]) -> list[MergedPoint]:
    return sorted(points, key=lambda point: point.members)


def _blocks(points: Sequence[MergedPoint], most: int) -> list[list[MergedPoint]]:
    """Runs of the points, of even length up to `most`."""
    n = math.ceil(len(points) / most)
    borders = [len(points) * i // n for i in range(n + 1)]
    return [list(points[start:end]) for start, end in pairwise(borders)]


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
    """Split an answer into atomic claims: `judge(answer=).claims`, a list of texts in its order.

    Blank entries are dropped, and claims with the same words are one. An answer may make no claim.
    A blank answer makes none and needs no call.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        example: show one worked example, made up for the prompt.

    Raises: JudgeError from a call, if the reply cannot be read.
    Source: arXiv:2410.23000 (Long2RAG), section 6.4, scores the precision of answers; splitting
        into claims is our reading.

    >>> ClaimExtractor("lexical")(answer="Strong wind moves bridges.").claims
    ['Strong wind moves bridges']
    """

    name = "claim_extractor"
    kind = "claims"
    made_from = ("answer",)
    predictor, output = "split", "claims"
    version = "4"
    baselines: Mapping[str, Baseline] = {"split": lexical_keypoints.extract_claims}

    def __init__(self, *args: Any, example: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        self.split = dspy.Predict(ExtractClaims)
        if example:
            add_example(self.split, CLAIMS)

    async def decide(self, *, answer: str) -> dspy.Prediction:  # type: ignore[override]
        """Split an answer into claims; `judge(...)` calls this.

        Args:
            answer: the text of the answer.

        Returns: a prediction with `claims`, a list of texts.
        """
        return dspy.Prediction(claims=(await self.extract(answer))[0])

    async def make_texts(self, *, answer: str) -> list[str]:  # type: ignore[override]
        """See ListMaker."""
        return (await self.extract(answer))[0]

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """See ListMaker."""
        return {"answer": inputs["answer"], "claims": list(texts)}

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: at least one claim for each sentence."""
        n = len(sentences(inputs["answer"]))
        return reply._replace(values={"claims": fill_up(reply.values["claims"], n)})

    async def extract(self, answer: str) -> tuple[list[str], list[Provenance]]:
        """Split an answer into claims.

        Args:
            answer: the text of the answer.

        Returns: the claims, and the provenance of the call if there was one.
        """
        if not answer.strip():
            return [], []
        reply = await self.ask("split", answer=answer)
        claims = (" ".join(text.split()) for text in reply.values["claims"])
        return list(dict.fromkeys(filter(None, claims))), [reply.provenance]
