"""A judge as a DSPy program, so that `dspy.experimental.ReAnchor` can fit its choice of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import dspy
from dspy.experimental import Choice, Score

from ...backends.loop import run_sync
from ...judges.fitted import Correction
from ...judges.items import ItemJudge, judge_items
from ...judges.verdicts import Verdict
from ...records.judgements import Unjudged

LABEL = "label"


class DecisionProgram(dspy.Module):  # type: ignore[misc]
    """A judge of items for ReAnchor: `program(sentence=, passage=)` returns the label DSPy chooses.

    The judge is asked once about each item. ReAnchor then tries other ways to choose a label from
    its probabilities: cuts on the expected place on the scale if the labels have an order, else a
    weight for each label. `make_judge` returns a judge for runs that chooses in the fitted way.

    Args:
        judge: must give probabilities (a decision model, or a model with log-probabilities), and
            must not be fitted yet.

    Raises: ValueError for a judge without probabilities, or that is fitted already.
    """

    def __init__(self, judge: ItemJudge) -> None:
        super().__init__()
        if judge.correction is not None:
            raise ValueError("the judge is fitted already; wanted a judge that is not fitted")
        if judge.is_derived or not judge.has_logprobs:
            what = "a decision model, or a model with logprobs: true"
            raise ValueError(f"the {judge.name} judge gives no probabilities; wanted {what}")
        self._asked = _Asked(judge)
        fields: dict[str, Any] = {name: (str, dspy.InputField()) for name in judge.inputs}
        fields |= {name: (str, dspy.InputField(default="")) for name in judge.optional}
        kind = (
            Score[judge.scale] if judge.is_ordered else Choice[tuple((n, "") for n in judge.scale)]
        )
        fields[LABEL] = (kind, dspy.OutputField(desc="the label that fits"))
        self.decide = dspy.Predict(dspy.Signature(fields))
        self.decide.lm = self._asked

    def ask(self, examples: Sequence[dspy.Example]) -> list[dspy.Example]:
        """Ask about all examples, grouped by text, and return those that were judged.

        Args:
            examples: have the inputs of the judge; a `topic_id` is noted in the fit.
        """
        return self._asked.ask(examples)

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Return the `label` that the current settings choose, and all `probabilities`."""
        found, scale = self.decide(**inputs)[LABEL], self._asked.judge.scale
        label = scale[found.level] if isinstance(found, Score) else found.value
        shares = {
            scale[name] if isinstance(name, int) else name: share
            for name, share in found.probabilities.items()
        }
        return dspy.Prediction(label=label, probabilities=shares)

    def make_judge(self) -> ItemJudge:
        """Return the judge with the cuts or weights of this program.

        `save_state` writes it for `judges.NAME.state`. If ReAnchor found no better cuts, the judge
        gets DSPy's, halfway between two labels.
        """
        judge, found = self._asked.judge, self.decide.fields.get(LABEL, {})
        top = len(judge.scale) - 1  # DSPy's cuts are on 0, 1, ... k-1, ours on [0, 1]
        correction = None
        if judge.is_ordered:
            cuts = found.get("cuts") or [level + 0.5 for level in range(top)]
            correction = Correction(cuts=tuple(cut / top for cut in cuts))
        elif weights := found.get("weights"):
            correction = Correction(weights=weights)
        update = {"correction": correction, "fitted_on": tuple(sorted(self._asked.topics))}
        return judge.copy_with_fit(judge.identify().model_copy(update=update))


@dataclass(frozen=True)
class _Item:
    ids: Mapping[str, str]
    inputs: Mapping[str, str]


class _Asked:
    """A judge that DSPy uses like a decision model, with the verdicts that it gave."""

    supports_decision_requests, cache = True, True

    def __init__(self, judge: ItemJudge) -> None:
        self.judge, self.model = judge, judge.model_name
        self.callbacks: list[Any] = []
        self.topics: set[str] = set()
        self._verdicts: dict[tuple[str, ...], Verdict] = {}

    def ask(self, examples: Sequence[dspy.Example]) -> list[dspy.Example]:
        judge = self.judge
        items = []
        for example in examples:
            ids = {"topic_id": str(example.topic_id)} if "topic_id" in example else {}
            inputs = {name: example[name] for name in judge.inputs}
            items.append(_Item(ids, inputs | judge.optional_inputs(example)))
        judged = []
        for example, item, (verdict, _) in zip(
            examples, items, run_sync(judge_items(judge, items)), strict=True
        ):
            if isinstance(verdict, Unjudged):
                continue
            self._verdicts[self._key(item.inputs)] = verdict
            self.topics |= set(item.ids.values())
            judged.append(example)
        return judged

    def __call__(self, state: Mapping[str, Any], questions: Mapping[str, Any]) -> dict[str, Any]:
        judge, given = self.judge, state["inputs"]
        inputs = {name: given[name] for name in judge.inputs} | judge.optional_inputs(given)
        key = self._key(inputs)
        if (verdict := self._verdicts.get(key)) is None:
            verdict = self._verdicts[key] = run_sync(judge.verdict(**inputs))[0]
        shares = verdict.probabilities
        if shares is None:
            raise ValueError(f"{self.model} gave a label without probabilities")
        by_name = {str(i): p for i, p in enumerate(shares.values())} if judge.is_ordered else shares
        return {LABEL: {"probabilities": by_name, "confidence": max(shares.values())}}

    async def acall(self, state: Any, questions: Any) -> dict[str, Any]:
        return self(state, questions)

    def dump_state(self) -> dict[str, Any]:
        raise TypeError("save the judge: program.make_judge().save_state(path)")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # so that the copies of an optimiser ask about each item once

    def _key(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(inputs.get(name, "") for name in (*self.judge.inputs, *self.judge.optional))
