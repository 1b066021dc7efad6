"""The items that an adjudicator decides: people differ on them; their names are hidden."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import orjson

from ..store.events import Verdict
from ..store.state import State
from ..work.disputes import JUDGE, Dispute, disputes, get_letter
from ..work.task import Task
from .session import Progress, Session

Object = dict[str, Any]
States = Callable[[], AbstractContextManager[Mapping[str, State]]]


class DisputeQueue:
    """The disputes of one adjudicator, updated when labels change.

    Args:
        states: the states of all annotators, while none of them writes.
        against_judge: the judge's label is one of the sources, and items on which most people
            differ from it are disputes, too.
    """

    def __init__(
        self, task: Task, session: Session, states: States, *, against_judge: bool, seed: int
    ) -> None:
        self.task, self.session = task, session
        self.against_judge = against_judge
        self._states, self._seed = states, seed
        self._current: tuple[Mapping[str, int], dict[int, Dispute]] = ({}, {})

    def all(self) -> dict[int, Dispute]:
        """The current disputes by number, in this person's order."""
        with self._states() as states:
            sizes = {name: state.n for name, state in states.items()}
            if self._current[0] != sizes:
                current = disputes(
                    self.task,
                    states,
                    self.session.person,
                    condition=self.session.condition,
                    against_judge=self.against_judge,
                    seed=self._seed,
                )
                self._current = sizes, {one.n: one for one in current}
            return self._current[1]

    def name(self, dispute: Dispute) -> str:
        """The name of a dispute; it stays the same while its labels do."""
        of = [self.task.fingerprint, self.task.kind, dispute.cell]
        sources = [[one.name, one.label, one.rationale] for one in dispute.sources]
        return hashlib.sha256(orjson.dumps([of, sources])).hexdigest()[:16]

    def verdict(self, dispute: Dispute) -> Verdict | None:
        """The verdicts of this person."""
        key = ("adjudicate", self.task.kind, self.session.condition, *dispute.cell)
        with self.session.journal() as journal:
            event = journal.state.last(key)
        return event if isinstance(event, Verdict) else None

    @property
    def progress(self) -> Progress:
        """The progress of this person."""
        verdicts = [self.verdict(one) for one in self.all().values()]
        decided = [one for one in verdicts if one is not None]
        return Progress(len(decided), len(verdicts), sum(one.active_ms for one in decided))

    def first_open(self) -> int | None:
        """The first dispute without a verdict, or the first; None if there are no disputes."""
        current = self.all()
        first = (n for n, one in current.items() if self.verdict(one) is None)
        return next(first, next(iter(current), None))

    def show(self, n: int) -> Object | None:
        """A dispute without names; None if people agree on the item."""
        current = self.all()
        if n not in current:
            return None
        dispute, order = current[n], list(current)
        at = order.index(n)
        verdict = self.verdict(dispute)
        decision = (
            None if verdict is None else {"label": verdict.label, "rationale": verdict.rationale}
        )
        return {
            "n": n,
            "item": self.name(dispute),
            "question": self.task.question(dispute.cell),
            "words": self.task.label_words(dispute.cell),
            "texts": [one._asdict() for one in self.task.show_texts(dispute.cell)],
            "sources": dispute.hide_names(),
            "verdict": decision,
            "at": at,
            "total": len(order),
            "next": order[at + 1] if at + 1 < len(order) else None,
            "previous": order[at - 1] if at else None,
        }

    def reveal(self, n: int) -> Object | None:
        """The names behind the labels, after this person has decided; None before."""
        dispute = self.all().get(n)
        verdict = None if dispute is None else self.verdict(dispute)
        if dispute is None or verdict is None:
            return None
        sources = {one.name: one for one in dispute.sources}
        return {
            "sources": [
                {
                    "letter": get_letter(at),
                    "label": sources[name].label,
                    "rationale": sources[name].rationale,
                    "name": "the judge" if name == JUDGE else name,
                    "is_judge": name == JUDGE,
                }
                for at, name in enumerate(verdict.order)
                if name in sources
            ]
        }
