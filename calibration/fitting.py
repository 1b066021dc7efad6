"""Fit a judge to labels of some topics, and measure on other topics whether the fit helped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..backends.errors import JudgeError
from ..backends.gateway import Backend
from ..backends.loop import run_sync
from ..judges import Cascade, ItemJudge, JudgeFile, Verdict
from ..judges.base import Judge
from ..judges.fitted import Correction
from ..judges.items import calls, judge_items
from ..judges.lexical.overlap import word_weights
from ..judges.makers.lists import ListMaker
from ..metrics.inference import resampling
from ..programs.engine.judge_set import JudgeSet
from ..programs.engine.spending import Estimate
from ..records.judgements import Reason
from ..records.kinds import Cell
from ..records.reading.problems import InputError, did_you_mean
from .examples import Example, Examples, select_topics
from .fits import FIT_METHODS, FitMethod, add_topics, fit, get_score
from .report import Tested, describe_file, make_judge_file, make_report
from .settings import (
    PROMPT_METHODS,
    Settings,
    Split,
    check_unseen,
    choose_objective,
    encode_objective,
    find_method,
    list_methods,
    split_folds,
    split_topics,
)
from .threshold import get_objective

if TYPE_CHECKING:
    from .prompts.optimisers import Optimised


class Calibration(NamedTuple):
    """A fitted judge and what was measured.

    Attributes:
        file: the judge file: the fit, ready to use in a config.
        report: the agreement with people before and after the fit, ready for JSON.
        diff: the changes of the prompt as a diff; "": the prompt is the same.
        save: writes a folder with this file instead of the judge file; None: for the judge file.
    """

    file: JudgeFile
    report: dict[str, Any]
    diff: str = ""
    save: Callable[[Path, JudgeFile], None] | None = None


class Judgements(NamedTuple):
    """The verdicts on the judged items, and the number of failures by reason."""

    verdicts: Mapping[Cell, Verdict]
    unjudged: Counter[str]
    first_reason: str


class _Fit(NamedTuple):
    """A judge file, and the verdicts that its correction uses; items without a verdict failed."""

    file: JudgeFile
    verdicts: Mapping[Cell, Verdict]


class Target(ABC):
    """A judge and the human data to which it is fitted: labels of items, or lists.

    Attributes:
        judge: the judge, with a backend. A judge that was fitted before starts from its prompts;
            the fit replaces its correction, with which "before" is measured.
        items: the human judgements, each with its `topic_id`.
        settings: how to fit the judge and measure the fit.
    """

    judge: ItemJudge | ListMaker
    items: Sequence[Any]
    settings: Settings

    @abstractmethod
    def splits(self) -> list[Split]:
        """Return the splits, and check everything that can be checked without a request.

        Raises: InputError, ValueError.
        """

    @abstractmethod
    def measure(self, judge: Any, items: Sequence[Any]) -> Any:
        """Ask the judge about these items."""

    @abstractmethod
    def count(self, items: Sequence[Any]) -> int:
        """Return how many tasks of a search these items make."""

    @abstractmethod
    def n_calls(self, measured: Any, items: Sequence[Any]) -> int:
        """Return the number of requests that measure these items once more."""

    @abstractmethod
    def search(self, train: Sequence[Any], dev: Sequence[Any], **options: Any) -> Optimised:
        """Search for a better prompt; for the options see `prompts.optimisers.optimise`."""

    @abstractmethod
    def report(
        self, splits: Sequence[Split], test: Sequence[Any], before: Any, after: Any
    ) -> dict[str, Any]:
        """Return the figures, ready for JSON; `after` is `before` if the prompt did not change.

        Raises: InputError if nothing was measured both before and after.
        """

    def fit_numbers(self, splits: Sequence[Split]) -> Calibration:
        """Fit by a method that does not change the prompt."""
        raise TypeError(f"{type(self).__name__} has no scores to fit numbers to")

    def parts(self, split: Split) -> list[list[Any]]:
        """Return the items of train, dev and test."""
        return [select_topics(self.items, part) for part in (split.train, split.dev, split.test)]

    def split(self) -> Split:
        """Return the split by which a prompt is fitted. Raises: InputError, ValueError."""
        if self.judge.own_words == "prompt" and self.settings.method in PROMPT_METHODS:
            what = f"the {self.judge.name} judge has a prompt from a file (its setting prompt)"
            raise InputError(f"{what}; remove the setting to optimise the built-in prompt")
        if self.settings.folds is not None:
            raise InputError("folds are for methods that fit numbers")
        topics = [item.topic_id for item in self.items]
        return split_topics(topics, shares=self.settings.shares, seed=self.settings.seed)


def fit_target(
    target: Target, *, prompt_model: Backend | None = None, log: Path | None = None
) -> Calibration:
    """Fit a judge to human judgements of some topics and test it on other topics.

    Args:
        target: the judge, the human judgements and the settings.
        prompt_model: the model that writes instructions (mipro, gepa); None: the judge's own model.
        log: the file to which a prompt method writes its candidates; None: no file.

    Raises: InputError if the method cannot be fitted to these labels; JudgeError (budget) if
        a prompt method could score no new prompt on all of dev.
    """
    with raise_as_input_error(target.settings.method):
        splits = target.splits()
        if target.settings.method in FIT_METHODS:
            return target.fit_numbers(splits)
        if target.settings.method not in PROMPT_METHODS:
            train = find_method(target.settings.method)
            assert train is not None  # the target checked the method
            calibration: Calibration = train(target, splits[0])
            return calibration
        return _fit_prompt(target, splits, prompt_model=prompt_model, log=log)


def fit_and_test(
    judge: ItemJudge, examples: Examples, settings: Settings, **options: Any
) -> Calibration:
    """Fit a judge of items to labelled examples; for options and errors see `fit_target`."""
    return fit_target(ItemTarget(judge, examples, settings), **options)


@contextmanager
def raise_as_input_error(method: str) -> Iterator[None]:
    """Turn errors of a fit into InputError, with the method in front; not a spent budget."""
    try:
        yield
    except (ValueError, JudgeError, ModuleNotFoundError) as error:
        if isinstance(error, JudgeError) and error.reason is Reason.BUDGET:
            raise
        raise InputError(f"{method}: {error}") from None


def _fit_prompt(
    target: Target, splits: Sequence[Split], *, prompt_model: Backend | None, log: Path | None
) -> Calibration:
    from .prompts.tasks import get_prompt
    from .report import diff_prompts

    judge, settings = target.judge, target.settings
    (split,) = splits
    train, dev, test = target.parts(split)
    before = target.measure(judge, test)
    n_reserved = target.n_calls(before, test)
    optimised = target.search(
        train,
        dev,
        method=settings.method,
        seed=settings.seed,
        options=settings.options,
        prompt_model=prompt_model,
        log=log,
        threads=settings.concurrency,
        keep_calls=n_reserved,
    )
    optimised.check_tried(n_reserved)
    is_new = optimised.prompts[judge.predictor] != get_prompt(judge.question(judge.predictor))
    # Cuts that were fitted to the scores of one prompt say nothing of those of another.
    had = judge.correction if isinstance(judge, ItemJudge) else None
    file = make_judge_file(judge, prompts=optimised.prompts, correction=None if is_new else had)
    after = target.measure(judge.copy_with_fit(file), test) if is_new else before
    report = target.report(splits, test, before, after)
    report["optimiser"] = {
        name: value for name, value in asdict(optimised).items() if name != "prompts"
    }
    report["optimiser"]["correction_dropped"] = file.correction != had
    diff = diff_prompts(judge, optimised.prompts)
    return Calibration(describe_file(file, report, judge, settings), report, diff)


class ItemTarget(Target):
    """A judge of items, and human labels of items."""

    def __init__(self, judge: ItemJudge, examples: Examples, settings: Settings) -> None:
        self.judge: ItemJudge = judge
        self.examples, self.items, self.settings = examples, examples.items, settings

    def splits(self) -> list[Split]:
        """See Target."""
        judge, examples, settings = self.judge, self.examples, self.settings
        method, k = settings.method, len(examples.scale)
        if method not in (known := list_methods()):
            wanted = f"{', '.join(known)}{did_you_mean(method, known)}"
            raise InputError(f"method {method!r}: wanted one of {wanted}")
        objective = choose_objective(settings, examples.scale, judge)
        get_objective(encode_objective(objective, examples.scale), k)
        needs_order = method not in PROMPT_METHODS or objective in ("linear", "quadratic")
        if not judge.is_ordered and needs_order:
            what = f"the labels of {judge.name} have no order"
            raise InputError(f"{what}; {method} with objective {objective} needs an order")
        if method == "platt" and k != 2:
            raise ValueError(f"method platt needs two labels, got {k}; use method ordinal")
        if settings.options and method in FIT_METHODS:
            raise InputError(f"options are for methods that change prompts; {method} has none")
        if settings.topic_labels < 0 or settings.seed < 0:
            raise ValueError("wanted topic_labels and seed of 0 or more")
        if isinstance(judge, Cascade):
            raise InputError("a cascade is fitted by judge cascade fit, and each stage by itself")
        if method in PROMPT_METHODS and judge.is_derived:
            raise InputError(
                f"the labels of {judge.name} are made of replies about parts: fit numbers"
            )
        if method in PROMPT_METHODS and not judge.predictor:
            raise ValueError("a jury has no prompt of its own; fit its members, each by itself")
        fits_scale = examples.judge_labels is not None and set(examples.scale) <= set(judge.scale)
        if method not in FIT_METHODS and not fits_scale:
            theirs, ours = (", ".join(labels) for labels in (examples.scale, judge.scale))
            what = "a prompt" if method in PROMPT_METHODS else "a network"
            raise InputError(f"{what} gives the labels {ours}, which do not fit the scale {theirs}")
        resampling(None, **settings.draws)
        if settings.folds is not None and method in FIT_METHODS:
            splits = split_folds(examples.topics, settings.folds, seed=settings.seed)
        else:
            splits = [self.split()]
        check_unseen(judge.fitted_on | getattr(judge.backend, "fitted_on", frozenset()), splits)
        return splits

    def measure(self, judge: ItemJudge, items: Sequence[Example]) -> Judgements:
        """See Target."""
        return judge_examples(judge, items, self.settings)

    def count(self, items: Sequence[Example]) -> int:
        """See Target: counts calls, each with a window of items."""
        return len(calls(self.judge, items))

    def n_calls(self, measured: Judgements, items: Sequence[Example]) -> int:
        """See Target."""
        return self.count(items)

    def search(self, train: Sequence[Example], dev: Sequence[Example], **options: Any) -> Optimised:
        """See Target."""
        from .prompts.optimisers import optimise

        return optimise(self.judge, train, dev, **options)

    def report(
        self,
        splits: Sequence[Split],
        test: Sequence[Example],
        before: Judgements,
        after: Judgements,
    ) -> dict[str, Any]:
        """See Target."""
        old, new = before.verdicts, after.verdicts
        both = [item for item in test if item.cell in old and item.cell in new]
        before_of, after_of = ([of[item.cell] for item in both] for of in (old, new))
        unjudged = before.unjudged + (after.unjudged if after is not before else Counter())
        raw = [*old.values(), *new.values()]
        tested = Tested(both, before_of, after_of, [])
        return make_report(self.judge, self.examples, self.settings, splits, tested, unjudged, raw)

    def fit_numbers(self, splits: Sequence[Split]) -> Calibration:
        """See Target."""
        return _Fitting(self.judge, self.examples, self.settings, list(splits)).result()


class _Fitting:
    """A method that fits numbers to the scores of the judge without its correction."""

    def __init__(
        self, judge: ItemJudge, examples: Examples, settings: Settings, splits: list[Split]
    ) -> None:
        self._judge = judge
        self._examples = examples
        self._settings = settings
        self._splits = splits
        self._raw = judge.deepcopy()
        self._raw.correction = None
        self._judgements = judge_examples(self._raw, examples.items, settings)

    def result(self) -> Calibration:
        """Fit and test; return the calibration."""
        splits, tested = self._splits, []
        for split in splits:
            fit = self._fit((*split.train, *split.dev))
            test, file = self._test(split, fit)
            tested.append(test)
        if self._settings.folds is not None:
            file = self._fit(self._examples.topics).file
        test = Tested(*(list(chain(*parts)) for parts in zip(*tested, strict=True)))
        unjudged, raw = self._judgements.unjudged, self._judgements.verdicts.values()
        report = make_report(
            self._judge, self._examples, self._settings, splits, test, unjudged, raw
        )
        return Calibration(describe_file(file, report, self._judge, self._settings), report)

    def _fit(self, topics: Iterable[str]) -> _Fit:
        """A judge file fitted to these topics."""
        items = select_topics(self._examples.items, topics)
        words, verdicts = self._judge.fitted_words, self._judgements.verdicts
        if (
            self._settings.weigh_words
            and self._judge.model_name == "lexical"
            and self._judge.source
        ):
            words = word_weights(item.inputs[self._judge.source] for item in items)
            scorer = self._raw.copy_with_fit(make_judge_file(self._raw, words=words))
            verdicts = judge_examples(scorer, self._examples.items, self._settings).verdicts
        with_verdict = [item for item in items if item.cell in verdicts]
        if not with_verdict:
            why = f"none of the {len(items)} items to fit on was judged"
            raise InputError(f"{why}; the first: {self._judgements.first_reason}")
        objective = choose_objective(self._settings, self._examples.scale, self._judge)
        correction = fit(
            cast(FitMethod, self._settings.method),
            [verdicts[item.cell] for item in with_verdict],
            [item.label for item in with_verdict],
            [item.topic_id for item in with_verdict],
            judge_scale=self._judge.scale,
            scale=self._examples.scale,
            objective=encode_objective(objective, self._examples.scale),
        )
        return _Fit(make_judge_file(self._raw, words=words, correction=correction), verdicts)

    def _test(self, split: Split, fit: _Fit) -> tuple[Tested, JudgeFile]:
        """Both judges on the test topics; the file with what it learnt of them (method topic)."""
        items = select_topics(self._examples.items, split.test)
        with_verdict = [item for item in items if item.cell in fit.verdicts]
        correction = without = fit.file.correction
        assert correction is not None
        assert without is not None
        if self._settings.method == "topic" and self._settings.topic_labels:
            few, with_verdict = _draw_few(with_verdict, self._settings)
            codes = self._examples.scale.index
            if few:
                correction = add_topics(
                    correction,
                    [get_score(fit.verdicts[item.cell], self._judge.scale) for item in few],
                    [codes(item.label) for item in few],
                    [item.topic_id for item in few],
                )
        tested = Tested(
            with_verdict,
            [
                self._apply(self._judge.correction, self._judgements.verdicts, item)
                for item in with_verdict
            ],
            [self._apply(correction, fit.verdicts, item) for item in with_verdict],
            [self._apply(without, fit.verdicts, item) for item in with_verdict],
        )
        return tested, fit.file.model_copy(update={"correction": correction})

    def _apply(
        self, correction: Correction | None, verdicts: Mapping[Cell, Verdict], item: Example
    ) -> Verdict:
        verdict = verdicts[item.cell]
        if correction is None:
            return verdict
        return correction.verdict(verdict, self._judge.scale, item.topic_id)


def judge_examples(judge: ItemJudge, items: Sequence[Example], settings: Settings) -> Judgements:
    """Ask the judge about each item."""
    outcomes = run_sync(judge_items(judge, items, concurrency=settings.concurrency))
    verdicts, reasons, first = {}, Counter[str](), ""
    for item, (outcome, _) in zip(items, outcomes, strict=True):
        if isinstance(outcome, Verdict):
            verdicts[item.cell] = outcome
        else:
            reasons[str(outcome.reason)] += 1
            first = first or f"{outcome.reason}: {outcome.detail}"
    return Judgements(verdicts, reasons, first)


def _draw_few(items: Sequence[Example], settings: Settings) -> tuple[list[Example], list[Example]]:
    """Draw `topic_labels` items of each topic, at most half of them; return them and the others."""
    rng = np.random.default_rng(settings.seed)
    few: set[tuple[str, ...]] = set()
    for topic in sorted({item.topic_id for item in items}):
        own = sorted(item.cell for item in items if item.topic_id == topic)
        most = min(settings.topic_labels, len(own) // 2)
        few.update(own[i] for i in rng.permutation(len(own))[:most])
    return [i for i in items if i.cell in few], [i for i in items if i.cell not in few]


ITEMS, TEST, SEARCH = "every item", "test, twice", "search, at most"


def ask_what_it_asks(judge_set: JudgeSet, target: Target) -> float:
    """Measure the items of a calibration without a fit, and return the cost factor of a search.

    A method that fits numbers judges every item once. A method that fits a prompt judges the test
    items (or makes the test lists) before and after, and searches on train and dev. Only a model
    can run the search, because its course depends on what models write. The estimate therefore
    judges train and dev once; the factor scales this cost to the maximum of the search, proposals
    included, at the length of the current prompt (worked examples make it longer).

    Raises: InputError as `fit_target`, before any request.
    """
    judge, settings = target.judge, target.settings
    try:
        splits = target.splits()
    except ValueError as error:
        raise InputError(f"{settings.method}: {error}") from None
    if settings.method in FIT_METHODS:
        judge_set.part = ITEMS
        target.measure(judge, target.items)
        return 1.0
    [split] = splits
    train, dev, test = target.parts(split)
    if settings.method not in PROMPT_METHODS:
        judge_set.part = TEST
        target.measure(judge, test)
        return 1.0
    t, d = target.count(train), target.count(dev)
    most = check_search(judge, settings, t, d)
    judge_set.part = TEST
    for _ in ("before", "after"):
        target.measure(judge, test)
    judge_set.part = SEARCH
    target.measure(judge, [*train, *dev])
    return most / (t + d)


def check_search(judge: Judge, settings: Settings, t: int, d: int) -> int:
    """Count like `count_search_calls`. Raises: InputError for a search that cannot start."""
    from .prompts.optimisers import NO_PROMPT, check_options, is_of_lists

    method = settings.method
    try:
        if judge.model_name == "lexical":
            raise ValueError(f"--method {method} {NO_PROMPT}")
        check_options(method, settings.options, t, is_of_lists(judge))
    except (ValueError, ModuleNotFoundError) as error:
        raise InputError(f"{method}: {error}") from None
    return count_search_calls(method, settings.options, t, d)


def count_search_calls(method: str, options: Mapping[str, Any], t: int, d: int) -> int:
    """Count the most requests of a search over calls of train and dev (docs/reference/fitting.md).

    Raises: ValueError for an unknown method.

    >>> count_search_calls("few-shot", {}, 40, 20)
    40
    """
    from .prompts.optimisers import GEPA_ROUNDS, OPTIONS, SIMBA_BATCH

    if method not in OPTIONS:
        raise ValueError(f"wanted one of {', '.join(OPTIONS)}, got {method!r}")
    o = {**OPTIONS[method], **options}
    if method == "few-shot":
        return 2 * d
    if method == "bootstrap":
        n = int(o["num_candidate_programs"])
        return (n + 3) * d + (n + 1) * t * int(o["max_rounds"])
    if method == "mipro":
        n = int(o["num_candidates"])
        return (int(o["num_trials"]) + 1) * d + (n - 2) * t + n + 11
    if method == "simba":
        n, batch = int(o["num_candidates"]), int(o["bsize"] or min(SIMBA_BATCH, t))
        return int(o["max_steps"]) * ((2 * n + 1) * batch + n + 1 + d) + (n + 1) * t + 2 * d
    most = int(o["max_metric_calls"] or GEPA_ROUNDS * (t + d))
    return most + most // int(o["reflection_minibatch_size"]) + 2 * d


def scale_estimate(estimate: Estimate, times: float) -> Estimate:
    """Multiply the numbers of an estimate by `times`."""

    def more(number: float | None) -> float | None:
        return None if number is None else number * times

    return replace(
        estimate,
        calls=round(estimate.calls * times),
        prompt_tokens=round(estimate.prompt_tokens * times),
        cached_tokens=round(estimate.cached_tokens * times),
        completion_tokens=round(estimate.completion_tokens * times),
        cost=more(estimate.cost),
    )
