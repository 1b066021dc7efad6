"""Fit a judge that makes lists to people's lists of some topics, and test it on others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...backends.errors import JudgeError
from ...backends.loop import run_sync, task_group
from ...judges.makers.lists import ListMaker
from ...metrics.inference import resampling
from ...metrics.key_points import ListScores, list_scores
from ...records.reading.problems import InputError
from ..fitting import Target
from ..settings import PROMPT_METHODS, Settings, Split, check_unseen
from .examples import ListExample, ListExamples
from .matching import Matcher
from .report import Tested, list_report

if TYPE_CHECKING:
    from ..prompts.optimisers import Optimised

MOST_AT_ONCE = 8  # lists that are made at once; each may take several calls at a time


class ListTarget(Target):
    """A judge that makes lists, and lists that people made; `matcher` says what two lists share."""

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
        """See Target: make each list and compare it with people's."""
        return run_sync(_made_and_matched(judge, items, self.settings, self.matcher))

    def count(self, items: Sequence[ListExample]) -> int:
        """See Target: lists."""
        return len(items)

    def n_calls(self, measured: Tested, items: Sequence[ListExample]) -> int:
        """See Target: as many as it took."""
        return measured.n_calls

    def search(
        self, train: Sequence[ListExample], dev: Sequence[ListExample], **options: Any
    ) -> Optimised:
        """See Target."""
        from ..prompts.asking import Making, key_of
        from ..prompts.optimisers import Search, check_parts
        from .matching import ListMarks, list_tasks

        check_parts(train, dev, "lists", self.settings.concurrency)
        judge = self.judge
        learnt, chosen_on = list_tasks(judge, train), list_tasks(judge, dev)
        everything = [*learnt, *chosen_on]
        marks = ListMarks(judge, self.matcher, everything)
        way = Making(judge, {key_of(task.inputs): task.wanted.made_from for task in everything})
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
        return list_report(
            self.judge, self.examples, self.settings, splits, test, before, after, matched_by
        )


async def _made_and_matched(
    judge: ListMaker, examples: Sequence[ListExample], settings: Settings, matcher: Matcher
) -> Tested:
    from ..prompts.asking import Noting

    backend = judge.backend
    assert backend is not None
    made: list[tuple[str, ...] | None] = [None] * len(examples)
    scores: list[ListScores | None] = [None] * len(examples)
    unjudged, unmatched, n_calls = Counter[str](), Counter[str](), 0
    waiting = iter(enumerate(examples))

    async def work() -> None:
        nonlocal n_calls
        for i, example in waiting:
            twin, noting = judge.deepcopy(), Noting(backend)
            twin.backend = noting
            try:
                texts = await twin.made(**example.made_from)
            except JudgeError as error:
                unjudged[str(error.reason)] += 1
                n_calls += len(noting.calls) + 1
                continue
            match = await matcher.match(example, texts, settings.concurrency)
            made[i], scores[i] = tuple(texts), list_scores(match.made, match.wanted)
            unmatched.update(match.unjudged)
            n_calls += len(noting.calls) + match.n_calls

    async with task_group() as group:
        for _ in range(min(MOST_AT_ONCE, settings.concurrency)):
            group.create_task(work())
    return Tested(made, scores, unjudged, unmatched, n_calls)
