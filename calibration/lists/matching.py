"""What a made list and people's list share, and what that is worth to an optimiser."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import dspy

from ...judges import ItemJudge, Verdict
from ...judges.calls import calls, judge_items
from ...judges.lexical.entailment import STATED, stated
from ...judges.makers.lists import ListMaker
from ...metrics.key_points import ListScores, list_scores
from ...records.judgements import Reason
from ...records.reading.problems import InputError
from ..prompts.asking import key_of
from ..prompts.bridge import Stopped, waited
from ..prompts.marking import Marks
from ..prompts.student import Task
from .examples import ListExample

LEXICAL = "lexical"


class Match(NamedTuple):
    """For each item whether the other list states it; None: not judged.

    `unjudged`: how many, by reason; `n_calls`: how often a judge was asked.
    """

    made: tuple[bool | None, ...]
    wanted: tuple[bool | None, ...]
    unjudged: Counter[str] = Counter()  # noqa: RUF012  never written to
    n_calls: int = 0


@dataclass(frozen=True)
class _Comparison:
    """One item compared with the other list, as a judge of items is asked about it."""

    ids: Mapping[str, str]
    inputs: Mapping[str, str]


class Matcher:
    """Says what of two lists is stated in the other.

    Args:
        judge: who says it: a judge of items that looks for one text in another, which is the
            other list as a text, a line for each item. Its best label means stated. None: the
            lexical rule of the entailment judge, item by item: an item is stated if some item of
            the other list holds enough of its words.

    Raises: InputError for a judge that does not look for one text in another.
    """

    def __init__(self, judge: ItemJudge | None = None) -> None:
        self._judge = judge
        if judge is None:
            return
        sought = [name for name in judge.inputs if name not in (judge.source, "question")]
        if judge.source is None or len(sought) != 1:
            what = f"the {judge.name} judge does not look for one text in another"
            raise InputError(f"--match {judge.name}: {what}; take lexical or entailment")
        self._sought = sought[0]
        labels = judge.correction.labels if judge.correction is not None else None
        self._best = (labels or judge.scale)[-1]

    def check(self, example: ListExample) -> None:
        """Raise InputError if the judge is asked with a question, and the list has none."""
        if self._judge is not None and "question" in self._judge.inputs and not example.question:
            what = "is asked with a question, which these lists do not have; take entailment"
            raise InputError(f"--match {self._judge.name}: it {what}")

    @property
    def name(self) -> str:
        """For people: what matches."""
        judge = self._judge
        return LEXICAL if judge is None else f"{judge.name} by {judge.model_name or 'DSPy'}"

    async def match(self, example: ListExample, made: Sequence[str], concurrency: int = 8) -> Match:
        """Compare a made list with the wanted one, both ways.

        Raises: EndpointUnusable when no request can succeed.
        """
        sides = ((made, example.wanted), (example.wanted, made))
        if self._judge is None:
            made_too, wanted_too = (
                tuple(_is_stated(t, other) for t in own) for own, other in sides
            )
            return Match(made_too, wanted_too)
        items = [self._item(example, text, other) for own, other in sides for text in own if other]
        if not items:
            return Match((False,) * len(made), (False,) * len(example.wanted))
        verdicts = await judge_items(self._judge, items, concurrency=concurrency)
        reasons = Counter[str]()
        is_stated: list[bool | None] = []
        for outcome, _ in verdicts:
            if isinstance(outcome, Verdict):
                is_stated.append(outcome.label == self._best)
            else:
                is_stated.append(None)
                reasons[str(outcome.reason)] += 1
        n = len(made)
        n_calls = len(calls(self._judge, items))
        return Match(tuple(is_stated[:n]), tuple(is_stated[n:]), reasons, n_calls)

    def _item(self, example: ListExample, text: str, other: Sequence[str]) -> _Comparison:
        assert self._judge is not None
        assert self._judge.source is not None
        texts = {self._judge.source: "\n".join(other), self._sought: text}
        if "question" in self._judge.inputs:
            texts["question"] = example.question
        inputs = {name: texts[name] for name in self._judge.inputs}
        return _Comparison(example.ids, inputs)


def _is_stated(text: str, other: Sequence[str]) -> bool:
    return any(stated(text, item) >= STATED for item in other)


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
