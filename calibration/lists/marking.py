"""What a made list is worth to an optimiser: its F1 against the list of people."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from ...judges.makers.lists import ListMaker
from ...metrics.key_points import ListScores, list_scores
from ...records.judgements import Reason
from ..prompts.asking import key_of
from ..prompts.bridge import Stopped, waited
from ..prompts.marking import Marks
from ..prompts.student import Task
from .examples import ListExample
from .matching import Match, Matcher

MOST_NAMED = 10  # items of a list in a feedback


@dataclass(frozen=True)
class ListTask(Task):
    """One list to be made."""

    wanted: ListExample


def list_tasks(judge: ListMaker, examples: Sequence[ListExample]) -> list[ListTask]:
    """The lists as an optimiser takes them: each as one call whose reply is people's list."""
    tasks = []
    for example in examples:
        fields = judge.example(example.made_from, example.wanted, example.spans)
        inputs = {name: value for name, value in fields.items() if name != judge.output}
        tasks.append(ListTask(inputs, dspy.Example(**fields).with_inputs(*inputs), example))
    return tasks


class ListMarks(Marks):
    """F1 of each made list. One that could not be made, or not be matched at all, has none.

    A list may become a worked example if it is as good as those of the judge's own prompt are on
    the mean.

    Args:
        tasks: all that will be asked about.
    """

    solved = if_perfect = 1.0
    by_chance = None

    def __init__(self, judge: ListMaker, matcher: Matcher, tasks: Sequence[ListTask]) -> None:
        self._output = judge.output
        self._matcher = matcher
        self._wanted = {key_of(task.inputs): task.wanted for task in tasks}
        self._matches: dict[tuple[str, tuple[str, ...]], Match] = {}
        self._lock = threading.Lock()
        self._least = 0.0

    def gains(self, task: Task, prediction: dspy.Prediction) -> Sequence[float | None]:
        """See Marks: one. Raises: Stopped."""
        scores = self._scores(task.inputs, prediction)
        return [scores.f1.value if scores is not None else None]

    def start(self, gain: float | None) -> None:
        """See Marks: sets what a worked example must reach."""
        self._least = gain or 0.0

    def metric(
        self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None
    ) -> float:
        """See Marks. Raises: Stopped."""
        scores = self._scores(_inputs(example), prediction)
        gain = 0.0 if scores is None else scores.f1.value or 0.0
        return gain if trace is None else float(gain > 0 and gain >= self._least)

    def feedback(self, example: dspy.Example, prediction: dspy.Prediction) -> str:
        """See Marks: what the list lacks, and what it has that people did not want."""
        if "failure" in prediction:
            return f"No list was made ({prediction.failure})."
        inputs = _inputs(example)
        scores, wanted = self._scores(inputs, prediction), self._wanted[key_of(inputs)].wanted
        assert scores is not None
        made = prediction[self._output]
        match = self._match(inputs, made)
        shares = ", ".join(
            f"{name} {value.value:.2f}"
            for name, value in (("precision", scores.precision), ("recall", scores.recall))
            if value.value is not None
        )
        lines = [f"Against the list that people made: {shares or 'it could not be compared'}."]
        lines += _named("Missing, which people have", wanted, match.wanted)
        lines += _named("Not on the list of people", made, match.made)
        return "\n".join(lines)

    def _scores(self, inputs: Mapping[str, Any], prediction: dspy.Prediction) -> ListScores | None:
        if prediction is None or self._output not in prediction:
            return None
        match = self._match(inputs, prediction[self._output])
        return list_scores(match.made, match.wanted)

    def _match(self, inputs: Mapping[str, Any], made: Sequence[str]) -> Match:
        key = key_of(inputs)
        with self._lock:
            match = self._matches.get((key, tuple(made)))
        if match is None:
            match = waited(self._matcher.match(self._wanted[key], made))
            if match.unjudged[Reason.BUDGET.value]:
                raise Stopped
            with self._lock:
                self._matches[key, tuple(made)] = match
        return match


def _inputs(example: dspy.Example) -> dict[str, Any]:
    return dict(example.inputs().items())


def _named(what: str, texts: Sequence[str], stated: Sequence[bool | None]) -> list[str]:
    named = [text for text, is_stated in zip(texts, stated, strict=True) if is_stated is False]
    if not named:
        return []
    more = [f"- and {len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
    return [f"{what}:", *(f"- {text}" for text in named[:MOST_NAMED]), *more]
