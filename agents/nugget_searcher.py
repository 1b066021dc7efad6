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
from ..judges.items import ItemJudge
from ..judges.items import judged as verdict_of
from ..judges.lexical.grounds import spans
from ..judges.lexical.keypoints import STATED, stated
from ..judges.lexical.overlap import content_words
from ..judges.nuggets import ProposedNugget
from ..judges.verdicts import Verdict
from ..records.rows import Passage
from .agent import Agent
from .corpus import Corpus
from .limits import Limits
from .tools import Question, Tools

Dedupe = Literal["entailment", "words"]
JUDGES = {
    "question_decomposer": QuestionDecomposer,
    "nugget_proposer": NuggetProposer,
    "support": SupportJudge,
    "entailment": EntailmentJudge,
    "gap_writer": GapWriter,
}
STARTING_HITS = 3  # passages that a nugget to start with is checked against


class SearchSettings(NamedTuple):
    """How a search goes.

    Attributes:
        facets: sub-questions that are searched for, at most.
        rounds: of searches, at most.
        stop: rounds in a row without a new verified nugget after which it ends.
        dedupe: how two nuggets are found to say the same.
        most: nuggets.
    """

    facets: int = 8
    rounds: int = 4
    stop: int = 2
    dedupe: Dedupe = "entailment"
    most: int = 60


class NuggetSearcher(Agent):
    """Makes a nugget list from a corpus: `searcher(question=...)` has `nuggets` and `stop`.

    The question is split into facets. A round searches for some of them, reads passages that were
    not read before, has nuggets proposed, and keeps one whose quote stands in its passage if
    that passage carries it as a whole (the best label of the support judge). It is joined to a
    nugget that says the same. The first round searches for each facet; the others for those
    without a nugget and with the fewest, by queries that are written for what is missing.

    `nuggets`: text and sources (docid, start, end, query, round) of each, at least one source.
    `stop`: nothing_new, rounds, calls or most. `new`: verified new nuggets, by round. `started`:
    those it began with that were found in the corpus. `ungrounded`: proposals, and nuggets to
    start with, that no passage carried. `merged`: how many said what another says. `read`: ids of
    the passages read, in their order. `facets`: question and number of nuggets of each.

    A judgement or search that fails ends the item: a list that lacks what could not be judged
    would look like a whole one. Used-up calls end the search, and what was verified stands.

    Args:
        model: of all judges that are not given.
        judges: by their names in a config: question_decomposer, nugget_proposer, support,
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
        settings: SearchSettings = SearchSettings(),  # noqa: B008  a tuple, which nothing can change
    ) -> None:
        super().__init__(corpus, limits)
        own_judges = dict(judges or {})
        if unknown := own_judges.keys() - JUDGES.keys():
            what = f"wanted {', '.join(JUDGES)}"
            raise ValueError(f"judges: {', '.join(sorted(unknown))}; {what}")
        for name, kind in JUDGES.items():
            setattr(self, name, own_judges[name] if name in own_judges else kind(model))
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
                {"question": text, "nuggets": search.nugget_list.of_facet(index)}
                for index, text in enumerate(search.facets)
            ],
            "read": list(search.read),
            "calls": self.limits.calls - tools.n_calls_left,
        }


class _Enough(Exception):
    """A limit that ends the search, and is no error; its text says which."""


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
        """Search until something ends it, and say what did."""
        settings, n_without = self.agent.settings, 0
        try:
            await self._begin(start)
            for number in range(1, settings.rounds + 1):
                self.new.append(0)
                await self._round(number)
                n_without = 0 if self.new[-1] else n_without + 1
                if n_without == settings.stop:
                    return "nothing_new"
        except _Enough as limit:
            return str(limit)
        return "rounds"

    async def _begin(self, start: Sequence[str]) -> None:
        """Find passages for the nuggets that there are already, and split the question."""
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
        """Add a nugget to start with if one of the passages found by its own text carries it."""
        for docid, _ in await part.search(text, STARTING_HITS):
            passage = part.passage(docid)
            self._need(1)
            [(verdict, path)] = await self._carried(part, [(text, docid, passage)])
            span = _span_of(text, passage, verdict)
            if verdict.label == get_best_label(self.agent.support) and span is not None:
                source = _source(docid, span, text, 0)
                await self._keep(part, VerifiedNugget(text, [source], because=[path]))
                return
        self.n_ungrounded += 1

    async def _round(self, number: int) -> None:
        part = self.tools.part("plan", f"round {number}")
        indices = self._due_facets(number)
        queries = [self.facets[index] for index in indices]
        if number > 1:
            queries = await self._gap_queries(part, queries)
        for index, query in zip(indices, queries, strict=True):
            await self._visit(part.part("plan", f"facet {index + 1}"), number, index, query)

    def _due_facets(self, number: int) -> list[int]:
        """The facets that a round looks into: all; later those with the fewest nuggets."""
        if number == 1:
            return list(range(len(self.facets)))
        counts = [self.nugget_list.of_facet(index) for index in range(len(self.facets))]
        least = sorted(set(counts))
        due = least[:2] if least[0] == 0 else least[:1]
        return [index for index, n in enumerate(counts) if n in due]

    async def _gap_queries(self, part: Tools, facets: Sequence[str]) -> list[str]:
        self._need(1)
        call = self.agent.gap_writer.queries(
            self.question, facets, self.nugget_list.texts, self.tried
        )
        about = {"facets": list(facets), "nuggets": len(self.nugget_list.nuggets)}
        (queries, _), _ = await part.ask("gap_writer", call, about, lambda reply: reply[0])
        return list(queries)

    async def _visit(self, part: Tools, number: int, facet: int, query: str) -> None:
        """Search for a facet, and keep what the passages that are new have to say on it."""
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
        (proposed, _), _ = await part.ask("nugget_proposer", call, about, _shown)
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
        verdicts = await self._carried(part, candidates)
        for new, (_, docid, _), (verdict, path) in zip(
            proposed, candidates, verdicts, strict=False
        ):
            if verdict.label != get_best_label(self.agent.support):
                self.n_ungrounded += 1
                continue
            assert new.span is not None
            source = _source(docid, new.span, query, number)
            if await self._keep(part, VerifiedNugget(new.text, [source], {facet}, [path])):
                self.new[-1] += 1
        if n < len(proposed):
            raise _Enough("calls")

    async def _carried(
        self, part: Tools, pairs: Sequence[tuple[str, str, Passage]]
    ) -> list[tuple[Verdict, str]]:
        """Whether a passage carries a nugget, for each pair of them. Raises: JudgeError."""
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
        return [(verdict_of(verdict), path) for verdict, path in verdicts]

    async def _keep(self, part: Tools, new: VerifiedNugget) -> bool:
        """Add a verified nugget, or join it to another; whether it was added."""
        if len(self.nugget_list.nuggets) >= self.agent.settings.most:
            raise _Enough("most")
        self._need(self.nugget_list.least_calls(new.text))
        return await self.nugget_list.add(new, part)

    def _need(self, n: int) -> None:
        """End the search unless so many calls are left."""
        if self.tools.n_calls_left < n:
            raise _Enough("calls")


def _shown(made: tuple[Sequence[ProposedNugget], Any]) -> list[list[Any]]:
    return [[p.text, p.passage, None if p.span is None else list(p.span)] for p in made[0]]


def _source(docid: str, span: tuple[int, int], query: str, number: int) -> dict[str, Any]:
    start, end = span
    return {"docid": docid, "start": start, "end": end, "query": query, "round": number}


def _span_of(text: str, passage: Passage, verdict: Verdict) -> tuple[int, int] | None:
    """Where a passage states a nugget: as the judge quoted it, or where most of its words are."""
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
        sources: where it stands: docid, start, end, query, round; at least one.
        facets: indices of the facets whose search found it. because: paths of what verified it.
    """

    text: str
    sources: list[dict[str, Any]]
    facets: set[int] = field(default_factory=set)
    because: list[str] = field(default_factory=list)

    def join(self, other: VerifiedNugget) -> None:
        """Take over what another nugget that says the same rests on."""
        spans = {(source["docid"], source["start"], source["end"]) for source in self.sources}
        for source in other.sources:
            if (source["docid"], source["start"], source["end"]) not in spans:
                self.sources.append(source)
        self.facets |= other.facets
        self.because += other.because


class NuggetList:
    """Nuggets in the order in which they were found, none of them twice.

    Two are one where each states the other: as the entailment judge says, which is asked of the
    known one that shares most words with a new one, or by their words alone.

    Args:
        judge: who says whether one nugget states another.
        dedupe: words: by the lexical rule of that judge, of all known ones, without a call.
    """

    def __init__(self, judge: ItemJudge, dedupe: Dedupe) -> None:
        self.nuggets: list[VerifiedNugget] = []
        self.n_merged = 0
        self._judge = judge
        self._dedupe = dedupe

    @property
    def texts(self) -> list[str]:
        """Of all nuggets, in their order."""
        return [nugget.text for nugget in self.nuggets]

    def of_facet(self, facet: int) -> int:
        """How many nuggets a facet's searches found."""
        return sum(facet in nugget.facets for nugget in self.nuggets)

    def least_calls(self, text: str) -> int:
        """How many calls `add` makes at most."""
        same_words = any(_plain(text) == _plain(other) for other in self.texts)
        by_words = self._dedupe == "words" or same_words
        return 0 if by_words or self._nearest(text) is None else 2

    async def add(self, new: VerifiedNugget, tools: Tools) -> bool:
        """Add a nugget, or join it to the one that says the same; whether it was added.

        Raises: JudgeError where a call gave no judgement.
        """
        same = await self._same(new.text, tools)
        if same is None:
            self.nuggets.append(new)
            return True
        self.n_merged += 1
        same.join(new)
        return False

    async def _same(self, text: str, tools: Tools) -> VerifiedNugget | None:
        for nugget in self.nuggets:
            if _plain(nugget.text) == _plain(text):
                return nugget
        if self._dedupe == "words":
            both = ((nugget, min(_shares(text, nugget.text))) for nugget in self.nuggets)
            best = max(both, key=lambda pair: pair[1], default=None)
            return best[0] if best is not None and best[1] >= STATED else None
        near = self._nearest(text)
        if near is None or not await self._states(near.text, text, tools):
            return None
        return near if await self._states(text, near.text, tools) else None

    def _nearest(self, text: str) -> VerifiedNugget | None:
        """The known nugget that shares most with a text; None: none shares anything."""
        shares = ((max(_shares(text, nugget.text)), nugget) for nugget in self.nuggets)
        share, nugget = max(shares, key=lambda pair: pair[0], default=(0.0, None))
        return nugget if share > 0 else None

    async def _states(self, text: str, point: str, tools: Tools) -> bool:
        inputs = {"key_point": point, "response": text}
        verdict, _ = await tools.judge(self._judge, inputs, {"nugget": point, "in": text})
        return verdict.label == get_best_label(self._judge)


def get_best_label(judge: ItemJudge) -> str:
    """The label of a judge that means yes, whole, full."""
    fitted = judge.correction.labels if judge.correction is not None else None
    return (fitted or judge.scale)[-1]


def _shares(one: str, other: str) -> tuple[float, float]:
    return stated(one, other), stated(other, one)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(". ")
