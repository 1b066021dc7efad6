"""Fit a judge to labels on some topics, and measure on others whether it helped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from ..backends.errors import JudgeError
from ..backends.gateway import Backend
from ..backends.loop import run_sync
from ..judges import ItemJudge, JudgeFile, Verdict
from ..judges.calls import calls, judge_items
from ..judges.correction import Correction
from ..judges.files import FittedPrompt
from ..judges.overlap import word_weights
from ..metrics.bootstrap import LEVEL, RESAMPLES, Draws, resampling
from ..metrics.probability import probability_scores, reliability_curve
from ..records.cells import Cell
from ..records.problems import InputError
from .examples import Example, Examples, of_topics
from .figures import as_row, figures_of
from .fits import FIT_METHODS, FitMethod, fit, score_of
from .split import SHARES, Split, split_topics, topic_folds
from .threshold import objective_named
from .topic import add_topics

PROMPT_METHODS = ("few-shot", "bootstrap", "mipro", "simba", "gepa")
ALL_METHODS: tuple[str, ...] = (*FIT_METHODS, *PROMPT_METHODS)


@dataclass(frozen=True)
class Settings:
    """How a judge is fitted and measured.

    Attributes:
        method: one of `ALL_METHODS`.
        objective: what cuts are chosen by and the verdict goes by: kappa, linear, quadratic,
            macro_f1, accuracy, or one_vs_rest:LABEL. None: linear for an ordered scale of 3
            labels or more, else kappa.
        shares: of the topics for train, dev and test.
        folds: instead of one split, test each topic once by a fit to the other folds, and fit
            the judge file to all labels. Not for prompts.
        topic_labels: labels of each test topic that the method topic may use, half of them at
            most; the figures rest on the others.
        weigh_words: whether the lexical score weighs words by how rare they are in the training
            topics' texts.
        options: of the optimiser.
    """

    method: str = "threshold"
    objective: str | None = None
    shares: tuple[float, float, float] = SHARES
    folds: int | None = None
    topic_labels: int = 10
    weigh_words: bool = True
    seed: int = 0
    resamples: int = RESAMPLES
    level: float = LEVEL
    concurrency: int = 32
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def draws(self) -> Draws:
        """How intervals are drawn."""
        return {"resamples": self.resamples, "seed": self.seed, "level": self.level}


class Calibration(NamedTuple):
    """A fitted judge, what was measured of it, ready for JSON, and its new prompt as a diff."""

    file: JudgeFile
    report: dict[str, Any]
    diff: str = ""


class _Tested(NamedTuple):
    """Items of test topics with what was said of them before and after."""

    items: list[Example]
    before: list[Verdict]
    after: list[Verdict]
    without: list[Verdict]  # the method topic, had it had no labels of these topics


class _Asked(NamedTuple):
    """The verdicts on the items that were judged, and why the others were not, counted."""

    verdicts: Mapping[Cell, Verdict]
    unjudged: Counter[str]
    first_reason: str


class _Fit(NamedTuple):
    """A judge file, and the verdicts that its correction is for; items without were not judged."""

    file: JudgeFile
    verdicts: Mapping[Cell, Verdict]


def fitted_and_tested(
    judge: ItemJudge,
    examples: Examples,
    settings: Settings,
    *,
    prompt_model: Backend | None = None,
    log: Path | None = None,
) -> Calibration:
    """Fit a judge to examples of some topics and test it on others.

    Args:
        judge: with a backend. A judge that was fitted before goes on from its prompts; its
            correction is what "before" means, and is replaced.
        prompt_model: who writes instructions (mipro, gepa); None: the judge's own model.
        log: where a prompt method notes its candidates.

    Raises: InputError if the method cannot be fitted to these labels.
    """
    method = settings.method
    try:
        splits = _splits(judge, examples, settings)
        if method in FIT_METHODS:
            return _Fitting(judge, examples, settings, splits).result()
        return _with_prompts(judge, examples, settings, splits, prompt_model, log)
    except (ValueError, JudgeError, ModuleNotFoundError) as error:
        raise InputError(f"{method}: {error}") from None


def _splits(judge: ItemJudge, examples: Examples, settings: Settings) -> list[Split]:
    """Who is fitted and tested on what; all that can be refused is refused before anyone is asked.

    Raises: InputError, ValueError.
    """
    method, k = settings.method, len(examples.scale)
    if method not in ALL_METHODS:
        raise InputError(f"method {method!r}: wanted one of {', '.join(ALL_METHODS)}")
    objective = _objective(examples, settings, judge)
    objective_named(_coded(objective, examples.scale), k)
    if not judge.is_ordered and (method in FIT_METHODS or objective in ("linear", "quadratic")):
        what = f"the labels of {judge.name} have no order"
        raise InputError(f"{what}, so {method} by {objective} has nothing to go by")
    if method == "platt" and k != 2:
        raise ValueError(f"it is for two labels, got {k}; take ordinal")
    if settings.options and method in FIT_METHODS:
        raise InputError(f"options are for prompts, and {method} leaves them as they are")
    if settings.topic_labels < 0 or settings.seed < 0:
        raise ValueError("wanted topic_labels and seed of 0 or more")
    resampling(None, **settings.draws)
    if settings.folds is None:
        return [split_topics(examples.topics, shares=settings.shares, seed=settings.seed)]
    if method in PROMPT_METHODS:
        raise InputError("folds are for methods that fit numbers; a prompt is fitted once")
    return topic_folds(examples.topics, settings.folds, seed=settings.seed)


class _Fitting:
    """A method that fits numbers to the scores of the judge as it is."""

    def __init__(
        self, judge: ItemJudge, examples: Examples, settings: Settings, splits: list[Split]
    ) -> None:
        self._judge = judge
        self._examples = examples
        self._settings = settings
        self._splits = splits
        self._raw = judge.deepcopy()
        self._raw.correction = None
        self._asked = _judged(self._raw, examples.items, settings)

    def result(self) -> Calibration:
        """The fit, tested."""
        splits, tested = self._splits, []
        for split in splits:
            fit = self._fit((*split.train, *split.dev))
            test, file = self._test(split, fit)
            tested.append(test)
        if self._settings.folds is not None:
            file = self._fit(self._examples.topics).file
        test = _Tested(*(list(chain(*parts)) for parts in zip(*tested, strict=True)))
        report = _report(
            self._judge, self._examples, self._settings, splits, test, self._asked.unjudged
        )
        return Calibration(_described(file, report), report)

    def _fit(self, topics: Iterable[str]) -> _Fit:
        """A judge file fitted to these topics."""
        items = of_topics(self._examples.items, topics)
        words, verdicts = self._judge.fitted_words, self._asked.verdicts
        if self._settings.weigh_words and self._judge.model_name == "lexical" and self._judge.held:
            words = word_weights(item.inputs[self._judge.held] for item in items)
            scorer = self._raw.fitted(_file(self._raw, words=words))
            verdicts = _judged(scorer, self._examples.items, self._settings).verdicts
        known = [item for item in items if item.cell in verdicts]
        if not known:
            why = f"none of the {len(items)} items to fit on was judged"
            raise InputError(f"{why}; the first: {self._asked.first_reason}")
        objective = _objective(self._examples, self._settings, self._judge)
        correction = fit(
            cast(FitMethod, self._settings.method),
            [verdicts[item.cell] for item in known],
            [item.label for item in known],
            [item.topic_id for item in known],
            judge_scale=self._judge.scale,
            scale=self._examples.scale,
            objective=_coded(objective, self._examples.scale),
        )
        return _Fit(_file(self._raw, words=words, correction=correction), verdicts)

    def _test(self, split: Split, fit: _Fit) -> tuple[_Tested, JudgeFile]:
        """Both judges on the test topics; the file with what it learnt of them (method topic)."""
        items = of_topics(self._examples.items, split.test)
        known = [item for item in items if item.cell in fit.verdicts]
        correction = without = fit.file.correction
        assert correction is not None
        assert without is not None
        if self._settings.method == "topic" and self._settings.topic_labels:
            few, known = _draw_few(known, self._settings)
            codes = self._examples.scale.index
            if few:
                correction = add_topics(
                    correction,
                    [score_of(fit.verdicts[item.cell], self._judge.scale) for item in few],
                    [codes(item.label) for item in few],
                    [item.topic_id for item in few],
                )
        tested = _Tested(
            known,
            [self._apply(self._judge.correction, self._asked.verdicts, item) for item in known],
            [self._apply(correction, fit.verdicts, item) for item in known],
            [self._apply(without, fit.verdicts, item) for item in known],
        )
        return tested, fit.file.model_copy(update={"correction": correction})

    def _apply(
        self, correction: Correction | None, verdicts: Mapping[Cell, Verdict], item: Example
    ) -> Verdict:
        verdict = verdicts[item.cell]
        if correction is None:
            return verdict
        return correction.verdict(verdict, self._judge.scale, item.topic_id)


def _with_prompts(
    judge: ItemJudge,
    examples: Examples,
    settings: Settings,
    splits: list[Split],
    prompt_model: Backend | None,
    log: Path | None,
) -> Calibration:
    from .optimisers import optimise
    from .prompt_diff import prompt_diff

    (split,) = splits
    train, dev, test = (
        of_topics(examples.items, part) for part in (split.train, split.dev, split.test)
    )
    before, unjudged, _ = _judged(judge, test, settings)
    found = optimise(
        judge,
        train,
        dev,
        method=settings.method,
        seed=settings.seed,
        options=settings.options,
        prompt_model=prompt_model,
        log=log,
        threads=settings.concurrency,
        keep_calls=len(calls(judge, [(item.topic_id, item.inputs) for item in test])),
    )
    file = _file(judge, prompts=found.prompts, correction=judge.correction)
    after, lost, _ = _judged(judge.fitted(file), test, settings)
    both = [item for item in test if item.cell in before and item.cell in after]
    tested = _Tested(
        both,
        [before[item.cell] for item in both],
        [after[item.cell] for item in both],
        [],
    )
    report = _report(judge, examples, settings, splits, tested, unjudged + lost)
    report["optimiser"] = {
        name: value for name, value in asdict(found).items() if name != "prompts"
    }
    diff = prompt_diff(judge, found.prompts)
    return Calibration(_described(file, report), report, diff)


def _judged(judge: ItemJudge, items: Sequence[Example], settings: Settings) -> _Asked:
    """Ask the judge about each item."""
    asked = [(item.topic_id, item.inputs) for item in items]
    found = run_sync(judge_items(judge, asked, concurrency=settings.concurrency))
    verdicts, reasons, first = {}, Counter[str](), ""
    for item, (outcome, _) in zip(items, found, strict=True):
        if isinstance(outcome, Verdict):
            verdicts[item.cell] = outcome
        else:
            reasons[str(outcome.reason)] += 1
            first = first or f"{outcome.reason}: {outcome.detail}"
    return _Asked(verdicts, reasons, first)


def _draw_few(items: Sequence[Example], settings: Settings) -> tuple[list[Example], list[Example]]:
    """So many items of each topic, at most half of them, drawn at random; and the others."""
    rng = np.random.default_rng(settings.seed)
    few: set[tuple[str, ...]] = set()
    for topic in sorted({item.topic_id for item in items}):
        own = [item.cell for item in items if item.topic_id == topic]
        most = min(settings.topic_labels, len(own) // 2)
        few.update(own[i] for i in rng.permutation(len(own))[:most])
    return [i for i in items if i.cell in few], [i for i in items if i.cell not in few]


def _report(
    judge: ItemJudge,
    examples: Examples,
    settings: Settings,
    splits: Sequence[Split],
    tested: _Tested,
    unjudged: Counter[str],
) -> dict[str, Any]:
    truth = [item.label for item in tested.items]
    topics = [item.topic_id for item in tested.items]
    if not truth:
        raise InputError("no item of the test topics was judged both before and after")
    scale, objective = examples.scale, _objective(examples, settings, judge)
    ours = examples.judge_labels
    before = None if ours is None else [ours[verdict.label] for verdict in tested.before]
    after = [verdict.label for verdict in tested.after]
    measured = partial(figures_of, is_ordered=judge.is_ordered, draws=settings.draws)
    figures = measured(truth, before, after, topics, scale)
    report: dict[str, Any] = {
        "judge": judge.name,
        "model": judge.model_name,
        "method": settings.method,
        "objective": objective,
        "scale": list(scale),
        "n_labels": len(examples.items),
        "n_without_text": examples.n_without_text,
        "n_unlabelled": examples.n_unlabelled,
        "n_unjudged": unjudged.total(),
        "unjudged": dict(sorted(unjudged.items())),
        "n_test": len(truth),
        "n_test_topics": len(set(topics)),
        "topics": [
            {"train": list(s.train), "dev": list(s.dev), "test": list(s.test)} for s in splits
        ],
        "seed": settings.seed,
        "figures": as_row(figures),
        "verdict": figures[_main_figure(objective, scale)].verdict,
        "main_figure": _main_figure(objective, scale),
    }
    if settings.method == "topic" and settings.topic_labels:
        labels = [verdict.label for verdict in tested.without]
        without = measured(truth, before, labels, topics, scale)
        report["topic_labels"] = settings.topic_labels
        report["without_topic_labels"] = as_row(without)
    report |= _chances(tested, truth, scale)
    return report


def _chances(tested: _Tested, truth: Sequence[str], scale: Sequence[str]) -> dict[str, Any]:
    """How good the probabilities are, before and after, where there are some."""
    found: dict[str, Any] = {}
    codes = [list(scale).index(label) for label in truth]
    for name, verdicts in (("before", tested.before), ("after", tested.after)):
        rows = [v.probabilities for v in verdicts]
        if rows and all(row is not None and row.keys() == set(scale) for row in rows):
            chances = np.array([[row[s] for s in scale] for row in rows if row is not None])
            found.setdefault("probabilities", {})[name] = {
                **probability_scores(chances, codes).as_dict(),
                "reliability": [
                    {"label": f"{label} or better" if j < len(scale) - 1 else label, **vars(row)}
                    for j, label in enumerate(scale)
                    if j
                    for row in reliability_curve(
                        chances[:, j:].sum(axis=1).clip(0, 1), [code >= j for code in codes]
                    )
                ],
            }
    return found


def _objective(examples: Examples, settings: Settings, judge: ItemJudge) -> str:
    default = "linear" if len(examples.scale) > 2 and judge.is_ordered else "kappa"
    return settings.objective or default


def _coded(objective: str, scale: Sequence[str]) -> str:
    """one_vs_rest:LABEL with the label's code, as the fits take it."""
    name, colon, label = objective.partition(":")
    if colon and label not in scale:
        raise ValueError(
            f"objective {objective!r}: wanted one of {', '.join(scale)} after the colon"
        )
    return f"{name}:{list(scale).index(label)}" if colon else objective


def _main_figure(objective: str, scale: Sequence[str]) -> str:
    """The figure that the verdict goes by: that of the objective where there is one."""
    if len(scale) > 2 and objective == f"one_vs_rest:{scale[-1]}":
        return "best_vs_rest"
    has_own = objective in ("accuracy", "macro_f1") or (":" not in objective and len(scale) > 2)
    return objective if has_own else "kappa"


def _file(
    judge: ItemJudge,
    *,
    prompts: Mapping[str, FittedPrompt] | None = None,
    words: Mapping[str, float] | None = None,
    correction: Correction | None = None,
) -> JudgeFile:
    return JudgeFile(
        judge=judge.name,
        version=judge.version,
        scale=tuple(judge.scale),
        model=judge.model_name,
        prompts=dict(prompts) if prompts is not None else dict(judge.fitted_prompts),
        words=dict(words) if words is not None else None,
        correction=correction,
    )


def _described(file: JudgeFile, report: Mapping[str, Any]) -> JudgeFile:
    """The file with how it came about; the curves stay in the report."""
    kept = {name: value for name, value in report.items() if name != "probabilities"}
    return file.model_copy(update={"fitted": kept})
