"""Fit a judge that makes lists to people's lists of some topics, and test it on others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ...backends.errors import JudgeError
from ...backends.gateway import Backend
from ...backends.loop import run_sync, task_group
from ...judges.makers.lists import ListMaker
from ...metrics.bootstrap import resampling
from ...metrics.lists import ListScores, list_scores
from ...records.reading.problems import InputError
from ..described import described, judge_file
from ..fitting import Calibration, refusals_of
from ..settings import PROMPT_METHODS, Settings
from ..split import Split, check_unseen, split_topics
from .examples import ListExample, ListExamples
from .matching import Matcher
from .report import Tested, list_report

MOST_AT_ONCE = 8  # lists that are made at once; each may take several calls at a time


def lists_fitted_and_tested(
    judge: ListMaker,
    examples: ListExamples,
    settings: Settings,
    matcher: Matcher,
    *,
    prompt_model: Backend | None = None,
    log: Path | None = None,
) -> Calibration:
    """Look for a prompt with which a judge makes lists more like those of people.

    Args: see `calibration.fitting.fitted_and_tested`.
        matcher: says which items of two lists are stated in the other.

    Raises: InputError if the method cannot be fitted to these lists; JudgeError (budget) where no
        new prompt could be scored on all of dev.
    """
    with refusals_of(settings.method):
        split = list_split(judge, examples, settings)
        return _fitted(judge, examples, settings, split, matcher, prompt_model, log)


def list_split(judge: ListMaker, examples: ListExamples, settings: Settings) -> Split:
    """Topics to train, choose and test on. Raises: InputError, ValueError for other methods."""
    if settings.method not in PROMPT_METHODS:
        wanted = ", ".join(PROMPT_METHODS)
        what = f"method {settings.method!r}: {judge.name} makes lists, which no cut corrects"
        raise InputError(f"{what}; wanted one of {wanted}")
    if settings.folds is not None:
        raise InputError("folds are for methods that fit numbers; a prompt is fitted once")
    if settings.objective not in (None, "f1"):
        raise InputError(f"objective {settings.objective!r}: lists are chosen by f1")
    resampling(None, **settings.draws)
    split = split_topics(examples.topics, shares=settings.shares, seed=settings.seed)
    check_unseen(judge.fitted_on, [split])
    return split


def made_and_matched(
    judge: ListMaker, examples: Sequence[ListExample], settings: Settings, matcher: Matcher
) -> Tested:
    """Make each list and compare it with people's; what failed is counted by reason."""
    return run_sync(_made_and_matched(judge, examples, settings, matcher))


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


def _fitted(
    judge: ListMaker,
    examples: ListExamples,
    settings: Settings,
    split: Split,
    matcher: Matcher,
    prompt_model: Backend | None,
    log: Path | None,
) -> Calibration:
    from ..prompts.asking import Making, key_of
    from ..prompts.optimisers import Search, check_parts, gateway_of
    from ..prompts.prompt_diff import prompt_diff
    from ..prompts.student import prompt_of
    from .marking import ListMarks, list_tasks

    gateway_of(judge, settings.method)
    train, dev, test = (examples.of(part) for part in (split.train, split.dev, split.test))
    check_parts(train, dev, "lists", settings.concurrency)
    before = made_and_matched(judge, test, settings, matcher)
    learnt, chosen_on = list_tasks(judge, train), list_tasks(judge, dev)
    everything = [*learnt, *chosen_on]
    search = Search(
        judge,
        learnt,
        chosen_on,
        ListMarks(judge, matcher, everything),
        n_dev=len(dev),
        way=Making(judge, {key_of(task.inputs): task.wanted.made_from for task in everything}),
    )
    optimised = search.run(
        method=settings.method,
        seed=settings.seed,
        options=settings.options,
        prompt_model=prompt_model,
        log=log,
        threads=settings.concurrency,
        keep_calls=before.n_calls,
    )
    optimised.check_tried(before.n_calls)
    after = before
    file = judge_file(judge, prompts=optimised.prompts)
    if optimised.prompts[judge.predictor] != prompt_of(getattr(judge, judge.predictor)):
        after = made_and_matched(judge.fitted(file), test, settings, matcher)
    report = list_report(judge, examples, settings, split, test, before, after, matcher.name)
    search_report = {name: value for name, value in asdict(optimised).items() if name != "prompts"}
    report["optimiser"] = {**search_report, "correction_dropped": False}
    diff = prompt_diff(judge, optimised.prompts)
    return Calibration(described(file, report, judge, settings), report, diff)
