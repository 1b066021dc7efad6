"""Judges that make lists: match two lists, fit the prompt, report."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import dspy
import numpy as np
from numpy.typing import NDArray

from ..backends.errors import JudgeError
from ..backends.loop import run_sync, task_group
from ..judges import ItemJudge, Verdict
from ..judges.items import calls, judge_items
from ..judges.lexical.keypoints import STATED, measure_stated
from ..judges.makers.lists import ListMaker
from ..metrics.inference import SHARE, SIGNED, Draws, jackknife_interval, resampling
from ..metrics.key_points import LIST_MEASURES, ListScores, list_scores
from ..records.judgements import Reason
from ..records.reading.problems import InputError
from .fitting import Target
from .list_examples import ListExample, ListExamples
from .prompts.asking import Stopped, make_key, wait_for
from .prompts.tasks import Marks, Task
from .report import Figure, count_reasons, make_frame_report
from .settings import PROMPT_METHODS, Settings, Split, check_unseen

if TYPE_CHECKING:
    from .prompts.optimisers import Optimised


LEXICAL = "lexical"


class Match(NamedTuple):
    """For each item, whether the other list states it; None: not judged.

    `unjudged`: number by reason; `n_calls`: calls of a judge.
    """

    made: tuple[bool | None, ...]
    wanted: tuple[bool | None, ...]
    unjudged: Counter[str] = Counter()  # noqa: RUF012  never written to
    n_calls: int = 0


@dataclass(frozen=True)
class _Comparison:
    """One item and the other list, in the form of an item for a judge."""

    ids: Mapping[str, str]
    inputs: Mapping[str, str]


class Matcher:
    """Decides which items of each list the other list states.

    Args:
        judge: a judge of items that looks for one text in another; the other list becomes one
            text, a line for each item. Its best label means stated. None: the
            lexical rule of the entailment judge, item by item: an item is stated if some item of
            the other list has enough of its words.

    Raises: InputError for a judge that does not look for one text in another.
    """

    def __init__(self, judge: ItemJudge | None = None) -> None:
        self._judge = judge
        if judge is None:
            return
        sought = [name for name in judge.inputs if name not in (judge.source, "question")]
        if judge.source is None or len(sought) != 1:
            what = f"the {judge.name} judge does not look for one text in another"
            raise InputError(f"--match {judge.name}: {what}; use lexical or entailment")
        self._sought = sought[0]
        labels = judge.correction.labels if judge.correction is not None else None
        self._best = (labels or judge.scale)[-1]

    def check(self, example: ListExample) -> None:
        """Raise InputError if the judge needs a question, but the list has none."""
        if self._judge is not None and "question" in self._judge.inputs and not example.question:
            what = "needs a question, which these lists do not have; use entailment"
            raise InputError(f"--match {self._judge.name}: it {what}")

    @property
    def name(self) -> str:
        """The name of the matching judge, for people."""
        judge = self._judge
        return LEXICAL if judge is None else f"{judge.name} by {judge.model_name or 'DSPy'}"

    async def match(self, example: ListExample, made: Sequence[str], concurrency: int = 8) -> Match:
        """Compare a list with the human list, in both directions.

        Raises: EndpointUnusable if no request can succeed.
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
    return any(measure_stated(text, item) >= STATED for item in other)


MAX_NAMED = 10  # items of a list in feedback


@dataclass(frozen=True)
class ListTask(Task):
    """One list to make."""

    wanted: ListExample


def make_list_tasks(judge: ListMaker, examples: Sequence[ListExample]) -> list[ListTask]:
    """The lists in the form of an optimiser: each is one call whose reply is the human list."""
    tasks = []
    for example in examples:
        fields = judge.example(example.made_from, example.wanted, example.spans)
        inputs = {name: value for name, value in fields.items() if name != judge.output}
        tasks.append(ListTask(inputs, dspy.Example(**fields).with_inputs(*inputs), example))
    return tasks


class ListMarks(Marks):
    """F1 of each list; None if it could not be made or matched at all.

    A list may become a worked example if it is as good as the mean list of the judge's own
    prompt.

    Args:
        tasks: all tasks of the search.
    """

    solved = if_perfect = 1.0
    by_chance = None

    def __init__(self, judge: ListMaker, matcher: Matcher, tasks: Sequence[ListTask]) -> None:
        self._output = judge.output
        self._matcher = matcher
        self._wanted = {make_key(task.inputs): task.wanted for task in tasks}
        self._matches: dict[tuple[str, tuple[str, ...]], Match] = {}
        self._lock = threading.Lock()
        self._least = 0.0

    def gains(self, task: Task, prediction: dspy.Prediction) -> Sequence[float | None]:
        """See Marks: one gain. Raises: Stopped."""
        scores = self._scores(task.inputs, prediction)
        return [scores.f1.value if scores is not None else None]

    def start(self, gain: float | None) -> None:
        """See Marks: sets the gain that a worked example must reach."""
        self._least = gain or 0.0

    def metric(
        self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None
    ) -> float:
        """See Marks. Raises: Stopped."""
        scores = self._scores(_inputs(example), prediction)
        gain = 0.0 if scores is None else scores.f1.value or 0.0
        return gain if trace is None else float(gain > 0 and gain >= self._least)

    def feedback(self, example: dspy.Example, prediction: dspy.Prediction) -> str:
        """See Marks: the list's missing and unwanted items."""
        if "failure" in prediction:
            return f"No list was made ({prediction.failure})."
        inputs = _inputs(example)
        scores, wanted = self._scores(inputs, prediction), self._wanted[make_key(inputs)].wanted
        assert scores is not None
        made = prediction[self._output]
        match = self._match(inputs, made)
        shares = ", ".join(
            f"{name} {value.value:.2f}"
            for name, value in (("precision", scores.precision), ("recall", scores.recall))
            if value.value is not None
        )
        lines = [f"Against the list that people made: {shares or 'it could not be compared'}."]
        lines += _name_texts("Missing, which people have", wanted, match.wanted)
        lines += _name_texts("Not on the list of people", made, match.made)
        return "\n".join(lines)

    def _scores(self, inputs: Mapping[str, Any], prediction: dspy.Prediction) -> ListScores | None:
        if prediction is None or self._output not in prediction:
            return None
        match = self._match(inputs, prediction[self._output])
        return list_scores(match.made, match.wanted)

    def _match(self, inputs: Mapping[str, Any], made: Sequence[str]) -> Match:
        key = make_key(inputs)
        with self._lock:
            match = self._matches.get((key, tuple(made)))
        if match is None:
            match = wait_for(self._matcher.match(self._wanted[key], made))
            if match.unjudged[Reason.BUDGET.value]:
                raise Stopped
            with self._lock:
                self._matches[key, tuple(made)] = match
        return match


def _inputs(example: dspy.Example) -> dict[str, Any]:
    return dict(example.inputs().items())


def _name_texts(what: str, texts: Sequence[str], stated: Sequence[bool | None]) -> list[str]:
    named = [text for text, is_stated in zip(texts, stated, strict=True) if is_stated is False]
    if not named:
        return []
    more = [f"- and {len(named) - MAX_NAMED} more"] if len(named) > MAX_NAMED else []
    return [f"{what}:", *(f"- {text}" for text in named[:MAX_NAMED]), *more]


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tested:
    """The results for the lists of some topics, in order.

    Attributes:
        made: the texts; None if no list was made. scores: None in the same cases.
        unjudged: lists that failed, by reason; unmatched: items that were not matched.
        n_calls: of the judge and of the matching judge.
    """

    made: list[tuple[str, ...] | None]
    scores: list[ListScores | None]
    unjudged: Counter[str] = field(default_factory=Counter)
    unmatched: Counter[str] = field(default_factory=Counter)
    n_calls: int = 0


def make_list_report(
    judge: ListMaker,
    examples: ListExamples,
    settings: Settings,
    splits: Sequence[Split],
    test: Sequence[ListExample],
    before: Tested,
    after: Tested,
    matched_by: str,
) -> dict[str, Any]:
    """Compute precision, recall and F1 before and after on the same lists, and their differences.

    Raises: InputError if no list was made and matched both before and after.
    """
    both = [
        (example, old, new)
        for example, old, new in zip(test, before.scores, after.scores, strict=True)
        if old is not None and new is not None
    ]
    topics = [example.topic_id for example, *_ in both]
    figures = compare_lists(
        [old for _, old, _ in both], [new for *_, new in both], topics, settings.draws
    )
    if "f1" not in figures:
        raise InputError("no list of the test topics was made and matched both before and after")
    sides = [before] if after is before else [before, after]  # if the prompt did not change
    unjudged = sum((side.unjudged for side in sides), Counter[str]())
    unmatched = sum((side.unmatched for side in sides), Counter[str]())
    about = {
        "match": matched_by,
        "n_lists": len(examples.items),
        "n_without_text": examples.n_without_text,
        **count_reasons("unjudged", unjudged),
        **count_reasons("unmatched", unmatched),
    }
    report = make_frame_report(judge, settings, splits, "f1", about, topics, figures, "f1")
    lists = [
        {**example.ids, "before": asdict(old), "after": asdict(new)} for example, old, new in both
    ]
    return {**report, "lists": lists}


def compare_lists(
    before: Sequence[ListScores], after: Sequence[ListScores], topics: Sequence[str], draws: Draws
) -> dict[str, dict[str, Any]]:
    """Compute means over lists, with intervals over drawn topics; differences by jackknife.

    Args:
        before, after: scores of the same n lists. topics: n topic ids.

    Returns: precision, recall and f1, ready for JSON, each over the `n` lists that have it on both
        sides: precision is undefined for an empty list. A measure without any value is left out.
    """
    figures = {}
    for name in LIST_MEASURES:
        pairs = [
            (old.value, new.value, topic)
            for old, new, topic in zip(
                (getattr(scores, name) for scores in before),
                (getattr(scores, name) for scores in after),
                topics,
                strict=True,
            )
            if old.value is not None and new.value is not None
        ]
        if pairs:
            values = np.array([pair[:2] for pair in pairs], np.float64)
            figure = compare_means(values, [topic for *_, topic in pairs], draws)
            figures[name] = {**asdict(figure), "verdict": figure.verdict, "n": len(pairs)}
    return figures


def compare_means(values: Floats, topics: Sequence[str], draws: Draws) -> Figure:
    """The means of (n, 2) values, before and after, and their difference."""
    sample = resampling(topics, **draws)
    ones = np.ones(len(values))
    drawn = sample.sums(values) / sample.sums(ones)[:, None]  # each topic has at least one list
    by_topic = np.zeros((sample.n_topics, 2))
    np.add.at(by_topic, sample.topic_of, values)
    n_by_topic = np.bincount(sample.topic_of, minlength=sample.n_topics)
    means = [float(mean) for mean in values.mean(axis=0)]
    left = (len(values) - n_by_topic)[:, None]
    without = (values.sum(axis=0) - by_topic) / np.where(left, left, np.nan)
    change = without[:, 1] - without[:, 0]
    gap = jackknife_interval(means[1] - means[0], change, SIGNED, level=sample.level)
    old, new = (sample.interval(means[i], drawn[:, i], SHARE) for i in (0, 1))
    return Figure(old, new, gap)


MAX_IN_FLIGHT = 8  # lists that are made in parallel; each may take several calls at a time


class ListTarget(Target):
    """A judge that makes lists, and human lists; `matcher` compares two lists."""

    def __init__(
        self, judge: ListMaker, examples: ListExamples, settings: Settings, matcher: Matcher
    ) -> None:
        self.judge: ListMaker = judge
        self.examples, self.items, self.settings = examples, examples.items, settings
        self.matcher = matcher

    def splits(self) -> list[Split]:
        """See Target."""
        judge, settings = self.judge, self.settings
        if settings.method not in PROMPT_METHODS:
            wanted = ", ".join(PROMPT_METHODS)
            what = f"method {settings.method!r}: {judge.name} makes lists, which no cut corrects"
            raise InputError(f"{what}; wanted one of {wanted}")
        if settings.objective not in (None, "f1"):
            raise InputError(f"objective {settings.objective!r}: lists are chosen by f1")
        resampling(None, **settings.draws)
        split = self.split()
        check_unseen(judge.fitted_on, [split])
        return [split]

    def measure(self, judge: ListMaker, items: Sequence[ListExample]) -> Tested:
        """See Target: make each list and compare it with the human list."""
        return run_sync(_make_and_match(judge, items, self.settings, self.matcher))

    def count(self, items: Sequence[ListExample]) -> int:
        """See Target: number of lists."""
        return len(items)

    def n_calls(self, measured: Tested, items: Sequence[ListExample]) -> int:
        """See Target: the number of calls that it took."""
        return measured.n_calls

    def search(
        self, train: Sequence[ListExample], dev: Sequence[ListExample], **options: Any
    ) -> Optimised:
        """See Target."""
        from .prompts.asking import Making, make_key
        from .prompts.optimisers import Search, check_parts

        check_parts(train, dev, "lists", self.settings.concurrency)
        judge = self.judge
        learnt, chosen_on = make_list_tasks(judge, train), make_list_tasks(judge, dev)
        everything = [*learnt, *chosen_on]
        marks = ListMarks(judge, self.matcher, everything)
        way = Making(judge, {make_key(task.inputs): task.wanted.made_from for task in everything})
        return Search(judge, learnt, chosen_on, marks, n_dev=len(dev), way=way).run(**options)

    def report(
        self,
        splits: Sequence[Split],
        test: Sequence[ListExample],
        before: Tested,
        after: Tested,
    ) -> dict[str, Any]:
        """See Target."""
        matched_by = self.matcher.name
        return make_list_report(
            self.judge, self.examples, self.settings, splits, test, before, after, matched_by
        )


async def _make_and_match(
    judge: ListMaker, examples: Sequence[ListExample], settings: Settings, matcher: Matcher
) -> Tested:
    from .prompts.asking import Noting

    backend = judge.backend
    assert backend is not None
    made: list[tuple[str, ...] | None] = [None] * len(examples)
    scores: list[ListScores | None] = [None] * len(examples)
    unjudged, unmatched, n_calls = Counter[str](), Counter[str](), 0
    waiting = iter(enumerate(examples))

    async def work() -> None:
        nonlocal n_calls
        for i, example in waiting:
            changed, noting = judge.deepcopy(), Noting(backend)
            changed.backend = noting
            try:
                texts = await changed.make_texts(**example.made_from)
            except JudgeError as error:
                unjudged[str(error.reason)] += 1
                n_calls += len(noting.calls) + 1
                continue
            match = await matcher.match(example, texts, settings.concurrency)
            made[i], scores[i] = tuple(texts), list_scores(match.made, match.wanted)
            unmatched.update(match.unjudged)
            n_calls += len(noting.calls) + match.n_calls

    async with task_group() as group:
        for _ in range(min(MAX_IN_FLIGHT, settings.concurrency)):
            group.create_task(work())
    return Tested(made, scores, unjudged, unmatched, n_calls)
