"""An agent that makes a nugget list: it searches, reads, proposes, verifies and looks for gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from ..backends.config import ModelConfig
from ..judges import (
    EntailmentJudge,
    GapWriter,
    NuggetProposer,
    QuestionDecomposer,
    SupportJudge,
)
from ..judges.base import Judge
from ..judges.items import ItemJudge, require_verdict
from ..judges.lexical.grounds import spans
from ..judges.lexical.keypoints import STATED, measure_stated
from ..judges.lexical.overlap import content_words
from ..judges.nuggets import ProposedNugget
from ..judges.verdicts import Verdict
from ..records.rows import Passage
from .agent import Agent
from .corpus import Corpus
from .tools import Limits, Question, Tools

Dedupe = Literal["entailment", "words"]
JUDGES = {
    "question_decomposer": QuestionDecomposer,
    "nugget_proposer": NuggetProposer,
    "support": SupportJudge,
    "entailment": EntailmentJudge,
    "gap_writer": GapWriter,
}
STARTING_HITS = 3  # passages that a given nugget is checked against


class SearchSettings(NamedTuple):
    """Settings of a search for nuggets.

    Attributes:
        facets: the largest number of sub-questions.
        rounds: the largest number of rounds of searches.
        stop: end after so many rounds in a row without a new verified nugget.
        dedupe: what decides whether two nuggets say the same: the entailment judge, or their words.
        most: the largest number of nuggets.
    """

    facets: int = 8
    rounds: int = 4
    stop: int = 2
    dedupe: Dedupe = "entailment"
    most: int = 60


class NuggetSearcher(Agent):
    """Makes a nugget list from a corpus: `searcher(question=...)` has `nuggets` and `stop`.

    The question is split into facets (sub-questions). Each round searches for some facets, reads
    new passages and lets a judge propose nuggets. A nugget is kept if its quote is in the passage
    and the passage fully supports it (the best label of the support judge). A nugget that says the
    same as another one is merged with it. The first round searches for every facet. Later rounds
    search for the facets with the fewest nuggets, with queries written for the missing facts.

    The prediction has:
        nuggets: the text of each, and its sources (docid, start, end, query, round), at least one.
        stop: why the search ended: nothing_new, rounds, calls or most.
        new: new verified nuggets by round.
        started: how many of the nuggets in `start` a passage supports.
        ungrounded: how many proposals and nuggets in `start` no passage supports.
        merged: how many nuggets said the same as another one.
        facets: question and number of nuggets of each.
        read: ids of the passages that were read, in order.

    A judgement or search that fails ends the item without a list, since an incomplete list would
    look complete. If the calls are used up, the search ends and the verified nuggets are kept.

    Args:
        model: answers for all judges that are not given.
        judges: judges by their names in a config: question_decomposer, nugget_proposer, support,
            entailment, gap_writer.
    """

    name = "search"
    inputs = ("topic_id", "question", "start")
    default_limits = Limits(calls=80)
    JUDGES: ClassVar[Mapping[str, type[Judge]]] = JUDGES

    def __init__(
        self,
        corpus: Corpus | None = None,
        limits: Limits | None = None,
        *,
        model: str | ModelConfig | None = None,
        judges: Mapping[str, Any] | None = None,
        settings: SearchSettings = SearchSettings(),  # noqa: B008  an immutable tuple
    ) -> None:
        super().__init__(corpus, limits)
        self.take_judges(judges, model)
        self.settings = settings

    def identity(self) -> list[Any]:
        """See Agent."""
        return [*super().identity(), list(self.settings)]

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        """See Agent."""
        search = _Search(self, tools, item["question"])
        stop = await search.run(item.get("start") or ())
        nuggets = search.nugget_list.nuggets
        tools.end(stop, [path for nugget in nuggets for path in nugget.because])
        return {
            "nuggets": [{"text": n.text, "sources": n.sources} for n in nuggets],
            "stop": stop,
            "new": search.new,
            "started": search.n_started,
            "ungrounded": search.n_ungrounded,
            "merged": search.nugget_list.n_merged,
            "facets": [
                {"question": text, "nuggets": search.nugget_list.count_facet(index)}
                for index, text in enumerate(search.facets)
            ],
            "read": list(search.read),
            "calls": self.limits.calls - tools.n_calls_left,
        }


class _LimitReached(Exception):
    """A limit that ends the search. It is not an error; its text names the limit."""


class _Search:
    """The search for the nuggets of one topic."""

    def __init__(self, agent: NuggetSearcher, tools: Tools, question: str) -> None:
        self.agent: Any = agent
        self.tools = tools
        self.question = question
        self.nugget_list = NuggetList(self.agent.entailment, agent.settings.dedupe)
        self.facets: list[str] = []
        self.tried: list[str] = []
        self.read: dict[str, None] = {}
        self.new: list[int] = []
        self.n_started = self.n_ungrounded = 0

    async def run(self, start: Sequence[str]) -> str:
        """Search until a limit or condition ends it; returns which one."""
        settings, n_without = self.agent.settings, 0
        try:
            await self._begin(start)
            for number in range(1, settings.rounds + 1):
                self.new.append(0)
                await self._run_round(number)
                n_without = 0 if self.new[-1] else n_without + 1
                if n_without == settings.stop:
                    return "nothing_new"
        except _LimitReached as limit:
            return str(limit)
        return "rounds"

    async def _begin(self, start: Sequence[str]) -> None:
        """Find passages for the given nuggets, and split the question."""
        if start:
            part = self.tools.part("plan", "start")
            for text in dict.fromkeys(start):
                await self._ground(part, text)
            self.n_started = len(self.nugget_list.nuggets)
        self._need(1)
        made = self.agent.question_decomposer.decompose(self.question)
        (split, _), _ = await self.tools.ask(
            "question_decomposer", made, {}, lambda reply: reply[0].subquestions
        )
        self.facets = split.subquestions[: self.agent.settings.facets]

    async def _ground(self, part: Tools, text: str) -> None:
        """Add a given nugget if one of the passages found by its text supports it."""
        for docid, _ in await part.search(text, STARTING_HITS):
            passage = part.passage(docid)
            self._need(1)
            [(verdict, path)] = await self._check_support(part, [(text, docid, passage)])
            span = _find_span(text, passage, verdict)
            if verdict.label == get_best_label(self.agent.support) and span is not None:
                source = _make_source(docid, span, text, 0)
                await self._keep(part, VerifiedNugget(text, [source], because=[path]))
                return
        self.n_ungrounded += 1

    async def _run_round(self, number: int) -> None:
        part = self.tools.part("plan", f"round {number}")
        indices = self._choose_facets(number)
        queries = [self.facets[index] for index in indices]
        if number > 1:
            queries = await self._write_queries(part, queries)
        for index, query in zip(indices, queries, strict=True):
            await self._visit(part.part("plan", f"facet {index + 1}"), number, index, query)

    def _choose_facets(self, number: int) -> list[int]:
        """The facets of a round: all in the first; later those with the fewest nuggets."""
        if number == 1:
            return list(range(len(self.facets)))
        counts = [self.nugget_list.count_facet(index) for index in range(len(self.facets))]
        least = sorted(set(counts))
        due = least[:2] if least[0] == 0 else least[:1]
        return [index for index, n in enumerate(counts) if n in due]

    async def _write_queries(self, part: Tools, facets: Sequence[str]) -> list[str]:
        self._need(1)
        call = self.agent.gap_writer.queries(
            self.question, facets, self.nugget_list.texts, self.tried
        )
        about = {"facets": list(facets), "nuggets": len(self.nugget_list.nuggets)}
        (queries, _), _ = await part.ask("gap_writer", call, about, lambda reply: reply[0])
        return list(queries)

    async def _visit(self, part: Tools, number: int, facet: int, query: str) -> None:
        """Search for a facet, and keep the nuggets of new passages."""
        self.tried.append(query)
        unread = [docid for docid, _ in await part.search(query) if docid not in self.read]
        if not unread:
            return
        self._need(1)
        passages = [part.passage(docid) for docid in unread]
        self.read.update(dict.fromkeys(unread))
        call = self.agent.nugget_proposer.propose(
            self.question,
            self.facets[facet],
            [each.text for each in passages],
            self.nugget_list.texts,
        )
        about = {
            "facet": self.facets[facet],
            "passages": unread,
            "known": len(self.nugget_list.nuggets),
        }
        (proposed, _), _ = await part.ask("nugget_proposer", call, about, _summarize)
        grounded = [each for each in proposed if each.span is not None]
        self.n_ungrounded += len(proposed) - len(grounded)
        await self._verify(part, number, facet, query, unread, passages, grounded)

    async def _verify(
        self,
        part: Tools,
        number: int,
        facet: int,
        query: str,
        docids: Sequence[str],
        passages: Sequence[Passage],
        proposed: Sequence[ProposedNugget],
    ) -> None:
        n = max(0, min(len(proposed), self.tools.n_calls_left))  # a jury may go beyond the limit
        candidates = [
            (p.text, docids[p.passage or 0], passages[p.passage or 0]) for p in proposed[:n]
        ]
        verdicts = await self._check_support(part, candidates)
        for new, (_, docid, _), (verdict, path) in zip(
            proposed, candidates, verdicts, strict=False
        ):
            if verdict.label != get_best_label(self.agent.support):
                self.n_ungrounded += 1
                continue
            assert new.span is not None
            source = _make_source(docid, new.span, query, number)
            if await self._keep(part, VerifiedNugget(new.text, [source], {facet}, [path])):
                self.new[-1] += 1
        if n < len(proposed):
            raise _LimitReached("calls")

    async def _check_support(
        self, part: Tools, pairs: Sequence[tuple[str, str, Passage]]
    ) -> list[tuple[Verdict, str]]:
        """Whether a passage supports a nugget, for each pair. Raises: JudgeError."""
        judge = self.agent.support
        questions = [
            Question(
                {
                    "sentence": text,
                    "passage": passage.text,
                    **judge.optional_inputs({"title": passage.title}),
                },
                {"nugget": text, "passage": docid},
            )
            for text, docid, passage in pairs
        ]
        if not questions:
            return []
        verdicts = await part.judge_each(judge, questions)
        return [(require_verdict(verdict), path) for verdict, path in verdicts]

    async def _keep(self, part: Tools, new: VerifiedNugget) -> bool:
        """Add a verified nugget, or merge it with another; returns whether it was added."""
        if len(self.nugget_list.nuggets) >= self.agent.settings.most:
            raise _LimitReached("most")
        self._need(self.nugget_list.max_calls(new.text))
        return await self.nugget_list.add(new, part)

    def _need(self, n: int) -> None:
        """End the search unless this many calls are left."""
        if self.tools.n_calls_left < n:
            raise _LimitReached("calls")


def _summarize(made: tuple[Sequence[ProposedNugget], Any]) -> list[list[Any]]:
    return [[p.text, p.passage, None if p.span is None else list(p.span)] for p in made[0]]


def _make_source(docid: str, span: tuple[int, int], query: str, number: int) -> dict[str, Any]:
    start, end = span
    return {"docid": docid, "start": start, "end": end, "query": query, "round": number}


def _find_span(text: str, passage: Passage, verdict: Verdict) -> tuple[int, int] | None:
    """Find where a passage states a nugget: the judge's quote, or most of its words."""
    for quote in verdict.evidence or ():
        if quote.of == "passage" and quote.start is not None and quote.end is not None:
            return quote.start, quote.end
    wanted = content_words(text)
    return max(
        spans(text, passage.text),
        key=lambda span: len(wanted & content_words(passage.text[span[0] : span[1]])),
        default=None,
    )


@dataclass
class VerifiedNugget:
    """A nugget whose sources were verified.

    Attributes:
        sources: the places that state it: docid, start, end, query, round; at least one.
        facets: indices of the facets whose search found it. because: paths of the verifying steps.
    """

    text: str
    sources: list[dict[str, Any]]
    facets: set[int] = field(default_factory=set)
    because: list[str] = field(default_factory=list)

    def join(self, other: VerifiedNugget) -> None:
        """Take over the sources of another nugget that says the same."""
        spans = {(source["docid"], source["start"], source["end"]) for source in self.sources}
        for source in other.sources:
            if (source["docid"], source["start"], source["end"]) not in spans:
                self.sources.append(source)
        self.facets |= other.facets
        self.because += other.because


class NuggetList:
    """Nuggets in the order of discovery, without duplicates.

    Two nuggets are duplicates if each states the other. The entailment judge decides this for the
    new nugget and the known one that shares most words with it; or the words alone decide.

    Args:
        judge: decides whether one nugget states another.
        dedupe: words: use the judge's lexical rule with all known nuggets, without a call.
    """

    def __init__(self, judge: ItemJudge, dedupe: Dedupe) -> None:
        self.nuggets: list[VerifiedNugget] = []
        self.n_merged = 0
        self._judge = judge
        self._dedupe = dedupe

    @property
    def texts(self) -> list[str]:
        """Texts of all nuggets, in order."""
        return [nugget.text for nugget in self.nuggets]

    def count_facet(self, facet: int) -> int:
        """Number of nuggets found by a facet's searches."""
        return sum(facet in nugget.facets for nugget in self.nuggets)

    def max_calls(self, text: str) -> int:
        """The largest number of calls that `add` makes."""
        same_words = any(_plain(text) == _plain(other) for other in self.texts)
        by_words = self._dedupe == "words" or same_words
        return 0 if by_words or self._find_nearest(text) is None else 2

    async def add(self, new: VerifiedNugget, tools: Tools) -> bool:
        """Add a nugget, or merge it with an equal one; returns whether it was added.

        Raises: JudgeError if a call gave no judgement.
        """
        same = await self._find_duplicate(new.text, tools)
        if same is None:
            self.nuggets.append(new)
            return True
        self.n_merged += 1
        same.join(new)
        return False

    async def _find_duplicate(self, text: str, tools: Tools) -> VerifiedNugget | None:
        for nugget in self.nuggets:
            if _plain(nugget.text) == _plain(text):
                return nugget
        if self._dedupe == "words":
            both = ((nugget, min(_shares(text, nugget.text))) for nugget in self.nuggets)
            best = max(both, key=lambda pair: pair[1], default=None)
            return best[0] if best is not None and best[1] >= STATED else None
        near = self._find_nearest(text)
        if near is None or not await self._is_stated(near.text, text, tools):
            return None
        return near if await self._is_stated(text, near.text, tools) else None

    def _find_nearest(self, text: str) -> VerifiedNugget | None:
        """The known nugget that shares most words with a text, or None."""
        shares = ((max(_shares(text, nugget.text)), nugget) for nugget in self.nuggets)
        share, nugget = max(shares, key=lambda pair: pair[0], default=(0.0, None))
        return nugget if share > 0 else None

    async def _is_stated(self, text: str, point: str, tools: Tools) -> bool:
        inputs = {"key_point": point, "response": text}
        verdict, _ = await tools.judge(self._judge, inputs, {"nugget": point, "in": text})
        return verdict.label == get_best_label(self._judge)


def get_best_label(judge: ItemJudge) -> str:
    """The best label of a judge, such as yes or full."""
    fitted = judge.correction.labels if judge.correction is not None else None
    return (fitted or judge.scale)[-1]


def _shares(one: str, other: str) -> tuple[float, float]:
    return measure_stated(one, other), measure_stated(other, one)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(". ")
