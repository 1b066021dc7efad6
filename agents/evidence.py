"""Searches for evidence of a sentence: its citation, the answer's references, then a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..backends.errors import JudgeError
from ..judges.items import ItemJudge
from ..judges.lexical.overlap import measure_support
from ..judges.makers.keypoints import ClaimExtractor
from ..judges.makers.queries import QueryWriter
from ..judges.support import ContradictionJudge
from ..judges.verdicts import Verdict
from ..records.judgements import Reason, Unjudged
from ..records.rows import Passage
from .agent import Agent
from .corpus import Corpus
from .tools import Limits, Question, Tools

FULL, PARTIAL, CONTRADICTS = "full", "partial", "contradicts"
SCOPES = ("self", "reply", "corpus")
MAX_SHOWN = 3  # passages in `best`, and passages that a claim is checked against


class Plan(NamedTuple):
    """The steps for a sentence.

    Attributes:
        scopes: where to search: `self` the cited passage, with the second judge; `reply` the other
            references of the answer; `corpus` all passages.
        judged: number of passages of the answer, and of each search, that are judged.
        queries: number of queries that are written if the sentence itself found nothing.
        contradictions: number of passages that are checked for a contradiction.
        claims: whether a partly supported sentence is split into its claims.
    """

    scopes: tuple[str, ...] = SCOPES
    judged: int = 10
    queries: int = 3
    contradictions: int = 3
    claims: bool = True


class JudgedPassage(NamedTuple):
    """A passage that was judged, or could not be judged: its source, and the step."""

    passage: Passage
    scope: str
    rank: int
    query: str | None
    verdict: Verdict
    path: str

    def as_row(self) -> dict[str, Any]:
        """Return it as a suggestion, ready for JSON. `query` None: the sentence itself."""
        at = {"passage_id": self.passage.id, "scope": self.scope, "rank": self.rank}
        return {**at, "query": self.query, **self.verdict.as_row()}


class EvidenceAgent(Agent):
    """Finds the passage that supports a sentence: `agent(sentence=..., cited="p1", label="none",
    ...)`.

    Args:
        support, recheck: judge a passage; the second one judges the cited passage once more.
            None: it would be the same judge.
        query_writer, contradiction, claim_extractor: see Plan.
        calls: the largest number of calls of judges for one sentence.

    Inputs: `topic_id`; `question`; `sentence`; `cited`, its passage id, None: it cites nothing;
        `label`, of that citation; `references`, ids of passages that the answer names;
        `documents`, texts (title, text) by id from the answer's own file.

    Returns from a call: `outcome`; `suggestion`, the passage that supports it in full or in part;
        `best`, the ids of the best judged passages; `contradiction`; `claims`; `queries`.

    Code derives the outcome from labels. There is none (JudgeError) if a failed judgement or search
    could change it: `not_found` means that every step succeeded and found nothing.
    """

    name = "evidence"
    inputs = ("topic_id", "question", "sentence", "cited", "label", "references", "documents")

    def __init__(
        self,
        corpus: Corpus | None,
        *,
        support: ItemJudge,
        recheck: ItemJudge | None = None,
        query_writer: QueryWriter,
        contradiction: ContradictionJudge,
        claim_extractor: ClaimExtractor,
        plan: Plan | None = None,
        calls: int = 80,
    ) -> None:
        super().__init__(corpus, Limits(calls=calls))
        self.support, self.recheck = support, recheck
        self.query_writer, self.contradiction = query_writer, contradiction
        self.claim_extractor = claim_extractor
        self.plan = plan or Plan()

    def identity(self) -> list[Any]:
        """See Agent."""
        return [*super().identity(), list(self.plan)]

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        """See Agent."""
        sought = _Sought(self, tools, item)
        cited, label, scopes = item.get("cited"), item.get("label"), self.plan.scopes
        if cited is not None and self.recheck is not None and "self" in scopes:
            label, path = await sought.recheck(self.recheck)
            if label == FULL and item.get("label") != FULL:
                return sought.end("cited_ok", [path])
        if label == FULL and cited is not None:
            return await sought.look_for_contradiction()
        if "reply" in scopes:
            await sought.judge(sought.references(), "reply", None)
        if sought.best(FULL) is None and "corpus" in scopes:
            await sought.search(item["sentence"], None)
            await sought.search_by_queries()
        return await sought.decide(cited is not None, label == PARTIAL)


class _Sought:
    """One sentence, and the findings for it so far."""

    def __init__(self, agent: EvidenceAgent, tools: Tools, item: Mapping[str, Any]) -> None:
        self._agent, self._tools, self._item = agent, tools, item
        self._sentence: str = item["sentence"]
        self._documents: Mapping[str, Sequence[str]] = item.get("documents") or {}
        self._judged: dict[str, JudgedPassage] = {}  # by passage id
        self._missing: list[Unjudged] = []
        self._queries: list[str] = []

    def references(self) -> list[Passage]:
        """Other references of the answer that have a text, the most similar first."""
        names = dict.fromkeys(self._item.get("references") or ())
        passages = (self._text(name) for name in names if name != self._item.get("cited"))
        texts = [passage for passage in passages if passage is not None]
        texts.sort(key=lambda passage: -measure_support(self._sentence, passage.text))
        return texts[: self._agent.plan.judged]

    async def recheck(self, judge: ItemJudge) -> tuple[str, str]:
        """Judge the cited passage with the second judge. Raises: JudgeError."""
        part = self._tools.part("plan", "recheck")
        question = self._question(judge, self._get_cited(), self._sentence)
        verdict, path = await part.judge(judge, question.inputs, question.about)
        return verdict.label, path

    async def search(self, query: str, written: str | None) -> None:
        """Search the corpus and judge new passages."""
        hits = await self._tools.search(query, self._agent.plan.judged)
        names = [name for name, _ in hits if name != self._item.get("cited")]
        await self.judge([self._passage(name) for name in names], "corpus", written)

    async def search_by_queries(self) -> None:
        """Search by written queries, one after the other, until a passage supports the sentence."""
        agent, wanted = self._agent, self._agent.plan.queries
        if not wanted or self.best(FULL) is not None:
            return
        question = self._item.get("question") or ""
        call = agent.query_writer.queries(question, self._sentence, wanted)
        about = {"wanted": wanted}
        (queries, _), _ = await self._tools.ask(
            "query_writer", call, about, lambda reply: {"queries": reply[0]}
        )
        for query in queries:
            self._queries.append(query)
            await self.search(query, query)
            if self.best(FULL) is not None:
                return

    async def judge(self, passages: Sequence[Passage], scope: str, query: str | None) -> None:
        """Judge new passages, in parallel."""
        judge = self._agent.support
        ranked = [(p, n) for n, p in enumerate(passages, 1) if p.id not in self._judged]
        questions = [self._question(judge, passage, self._sentence) for passage, _ in ranked]
        for (passage, rank), (verdict, path) in zip(
            ranked, await self._tools.judge_each(judge, questions) if questions else (), strict=True
        ):
            if isinstance(verdict, Unjudged):
                self._missing.append(verdict)
            elif verdict.label == FULL and not is_carried_by_quotes(verdict):
                what = f"{passage.id} supports the sentence, but without a quote"
                self._missing.append(Unjudged(Reason.UNGROUNDED, what))
            else:
                self._judged[passage.id] = JudgedPassage(passage, scope, rank, query, verdict, path)

    def best(self, label: str) -> JudgedPassage | None:
        """The passage with this label and the highest score; without scores, the first."""
        return next((judged for judged in self._by_worth() if judged.verdict.label == label), None)

    async def look_for_contradiction(self) -> dict[str, Any]:
        """Check whether a passage contradicts a sentence whose citation supports it."""
        if "corpus" not in self._agent.plan.scopes:
            return self.end("cited_ok")
        hits = await self._tools.search(self._sentence, self._agent.plan.judged)
        names = [name for name, _ in hits if name != self._item["cited"]]
        against = await self._contradicting(self._passage(name) for name in names)
        outcome = "cited_ok" if against is None else "conflict"
        return self.end(outcome, contradiction=against)

    async def decide(self, is_cited: bool, is_partial: bool) -> dict[str, Any]:
        """Derive the outcome from all labels. Raises: JudgeError if a failure could change it."""
        full, partial = self.best(FULL), self.best(PARTIAL)
        if full is None:
            self._need_all()
        cited = self._text(self._item["cited"]) if is_cited else None
        candidates = [cited] if cited is not None else []
        candidates += [each.passage for each in self._by_worth() if each.verdict.label != FULL]
        against = await self._contradicting(candidates)
        because = [judged.path for judged in (full or partial,) if judged is not None]
        if against is not None:
            outcome = "contradicted" if full is None else "conflict"
            return self.end(outcome, because, full, contradiction=against)
        if full is not None:
            outcome = "wrong_citation" if is_cited else "uncited_supported"
            return self.end(outcome, because, full)
        if partial is not None or is_partial:
            return self.end("partly_supported", because, partial, claims=await self._claims())
        return self.end("not_found", [judged.path for judged in self._judged.values()])

    def end(
        self,
        outcome: str,
        because: Sequence[str] = (),
        suggestion: JudgedPassage | None = None,
        contradiction: dict[str, Any] | None = None,
        claims: Sequence[dict[str, Any]] = (),
    ) -> dict[str, Any]:
        """Return the agent's result, and end the trace with it."""
        path = [contradiction.pop("path")] if contradiction else []
        self._tools.end(outcome, [*because, *path])
        return {
            "outcome": outcome,
            "suggestion": suggestion.as_row() if suggestion else None,
            "best": [judged.passage.id for judged in self._by_worth()[:MAX_SHOWN]],
            "contradiction": contradiction,
            "claims": list(claims),
            "queries": self._queries,
        }

    async def _contradicting(self, passages: Iterable[Passage]) -> dict[str, Any] | None:
        """The first of the best passages that contradicts the sentence."""
        judge, most = self._agent.contradiction, self._agent.plan.contradictions
        questions = [self._question(judge, passage, self._sentence) for passage in passages][:most]
        verdicts = await self._tools.judge_each(judge, questions) if questions else []
        for question, (verdict, path) in zip(questions, verdicts, strict=True):
            if not isinstance(verdict, Unjudged) and verdict.label == CONTRADICTS:
                at = {"passage_id": question.about["passage"], "path": path}
                return {**at, **verdict.as_row()}
        self._missing = [verdict for verdict, _ in verdicts if isinstance(verdict, Unjudged)]
        self._need_all()
        return None

    async def _claims(self) -> list[dict[str, Any]]:
        """Each claim of the sentence with the passage that supports it; [] for a single claim."""
        agent = self._agent
        if not agent.plan.claims:
            return []
        call = agent.claim_extractor.extract(self._sentence)
        (claims, _), _ = await self._tools.ask(
            "claim_extractor", call, {}, lambda reply: {"claims": reply[0]}
        )
        passages = [each.passage for each in self._by_worth() if each.verdict.label == PARTIAL][
            :MAX_SHOWN
        ]
        if self._item.get("label") == PARTIAL and self._item.get("cited") is not None:
            passages.insert(0, self._get_cited())
        rows = []
        for number, claim in enumerate(claims if len(claims) > 1 else ()):
            part = self._tools.part("plan", f"claim {number}")
            questions = [self._question(agent.support, p, claim, claim=number) for p in passages]
            verdicts = await part.judge_each(agent.support, questions)
            self._missing = [verdict for verdict, _ in verdicts if isinstance(verdict, Unjudged)]
            carries = [
                p.id
                for p, (verdict, _) in zip(passages, verdicts, strict=True)
                if not isinstance(verdict, Unjudged) and verdict.label == FULL
            ]
            if not carries:
                self._need_all()
            rows.append({"claim": claim, "passage_id": carries[0] if carries else None})
        return rows

    def _by_worth(self) -> list[JudgedPassage]:
        """The judged passages, the best first; ties in the order of discovery."""
        ranks = {label: n for n, label in enumerate(self._agent.support.scale)}
        return sorted(
            self._judged.values(),
            key=lambda each: (-ranks[each.verdict.label], -(each.verdict.score or 0.0)),
        )

    def _need_all(self) -> None:
        if self._missing:
            first = self._missing[0]
            n = len(self._missing)
            raise JudgeError(first.reason, f"{n} not judged, the first: {first.detail}", first.raw)

    def _question(
        self, judge: ItemJudge, passage: Passage, sentence: str, **about: Any
    ) -> Question:
        inputs = {"sentence": sentence, "passage": passage.text}
        return Question(
            {**inputs, **judge.optional_inputs({"title": passage.title})},
            {"passage": passage.id, **about},
        )

    def _get_cited(self) -> Passage:
        return self._passage(self._item["cited"])

    def _passage(self, name: str) -> Passage:
        """Return a passage. Raises: JudgeError(no_passage)."""
        return self._own(name) or self._tools.passage(name)

    def _text(self, name: str) -> Passage | None:
        try:
            return self._passage(name)
        except JudgeError:  # not in the data, so it cannot be judged
            return None

    def _own(self, name: str) -> Passage | None:
        if (document := self._documents.get(name)) is None:
            return None
        title, text = document
        return Passage(id=name, title=title, text=text)


def is_carried_by_quotes(verdict: Verdict) -> bool:
    """Whether the label has a quote from the passage, if the judge was asked for quotes."""
    quotes = verdict.evidence
    return quotes is None or any(each.is_quoted and each.of == "passage" for each in quotes)
