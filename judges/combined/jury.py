"""A jury: several judges label each item, and a rule combines their votes."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import dspy

from ...backends.adapter import with_first
from ...backends.errors import JudgeError
from ...backends.loop import task_group
from ...backends.prompt import Prompt
from ...metrics.jury import METHODS, TIES, JuryMethod, Ties, combine_votes
from ...records.judgements import Evidence, Provenance, Reason, Unjudged
from ...records.kinds import ADJUDICATED, FIRST
from ..items import ItemJudge
from ..verdicts import Verdict, as_one

SHARED = ("name", "kind", "key", "inputs", "source", "listed", "scale", "is_ordered", "window")


class Several(ItemJudge):
    """A judge that asks other judges."""

    predictor = ""  # it asks nothing itself

    async def verdicts(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], Provenance]:
        """See ItemJudge; all calls count as one."""
        judged, calls = await self.judge_items(items, topic_id)
        return judged, as_one(self.model_name, calls)

    async def decide(self, **inputs: Any) -> dspy.Prediction:
        """Judge each item once. A judge with a listed input takes a list under its plural name."""
        several = self.several
        if self.listed is None or several not in inputs:
            return await super().decide(**inputs)
        shared = {name: value for name, value in inputs.items() if name != several}
        verdicts = await self.in_windows(
            [{**shared, self.listed: text} for text in inputs[several]]
        )
        return self.prediction(verdicts)

    def _take_shared(self, judges: Mapping[str, ItemJudge]) -> None:
        """Copy the attributes that judges of the same items share, such as the scale.

        Args:
            judges: by their names in errors; the gains come from the first.

        Raises: ValueError for a judge that differs from the first.
        """
        first = next(iter(judges.values()))
        for name, judge in judges.items():
            for shared in SHARED:
                if (got := getattr(judge, shared)) != (wanted := getattr(first, shared)):
                    raise ValueError(f"{name}: {shared} is {got!r}, the others have {wanted!r}")
        for shared in (*SHARED, "gains"):
            setattr(self, shared, getattr(first, shared))
        self.optional = max((judge.optional for judge in judges.values()), key=len)
        self.definition = getattr(first, "definition", None)  # of a custom judge


class Followed(Several):
    """A judge, and a second judge that is asked about its labels.

    Attributes:
        first: gives the labels. role: the second judge's name in prompts.
    """

    first: ItemJudge
    role: ClassVar[str]

    @property
    def second(self) -> ItemJudge:
        """The second judge."""
        raise NotImplementedError

    def prompts(self) -> dict[str, Prompt]:
        """See Judge: the prompts of both."""
        return {
            f"{who}.{name}": prompt
            for who, judge in ((FIRST, self.first), (self.role, self.second))
            for name, prompt in judge.prompts().items()
        }

    @property
    def most_calls(self) -> int:
        """See ItemJudge."""
        return self.first.most_calls + 1

    @property
    def has_logprobs(self) -> bool:
        """See ItemJudge: True if the first judge has log-probabilities."""
        return self.first.has_logprobs


def with_input(judge: ItemJudge, name: str, desc: str) -> ItemJudge:
    """Return a copy of the judge with one more input, before the others.

    Raises: ValueError if it has an input or output of that name, or a custom prompt.
    """
    signature = judge.question(judge.predictor).signature
    if judge.own_words == "prompt":
        raise ValueError(f"the {judge.name} judge has a custom prompt, without {name!r}")
    if name in signature.fields or name in judge.inputs:
        raise ValueError(f"{name!r} is a field of the {judge.name} judge")
    changed: ItemJudge = judge.deepcopy()
    predict = changed.question(judge.predictor)
    predict.signature = with_first(signature, name, dspy.InputField(desc=desc), str)
    changed.inputs = (*judge.inputs, name)
    return changed


OTHER_JUDGES = "other_judges"
DESC = (
    "labels that other judges gave, how many of them gave each, and what one of them went by; any "
    "of these may be wrong, the most frequent too"
)


def adjudicating(judge: ItemJudge) -> ItemJudge:
    """Return a copy of the judge that sees the labels of others beside the item."""
    return with_input(judge, OTHER_JUDGES, DESC)


def labels_as_text(item: Mapping[str, str], verdicts: Mapping[str, Verdict]) -> str:
    """Return the distinct labels with their counts and one quote each, without the judges' names.

    The order depends on the item only, so that the most frequent label has no fixed place.
    """
    counts: dict[str, int] = {}
    quotes: dict[str, str] = {}
    for verdict in verdicts.values():
        counts[verdict.label] = counts.get(verdict.label, 0) + 1
        if quote := _quote(verdict.evidence):
            quotes.setdefault(verdict.label, quote)

    def draw(label: str) -> bytes:
        return hashlib.sha256(repr((sorted(item.items()), label)).encode()).digest()

    return "\n".join(
        f"{label}: {counts[label]} of {len(verdicts)}"
        + (f', going by "{quotes[label]}"' if label in quotes else "")
        for label in sorted(counts, key=draw)
    )


def _quote(evidence: Sequence[Evidence] | None) -> str:
    """The quote of a verdict; the first if there are several."""
    return evidence[0].quote.strip() if evidence else ""


VERSION = "1"  # raised when the combination of labels changes


class _Replies(NamedTuple):
    """A member's verdicts on the items of a call, or the error instead."""

    verdicts: list[Verdict | Unjudged] | None
    calls: tuple[Provenance, ...]
    error: JudgeError | None = None


class Jury(Several):
    """Several judges of one question: `jury(sentence=, passage=)` has label, score, votes, spread.

    Args:
        members: judges of the same name, scale and window, by name or in a list, in which case
            their models name them. They may differ in model, prompt, fit and replicate.
        method: `vote`, `median` or `mean`, see `metrics.jury.combine_votes`.
        quorum: the number of members that must give a label; None: more than half of them.
        ties: the label for a tie. None: `between`, or `unjudged` if labels have no order.
        adjudicator: a judge of the same kind that is shown the item and the distinct labels with
            counts; its label counts if members differ. None: no adjudicator.
        spread: call the adjudicator if the lowest and the highest vote are at least this many steps
            of the scale apart, >= 1.

    A member that fails gives no vote. With fewer votes than the quorum, the items of the call are
    Unjudged(quorum). If a member reaches the limit of a budget, the call ends for that reason: the
    same run with a higher limit would have its vote. The score is the mean position of the votes on
    the scale (for a member with probabilities, its expected position); `judge calibrate` fits it.
    Verdicts keep the members' labels (`votes`), and the quotes of the members that gave the label.

    Raises: ValueError for members that differ in what they judge, or settings that do not fit.
        JudgeError from a call, if there is no judgement.

    >>> from nuggetjudge.judges import SupportJudge
    >>> jury = Jury({"a": SupportJudge("lexical"), "b": SupportJudge("lexical")})
    >>> judged = jury(sentence="Wind sways bridges.", passage="Wind sways bridges.")
    >>> judged.label, judged.score, judged.votes, judged.spread
    ('full', 1.0, {'a': 'full', 'b': 'full'}, 0)
    """

    def __init__(
        self,
        members: Mapping[str, ItemJudge] | Sequence[ItemJudge],
        method: JuryMethod = "median",
        *,
        quorum: int | None = None,
        ties: Ties | None = None,
        adjudicator: ItemJudge | None = None,
        spread: int = 1,
    ) -> None:
        super().__init__()
        self.members = dict(members) if isinstance(members, Mapping) else _name_members(members)
        if len(self.members) < 2:
            raise ValueError(f"wanted 2 or more members, got {len(self.members)}")
        first = next(iter(self.members.values()))
        self._take_shared(self.members | ({"the adjudicator": adjudicator} if adjudicator else {}))
        self.version = f"{first.version}+jury{VERSION}"
        self.method = method
        self.quorum = len(self.members) // 2 + 1 if quorum is None else quorum
        self.ties: Ties = ties or ("between" if self.is_ordered else "unjudged")
        self.adjudicator = None if adjudicator is None else adjudicating(adjudicator)
        self.spread = spread
        self._check()

    def _check(self) -> None:
        n = len(self.members)
        if self.method not in METHODS or self.ties not in TIES:
            wanted = f"method: one of {', '.join(METHODS)}; ties: one of {', '.join(TIES)}"
            raise ValueError(f"wanted {wanted}, got {self.method} and {self.ties}")
        if not 1 <= self.quorum <= n:
            raise ValueError(f"wanted a quorum from 1 to {n} (the members), got {self.quorum}")
        if self.spread < 1:
            raise ValueError(f"wanted a spread of 1 or more, got {self.spread}")
        if not self.is_ordered and (self.method, self.ties) != ("vote", "unjudged"):
            what = "labels without an order need method: vote and ties: unjudged"
            raise ValueError(f"{what}; got {self.method}, {self.ties}")
        if self.ties == "unjudged" and self.window > 1 and self.adjudicator is None:
            what = f"a tie on one of the {self.window} items of a call would leave all unjudged"
            raise ValueError(f"{what}; wanted window 1, an adjudicator or other ties")

    async def judge_items(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], tuple[Provenance, ...]]:
        """See ItemJudge. Returns the calls of all members in order, then the adjudicator's."""
        if not 0 < len(items) <= self.window:
            raise ValueError(f"wanted 1 to {self.window} items in a call, got {len(items)}")
        async with task_group() as group:
            tasks = {
                name: group.create_task(_ask_member(name, judge, items, topic_id))
                for name, judge in self.members.items()
            }
        replies = {name: task.result() for name, task in tasks.items()}
        self._check_quorum(replies)
        by_item = [
            {
                name: verdict
                for name, of in replies.items()
                if of.verdicts is not None and isinstance(verdict := of.verdicts[i], Verdict)
            }
            for i in range(len(items))
        ]
        both = zip(items, by_item, strict=True)
        outcomes = await asyncio.gather(
            *(self._combine(item, verdicts, topic_id) for item, verdicts in both)
        )
        calls = [call for of in replies.values() for call in of.calls]
        calls += [call for _, call in outcomes if call is not None]
        return [verdict for verdict, _ in outcomes], tuple(calls)

    def prediction(self, outcome: Verdict | Sequence[Verdict], **more: Any) -> dspy.Prediction:
        """See ItemJudge. Adds the votes and, for one item, their spread."""
        if not isinstance(outcome, Verdict):
            return dspy.Prediction(
                verdicts=[verdict.label for verdict in outcome],
                scores=[verdict.score for verdict in outcome],
                votes=[verdict.votes for verdict in outcome],
                **more,
            )
        codes = [self.scale.index(label) for label in (outcome.votes or {}).values() if label]
        spread = max(codes) - min(codes) if self.is_ordered else len(set(codes)) - 1
        about = {"label": outcome.label, "score": outcome.score, "votes": outcome.votes}
        return dspy.Prediction(**about, spread=spread, **more)

    def prompts(self) -> dict[str, Prompt]:
        """See Judge: the prompts of all members and of the adjudicator."""
        judges = dict(self.members)
        if self.adjudicator is not None:
            judges["adjudicator"] = self.adjudicator
        return {
            f"{member}.{name}": prompt
            for member, judge in judges.items()
            for name, prompt in judge.prompts().items()
        }

    @property
    def most_calls(self) -> int:
        """See ItemJudge."""
        return len(self.members) + (self.adjudicator is not None)

    @property
    def has_logprobs(self) -> bool:
        """See ItemJudge: whether any member has log-probabilities."""
        return any(judge.has_logprobs for judge in self.members.values())

    @property
    def model_name(self) -> str:
        """See ItemJudge: the members' models."""
        return f"jury({' + '.join(judge.model_name for judge in self.members.values())})"

    def _check_quorum(self, replies: Mapping[str, _Replies]) -> None:
        """Raise JudgeError if too few members judged."""
        errors = {name: of.error for name, of in replies.items() if of.error is not None}
        for name, error in errors.items():
            if error.reason is Reason.BUDGET:
                raise JudgeError(error.reason, f"{name}: {error.detail}", error.raw)
        n = len(replies) - len(errors)
        if n < self.quorum:
            why = "; ".join(f"{name}: {e.reason}, {e.detail}" for name, e in errors.items())
            raw = next(iter(errors.values())).raw
            what = f"{n} of {len(replies)} members judged, wanted {self.quorum}; {why}"
            raise JudgeError(Reason.QUORUM, what, raw)

    async def _combine(
        self, item: Mapping[str, str], verdicts: Mapping[str, Verdict], topic_id: str | None
    ) -> tuple[Verdict | Unjudged, Provenance | None]:
        """The verdict on one item, and the call of the adjudicator if it was asked."""
        if (n := len(verdicts)) < self.quorum:  # a member's label may be ungrounded
            what = f"{n} of {len(self.members)} members judged, wanted {self.quorum}"
            return Unjudged(Reason.QUORUM, what), None
        codes = [self.scale.index(verdict.label) for verdict in verdicts.values()]
        votes = {n: verdicts[n].label if n in verdicts else None for n in self.members}
        score = self._score(verdicts)
        away = max(codes) - min(codes) if self.is_ordered else len(set(codes)) - 1
        if self.adjudicator is not None and away >= self.spread:
            shown = {**item, self.adjudicator.inputs[-1]: labels_as_text(item, verdicts)}
            try:
                ruling, call = await self.adjudicator.verdict(topic_id, **shown)
            except JudgeError as error:
                what = f"adjudicator: {error.detail}"
                raise JudgeError(error.reason, what, error.raw) from None
            decided = Verdict(ruling.label, score, method=ADJUDICATED, votes=votes)
            return decided._replace(evidence=ruling.evidence), call
        ties = self.ties if self.correction is None else "worst"  # its cuts leave no ties
        code = combine_votes(codes, len(self.scale), self.method, ties)
        if code is None:
            raise JudgeError(Reason.ABSTAINED, f"a tie: {', '.join(map(str, votes.values()))}")
        majority = Verdict(self.scale[code], score)
        if self.correction is not None:
            majority = self.correction.verdict(majority, self.scale, topic_id)
        return majority._replace(
            votes=votes, evidence=_collect_quotes(verdicts, majority.label)
        ), None

    def _score(self, verdicts: Mapping[str, Verdict]) -> float | None:
        if not self.is_ordered:
            return None
        best = len(self.scale) - 1
        scores = [
            v.score
            if v.probabilities is not None and v.score is not None
            else self.scale.index(v.label) / best
            for v in verdicts.values()
        ]
        return min(1.0, sum(scores) / len(scores))


def _collect_quotes(verdicts: Mapping[str, Verdict], label: str) -> tuple[Evidence, ...] | None:
    """Distinct quotes of the members that gave this label; None if they quote nothing."""
    quoted = [v.evidence for v in verdicts.values() if v.label == label and v.evidence is not None]
    return tuple(dict.fromkeys(each for quotes in quoted for each in quotes)) if quoted else None


async def _ask_member(
    name: str, judge: ItemJudge, items: Sequence[Mapping[str, str]], topic_id: str | None
) -> _Replies:
    try:
        verdicts, calls = await judge.judge_items(items, topic_id)
    except JudgeError as error:
        return _Replies(None, (), error)
    return _Replies(verdicts, tuple(c._replace(model=f"{name}: {c.model}") for c in calls))


def _name_members(members: Sequence[ItemJudge]) -> dict[str, ItemJudge]:
    """The members by their models; members with the same model are numbered."""
    by_name: dict[str, ItemJudge] = {}
    for judge in members:
        name = base = judge.model_name or "member"
        n = 1
        while name in by_name:
            n += 1
            name = f"{base} {n}"
        by_name[name] = judge
    return by_name
