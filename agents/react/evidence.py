"""A free search for evidence: which passage backs up a sentence, decided by labels alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...backends.errors import JudgeError
from ...judges.items import ItemJudge
from ...judges.planning.actions import Action, Turn, labels_in, passages_found
from ...judges.planning.planner import Planner
from ...judges.verdicts import Verdict
from ...records.judgements import Reason
from ...records.rows import Passage
from ...retrieval.scored import Ranked
from ..corpus import Corpus
from ..evidence import (
    FULL,
    MOST_SHOWN,
    PARTIAL,
    SCOPES,
    EvidenceAgent,
    JudgedPassage,
    is_carried_by_quotes,
)
from ..limits import Limits
from ..tools import Tools
from .agent import FreeAgent, question_of
from .turns import Done


class EvidenceByReact(FreeAgent):
    """Looks for a passage that backs up a sentence, by queries of a model's choice.

    Args:
        planner: an `EvidencePlanner`; of passages it sees ids and labels alone.
        support: as for FreeAgent. recheck: looks at the cited passage once more; None: nobody
            does, but where its label is not known the support judge.
        scopes: as of a Plan; the corpus is always searched.

    Inputs and result are those of EvidenceAgent, of which `cited`, `label`, `references` and
    `documents` may be left out; nothing is said of contradictions and claims.

    The outcome follows from the labels, whatever the planner says: `cited_ok`; `wrong_citation` or
    `uncited_supported` with the best full passage as `suggestion`; `partly_supported` with the best
    partial one, if another than the cited one is; `not_found`, which the planner may end with only
    when it has searched and had all that it found judged.
    """

    name = "evidence_react"
    inputs = EvidenceAgent.inputs
    default_limits = Limits(steps=6, hits=8)

    def __init__(
        self,
        planner: Planner,
        support: ItemJudge,
        corpus: Corpus | None = None,
        limits: Limits | None = None,
        *,
        recheck: ItemJudge | None = None,
        scopes: Sequence[str] = SCOPES,
    ) -> None:
        super().__init__(planner, support, corpus, limits)
        self.recheck = recheck if "self" in scopes else None
        self.scopes = tuple(scopes)

    def identity(self) -> list[Any]:
        """See Agent."""
        return [*super().identity(), list(self.scopes)]

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        """See Agent."""
        item = {"cited": None, "label": None, **item}
        cited = item["cited"]
        own = item.get("references") or () if "reply" in self.scopes else ()
        names = [name for name in dict.fromkeys(own) if name != cited]
        item["references"] = [name for name in names if self._has_text(tools, name, item)]
        judge = self.recheck or (self.support if item["label"] is None else None)
        if cited is not None and judge is not None:
            part = tools.part("turn", "cited")
            question = question_of(judge, item["sentence"], self.passage(tools, cited, item))
            verdict, path = await part.judge(judge, question.inputs, question.about)
            if verdict.label == FULL:
                return self._ended(tools, "cited_ok", [path], self.begun())
            item["label"] = item["label"] or verdict.label
        return await self.go_on(tools, item, self.begun())

    def statement(self, action: Action, item: Mapping[str, Any]) -> str:
        """See FreeAgent: always the sentence."""
        return str(item["sentence"])

    def hits(self, ranked: Ranked, item: Mapping[str, Any]) -> list[str]:
        """See FreeAgent: all but the cited passage, whose label is known."""
        return [name for name in super().hits(ranked, item) if name != item.get("cited")]

    def passage(self, tools: Tools, name: str, item: Mapping[str, Any]) -> Passage:
        """See FreeAgent: of the answer's own file first."""
        if (document := (item.get("documents") or {}).get(name)) is None:
            return tools.passage(name)
        title, text = document
        return Passage(id=name, title=title, text=text)

    def shown(self, name: str, verdict: Verdict) -> dict[str, Any]:
        """See FreeAgent: the label, and no word of the passage."""
        if verdict.label == FULL and not is_carried_by_quotes(verdict):
            what = f"{name} carries the sentence, but no words of it are quoted"
            raise JudgeError(Reason.UNGROUNDED, what)
        return {"passage": name, "label": verdict.label}

    def is_settled(self, turns: Sequence[Turn]) -> bool:
        """See FreeAgent: once a passage is full."""
        return FULL in labels_in(turns).values()

    def result(self, tools: Tools, item: Mapping[str, Any], done: Done) -> dict[str, Any]:
        """See FreeAgent: the outcome that the labels have."""
        judged = self._by_worth(done, tools, item)
        best = judged[0] if judged else None
        label = best.verdict.label if best is not None else None
        if best is not None and label == FULL:
            outcome = "wrong_citation" if item["cited"] is not None else "uncited_supported"
            return self._ended(tools, outcome, [best.path], done, judged)
        if best is not None and label == PARTIAL:
            return self._ended(tools, "partly_supported", [best.path], done, judged)
        if item["label"] == PARTIAL:
            return self._ended(tools, "partly_supported", done.paths, done)
        return self._ended(tools, "not_found", done.paths, done)

    def _by_worth(self, done: Done, tools: Tools, item: Mapping[str, Any]) -> list[JudgedPassage]:
        """The judged passages, the best first, each as it was first found."""
        ranks = {label: n for n, label in enumerate(self.support.scale)}
        judged = []
        for name, (verdict, path) in done.verdicts.items():
            at = next((t for t in done.turns if name in passages_found([t])), None)
            scope, among, query = "reply", list(item["references"]), None
            if at is not None:
                scope, among, query = "corpus", at["found"], at["action"]["query"]
            query = None if query == item["sentence"] else query
            passage = self.passage(tools, name, item)
            judged.append(
                JudgedPassage(passage, scope, among.index(name) + 1, query, verdict, path)
            )
        return sorted(
            judged, key=lambda each: (-ranks[each.verdict.label], -(each.verdict.score or 0.0))
        )

    def _ended(
        self,
        tools: Tools,
        outcome: str,
        because: Sequence[str],
        done: Done,
        judged: Sequence[JudgedPassage] = (),
    ) -> dict[str, Any]:
        tools.end(outcome, because)
        searched = [t["action"] for t in done.turns if t["action"]["tool"] == "search"]
        return {
            "outcome": outcome,
            "suggestion": judged[0].as_row() if judged else None,
            "best": [each.passage.id for each in judged[:MOST_SHOWN]],
            "contradiction": None,
            "claims": [],
            "queries": [action["query"] for action in searched],
        }

    def _has_text(self, tools: Tools, name: str, item: Mapping[str, Any]) -> bool:
        try:
            return bool(self.passage(tools, name, item))
        except JudgeError:  # not in the data, so that nobody can look at it
            return False
