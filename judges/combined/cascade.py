"""A cascade: a judge whose uncertain labels go to the next judge, or to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from ...backends import open_backend
from ...backends.config import ModelConfig
from ...backends.errors import JudgeError
from ...backends.prompt import Prompt
from ...records.judgements import Provenance, Reason, Unjudged
from ..fitted import JudgeFile
from ..items import ItemJudge
from ..verdicts import Verdict
from .confidence import CascadeFile, Chance, ConfidenceKind, Scale, Seen, compute_confidence
from .jury import Jury, Several

VERSION = "1"  # raised when the choice of kept labels changes
PEOPLE = "people"

FIT = "use a state from judge cascade fit, which works with any judge"


class Cascade(Several):
    """Judges of one question, one after the other: `cascade(sentence=, passage=)`.

    Args:
        stages: two or more judges of the same name, scale and window, the cheapest first; they may
            be juries. The last may be `"people"`: an item that reaches this stage is
            Unjudged(abstained).
        state: a cascade file from `judge cascade fit`: how to compute the confidence of each label
            of the first stage, and the lowest confidence that is kept.
        threshold: instead of a file: keep a label of the first stage from this confidence on, in
            [0, 1].
        confidence: with `threshold`: `agreement` of a jury's votes, or `margin` of probabilities.

    The first stage's confident labels are kept. Its other items, and items on which a stage fails,
    go to the next stage, whose labels are all kept. The result for an item depends on that item
    only. If the last stage fails, the item is Unjudged, whatever earlier stages said. Verdicts of
    later stages name the stage (`method`) and the label that they replaced (`superseded`).

    Raises: ValueError for stages of different kinds, or a state of another cascade. JudgeError from
        a call, if there is no judgement.

    >>> from nuggetjudge.judges import SupportJudge
    >>> jury = Jury([SupportJudge("lexical"), SupportJudge("lexical")])
    >>> cascade = Cascade([jury, "people"], threshold=1.0)
    >>> judged = cascade(sentence="Wind sways bridges.", passage="Wind sways bridges.")
    >>> judged.label, judged.confidence
    ('full', 1.0)
    """

    def __init__(
        self,
        stages: Sequence[ItemJudge | str],
        state: CascadeFile | None = None,
        *,
        threshold: float | None = None,
        confidence: ConfidenceKind = "agreement",
    ) -> None:
        super().__init__()
        judges = [stage for stage in stages if isinstance(stage, ItemJudge)]
        self.to_people = stages[-1] == PEOPLE if stages else False
        if len(judges) + self.to_people != len(stages) or len(stages) < 2 or not judges:
            raise ValueError(f"wanted 2 or more judges, or one judge and {PEOPLE!r} at the end")
        first = judges[0]
        self._take_shared({f"stage {n}": judge for n, judge in enumerate(judges, 1)})
        self.version = f"{first.version}+cascade{VERSION}"
        self.stages = judges
        self.state = state
        if (state is None) is (threshold is None):
            raise ValueError("wanted either a state or a threshold")
        self.keeps = True  # False: every stage judges each item, for a dry run
        self.confidence: ConfidenceKind = confidence if state is None else state.confidence
        self.threshold = float(threshold if state is None else state.threshold)  # type: ignore[arg-type]
        self.labels = Scale(self.scale, self.is_ordered) if state is None else state.labels
        self._check()
        self.lexical = (
            lexical_baseline(first) if state is not None and state.needs_lexical else None
        )

    def _check(self) -> None:
        first, state = self.stages[0], self.state
        members = tuple(first.members) if isinstance(first, Jury) else ()
        if state is None:
            if self.confidence == "calibrated":
                raise ValueError("confidence calibrated: wanted a state from judge cascade fit")
            if self.confidence == "agreement" and not members:
                what = "confidence agreement: the first stage is one judge, without votes"
                raise ValueError(f"{what}; make it a jury, or {FIT}")
            if self.confidence == "margin" and not first.has_logprobs:
                what = "confidence margin: the first stage gives no label probabilities"
                with_them = "set logprobs if the model's endpoint supports them (lexical does not)"
                raise ValueError(f"{what}; {with_them}, or {FIT}")
            return
        if state.judge != self.name or state.scale != self.scale:
            got = f"{state.judge} with {', '.join(state.scale)}"
            raise ValueError(f"the state has {got}, wanted {self.name}, {', '.join(self.scale)}")
        if sorted(state.members) != sorted(members):
            got, wanted = (", ".join(each) or "one judge" for each in (state.members, members))
            raise ValueError(f"the state belongs to {got} as the first stage; here it is {wanted}")
        if isinstance(first, Jury) and state.method not in ("", first.method):
            raise ValueError(
                f"the state belongs to a jury by {state.method}; here it is {first.method}"
            )
        judges = first.members if isinstance(first, Jury) else {"": first}
        for member, model in state.models.items():
            if member in judges and judges[member].model_name != model:
                what = f"it was fitted to labels of {model}"
                raise ValueError(f"{what}; here it is {judges[member].model_name}. Fit it again")
        if state.needs_lexical and lexical_baseline(first) is None:
            raise ValueError(
                "the state uses the lexical score, but this judge has no lexical baseline"
            )

    async def judge_items(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], tuple[Provenance, ...]]:
        """See ItemJudge. Returns the calls of all stages that were asked, in their order."""
        if not 0 < len(items) <= self.window:
            raise ValueError(f"wanted 1 to {self.window} items in a call, got {len(items)}")
        verdicts, calls = await _ask_stage(self.stages[0], 1, items, topic_id)
        sure = [
            await self._sure(verdict, item) for verdict, item in zip(verdicts, items, strict=True)
        ]
        left = [i for i in range(len(items)) if not self._is_kept(sure[i])]
        for i in set(range(len(items))) - set(left):
            verdicts[i] = _verdict(verdicts[i])._replace(confidence=sure[i])
        first = list(verdicts)
        for number, stage in enumerate(self.stages[1:], 2):
            if not left:
                break
            later, more = await _ask_stage(stage, number, [items[i] for i in left], topic_id)
            calls += more
            for i, verdict in zip(left, later, strict=True):
                verdicts[i] = _later(verdict, number, first[i], sure[i])
            left = [i for i in left if isinstance(verdicts[i], Unjudged) or not self.keeps]
        for i in left if self.to_people and self.keeps else ():
            verdicts[i] = Unjudged(
                Reason.ABSTAINED, self._for_people(first[i], verdicts[i], sure[i])
            )
        return verdicts, tuple(calls)

    def prediction(self, outcome: Verdict | Sequence[Verdict], **more: Any) -> dspy.Prediction:
        """See ItemJudge. Adds the confidence of the first stage and the labels replaced later."""
        if isinstance(outcome, Verdict):
            names = ("label", "score", "votes", "confidence", "method", "superseded", "evidence")
            return dspy.Prediction(**{name: getattr(outcome, name) for name in names}, **more)
        return dspy.Prediction(
            verdicts=[each.label for each in outcome],
            scores=[each.score for each in outcome],
            confidences=[each.confidence for each in outcome],
            methods=[each.method for each in outcome],
            superseded=[each.superseded for each in outcome],
            **more,
        )

    def prompts(self) -> dict[str, Prompt]:
        """See Judge: the prompts of all stages."""
        return {
            f"stage {number}.{name}": prompt
            for number, judge in enumerate(self.stages, 1)
            for name, prompt in judge.prompts().items()
        }

    def take_fit(self, state: JudgeFile | None) -> None:
        """See ItemJudge. Raises: ValueError for any fit, because the stages have their own."""
        if state is not None:
            raise ValueError("fit a cascade with judge cascade fit, and each stage by itself")

    @property
    def most_calls(self) -> int:
        """See ItemJudge."""
        return sum(judge.most_calls for judge in self.stages)

    @property
    def has_logprobs(self) -> bool:
        """See ItemJudge: whether any stage has log-probabilities."""
        return any(judge.has_logprobs for judge in self.stages)

    @property
    def model_name(self) -> str:
        """See ItemJudge: the models of the stages, in their order."""
        names = [judge.model_name for judge in self.stages]
        return f"cascade({' > '.join([*names, PEOPLE] if self.to_people else names)})"

    async def _sure(self, verdict: Verdict | Unjudged, item: Mapping[str, str]) -> float | None:
        """Confidence in a label of the first stage; None if there is no label or no confidence."""
        if isinstance(verdict, Unjudged):
            return None
        code = {label: i for i, label in enumerate(self.scale)}
        chances = verdict.probabilities
        lexical = length = None
        if self.lexical is not None:
            lexical = (await self.lexical.verdict(**{n: item[n] for n in self.inputs}))[0].score
        if self.state is not None and self.state.needs_length:
            length = measure_length(self, item)
        seen = Seen(
            label=code[verdict.label],
            score=verdict.score,
            votes={n: None if v is None else code[v] for n, v in (verdict.votes or {}).items()},
            chances=None if chances is None else tuple(chances.get(n, 0.0) for n in self.scale),
            lexical=lexical,
            length=length,
        )
        chance: Chance | None = None if self.state is None else self.state.chance
        return compute_confidence(self.confidence, seen, self.labels, chance)

    def _is_kept(self, sure: float | None) -> bool:
        return self.keeps and sure is not None and sure >= self.threshold

    def _for_people(
        self, first: Verdict | Unjudged, last: Verdict | Unjudged, sure: float | None
    ) -> str:
        reason = f"{first.reason}" if isinstance(first, Unjudged) else f"{first.label!r}"
        if sure is not None:
            reason += f" with confidence {sure:.3f}, wanted {self.threshold:.3f}"
        if len(self.stages) > 1 and isinstance(last, Unjudged):
            reason += f"; then {last.reason}: {last.detail}"
        return f"left to people: {reason}"


def lexical_baseline(judge: ItemJudge) -> ItemJudge | None:
    """Return the lexical baseline of a judge; None if it has none."""
    one = next(iter(judge.members.values())) if isinstance(judge, Jury) else judge
    if one.prompt(one.predictor).baseline is None:
        return None
    changed = one.explaining(evidence=False, reasoning=False)
    changed.backend = open_backend(ModelConfig(model="lexical"))
    changed.take_fit(None)
    return changed


def measure_length(judge: ItemJudge, item: Mapping[str, str]) -> int:
    """Return the characters of the judged text: its source, or all inputs if there is none."""
    names = judge.inputs if judge.source is None else (judge.source,)
    return sum(len(item[name]) for name in names)


async def _ask_stage(
    judge: ItemJudge, number: int, items: Sequence[Mapping[str, str]], topic_id: str | None
) -> tuple[list[Verdict | Unjudged], list[Provenance]]:
    """Outcomes of stage `number` for these items; Unjudged if it gave no judgement.

    Raises: JudgeError if a limit of the budget was reached: the same run with a higher limit would
        have the label.
    """
    try:
        verdicts, calls = await judge.judge_items(items, topic_id)
    except JudgeError as error:
        if error.reason is Reason.BUDGET:
            raise
        return [Unjudged(error.reason, error.detail, error.raw)] * len(items), []
    return list(verdicts), [call._replace(model=f"stage {number}: {call.model}") for call in calls]


def _verdict(verdict: Verdict | Unjudged) -> Verdict:
    assert isinstance(verdict, Verdict)
    return verdict


def _later(
    verdict: Verdict | Unjudged, number: int, first: Verdict | Unjudged, sure: float | None
) -> Verdict | Unjudged:
    """The outcome of a later stage, with the label that it replaces."""
    before = None if isinstance(first, Unjudged) else first.label
    if isinstance(verdict, Verdict):
        return verdict._replace(method=f"stage {number}", confidence=sure, superseded=before)
    note = "" if before is None else f" (the first stage said {before!r})"
    return verdict._replace(detail=f"stage {number}: {verdict.detail}{note}")
