"""Fit a judge to labels on some topics, and measure on others whether it helped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from ..backends.gateway import Backend
from ..backends.loop import run_sync
from ..judges import ItemJudge, JudgeFile, Verdict
from ..judges.calls import judge_items
from ..judges.correction import Correction
from ..judges.files import FittedPrompt
from ..judges.overlap import word_weights
from ..metrics.bootstrap import LEVEL, RESAMPLES, Draws
from ..metrics.probability import probability_scores, reliability_curve
from ..records.problems import InputError
from .examples import Example, Examples, of_topics
from .figures import as_row, figures_of
from .fits import FIT_METHODS, FitMethod, fit, score_of
from .split import SHARES, Split, split_topics, topic_folds
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
        topic_labels: labels of each test topic that the method topic may use; the figures rest
            on the others.
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
    """A fitted judge, and what was measured of it, ready for JSON."""

    file: JudgeFile
    report: dict[str, Any]


class _Tested(NamedTuple):
    """Items of test topics with what was said of them before and after."""

    items: list[Example]
    before: list[Verdict]
    after: list[Verdict]
    without: list[Verdict]  # the method topic, had it had no labels of these topics


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
    if settings.method not in ALL_METHODS:
        raise InputError(f"method {settings.method!r}: wanted one of {', '.join(ALL_METHODS)}")
    if settings.method in FIT_METHODS and not judge.is_ordered:
        what = f"the labels of {judge.name} have no order"
        raise InputError(f"{what}, so {settings.method} has nothing to go by; try bootstrap")
    try:
        if settings.method in FIT_METHODS:
            return _Fitting(judge, examples, settings).result()
        return _with_prompts(judge, examples, settings, prompt_model, log)
    except ValueError as error:
        raise InputError(f"{settings.method}: {error}") from None


class _Fitting:
    """A method that fits numbers to the scores of the judge as it is."""

    def __init__(self, judge: ItemJudge, examples: Examples, settings: Settings) -> None:
        self._judge = judge
        self._examples = examples
        self._settings = settings
        self._method = cast(FitMethod, settings.method)
        self._objective = _coded(_objective(examples, settings, judge), examples.scale)
        self._raw = judge.deepcopy()
        self._raw.correction = None
        self._before = _verdicts(judge, examples.items, settings)

    def result(self) -> Calibration:
        """The fit, tested."""
        settings, topics = self._settings, self._examples.topics
        if settings.folds is not None:
            splits = topic_folds(topics, settings.folds, seed=settings.seed)
            file, _ = self._fit(topics)
            parts = [self._test(split, *self._fit(split.train))[0] for split in splits]
            test = _Tested(*(list(chain(*of)) for of in zip(*parts, strict=True)))
        else:
            splits = [split_topics(topics, shares=settings.shares, seed=settings.seed)]
            split = splits[0]
            test, file = self._test(split, *self._fit((*split.train, *split.dev)))
        report = _report(self._judge, self._examples, settings, splits, test)
        report["n_unjudged"] = sum(verdict is None for verdict in self._before)
        return Calibration(_described(file, report), report)

    def _fit(self, topics: Iterable[str]) -> tuple[JudgeFile, ItemJudge]:
        """A judge file fitted to these topics, and the judge whose scores it is for."""
        items = of_topics(self._examples.items, topics)
        words, scorer = None, self._raw
        if self._settings.weigh_words and self._judge.model_name == "lexical" and self._judge.held:
            words = word_weights(item.inputs[self._judge.held] for item in items)
            scorer = self._raw.fitted(_file(self._raw, words=words))
        known = [
            (item, verdict)
            for item, verdict in zip(items, _verdicts(scorer, items, self._settings), strict=True)
            if verdict is not None
        ]
        correction = fit(
            self._method,
            [verdict for _, verdict in known],
            [item.label for item, _ in known],
            [item.topic_id for item, _ in known],
            judge_scale=self._judge.scale,
            scale=self._examples.scale,
            objective=self._objective,
        )
        return _file(self._raw, words=words, correction=correction), scorer

    def _test(self, split: Split, file: JudgeFile, scorer: ItemJudge) -> tuple[_Tested, JudgeFile]:
        """Both judges on the test topics; the file with what it learnt of them (method topic)."""
        places = {item.cell: i for i, item in enumerate(self._examples.items)}
        items = of_topics(self._examples.items, split.test)
        raw = dict(
            zip((i.cell for i in items), _verdicts(scorer, items, self._settings), strict=True)
        )
        known = [
            item
            for item in items
            if raw[item.cell] is not None and self._before[places[item.cell]] is not None
        ]
        correction = without = file.correction
        assert correction is not None
        assert without is not None
        if self._method == "topic" and self._settings.topic_labels:
            few, known = _draw_few(known, self._settings)
            scale, codes = self._judge.scale, list(self._examples.scale)
            correction = add_topics(
                correction,
                [score_of(cast(Verdict, raw[item.cell]), scale) for item in few],
                [codes.index(item.label) for item in few],
                [item.topic_id for item in few],
            )
        tested = _Tested(
            known,
            [cast(Verdict, self._before[places[item.cell]]) for item in known],
            [self._apply(correction, raw[item.cell], item) for item in known],
            [self._apply(without, raw[item.cell], item) for item in known],
        )
        return tested, file.model_copy(update={"correction": correction})

    def _apply(self, correction: Correction, verdict: Verdict | None, item: Example) -> Verdict:
        assert verdict is not None
        return correction.verdict(verdict, self._judge.scale, item.topic_id)


def _with_prompts(
    judge: ItemJudge,
    examples: Examples,
    settings: Settings,
    prompt_model: Backend | None,
    log: Path | None,
) -> Calibration:
    from .optimisers import optimise

    if settings.folds is not None:
        raise InputError("folds are for methods that fit numbers; a prompt is fitted once")
    split = split_topics(examples.topics, shares=settings.shares, seed=settings.seed)
    train, dev = (of_topics(examples.items, part) for part in (split.train, split.dev))
    test = of_topics(examples.items, split.test)
    before = _verdicts(judge, test, settings)
    found = optimise(
        judge,
        train,
        dev,
        method=settings.method,
        seed=settings.seed,
        options=settings.options,
        prompt_model=prompt_model,
        log=log,
    )
    file = _file(judge, prompts=found.prompts, correction=judge.correction)
    after = _verdicts(judge.fitted(file), test, settings)
    both = [t for t in zip(test, before, after, strict=True) if t[1] and t[2]]
    tested = _Tested(
        [item for item, _, _ in both],
        [cast(Verdict, old) for _, old, _ in both],
        [cast(Verdict, new) for _, _, new in both],
        [],
    )
    report = _report(judge, examples, settings, [split], tested)
    report["n_unjudged"] = sum(verdict is None for verdict in (*before, *after))
    report["optimiser"] = {
        "dev_gain_before": found.dev_gain_before,
        "dev_gain_after": found.dev_gain_after,
        "n_candidates": found.n_candidates,
        "stopped_by": found.stopped_by,
        "calls": found.calls,
    }
    return Calibration(_described(file, report), report)


def _verdicts(
    judge: ItemJudge, items: Sequence[Example], settings: Settings
) -> list[Verdict | None]:
    """The verdict on each item; None: not judged."""
    asked = [(item.topic_id, item.inputs) for item in items]
    found = run_sync(judge_items(judge, asked, concurrency=settings.concurrency))
    return [outcome if isinstance(outcome, Verdict) else None for outcome, _ in found]


def _draw_few(items: Sequence[Example], settings: Settings) -> tuple[list[Example], list[Example]]:
    """So many items of each topic, drawn at random, and the others."""
    rng = np.random.default_rng(settings.seed)
    few: set[tuple[str, ...]] = set()
    for topic in sorted({item.topic_id for item in items}):
        own = [item.cell for item in items if item.topic_id == topic]
        most = min(settings.topic_labels, len(own) - 1)
        few.update(own[i] for i in rng.permutation(len(own))[:most])
    return [i for i in items if i.cell in few], [i for i in items if i.cell not in few]


def _report(
    judge: ItemJudge,
    examples: Examples,
    settings: Settings,
    splits: Sequence[Split],
    tested: _Tested,
) -> dict[str, Any]:
    truth = [item.label for item in tested.items]
    topics = [item.topic_id for item in tested.items]
    if not truth:
        raise InputError("no test item was judged both before and after, so nothing is known")
    scale, objective = examples.scale, _objective(examples, settings, judge)
    before = _on_scale([v.label for v in tested.before], judge.scale, scale)
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
    if settings.method == "topic":
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


def _on_scale(
    labels: Sequence[str], judge_scale: Sequence[str], scale: Sequence[str]
) -> list[str] | None:
    """The judge's own labels on the scale of people; None where there is no telling how.

    On a scale of two labels the judge's best label is the better one, all others the other.
    """
    if set(labels) <= set(scale):
        return list(labels)
    if len(scale) == 2:
        return [scale[label == judge_scale[-1]] for label in labels]
    return None


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
    if objective == f"one_vs_rest:{scale[-1]}":
        return "best_vs_rest" if len(scale) > 2 else "kappa"
    return "kappa" if objective.startswith("one_vs_rest") else objective


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


def limited(examples: Examples, n: int | None, seed: int = 0) -> Examples:
    """At most n items, drawn at random within topics as evenly as they allow."""
    if n is None or n >= len(examples.items):
        return examples
    rng = np.random.default_rng(seed)
    ranked: list[tuple[int, int]] = []
    by_topic: dict[str, list[int]] = {}
    for place, item in enumerate(examples.items):
        by_topic.setdefault(item.topic_id, []).append(place)
    for places in by_topic.values():
        order = rng.permutation(len(places))
        ranked += [(rank, places[i]) for rank, i in enumerate(order)]
    chosen = {place for _, place in sorted(ranked)[:n]}
    items = tuple(item for place, item in enumerate(examples.items) if place in chosen)
    return replace(examples, items=items)
