"""The report of a fit: figures before and after on test topics, judge file, diff of the prompt."""

from __future__ import annotations

import difflib
import json
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..judges import ItemJudge, JudgeFile, Verdict
from ..judges.base import Judge
from ..judges.fitted import Correction, FittedPrompt
from ..judges.verdicts import lacks_probabilities
from ..metrics.inference import (
    BEYOND_CHANCE,
    SHARE,
    SIGNED,
    SIGNED_DIFFERENCE,
    Draws,
    Ends,
    Interval,
    Resampling,
    jackknife_interval,
    resampling,
)
from ..metrics.label_coefficients import accuracy, cohen_kappa, macro_f1, one_vs_rest_kappa
from ..metrics.probability import probability_scores, reliability_curve
from ..records.reading.problems import InputError
from .examples import Example, Examples
from .settings import Settings, Split, choose_main_figure, choose_objective

if TYPE_CHECKING:
    from ..judges.base import Judge
    from ..judges.fitted import FittedPrompt


Floats = NDArray[np.float64]
_SHARES = ("accuracy", "macro_f1")  # other figures are kappas


@dataclass(frozen=True)
class Figure:
    """One figure of agreement; `before` and `difference` are None if there is no earlier judge."""

    before: Interval | None
    after: Interval
    difference: Interval | None

    @property
    def verdict(self) -> str:
        """better, worse, or unclear if the interval of the difference includes 0."""
        gap = self.difference
        if gap is None or gap.low is None or gap.high is None:
            return "unclear"
        return "better" if gap.low > 0 else "worse" if gap.high < 0 else "unclear"


def compare_agreement(
    truth: Sequence[str],
    before: Sequence[str] | None,
    after: Sequence[str],
    topics: Sequence[str],
    scale: Sequence[str],
    *,
    is_ordered: bool = True,
    draws: Draws,
) -> dict[str, Figure]:
    """Compute figures of the same items before and after, with intervals over drawn topics.

    Args:
        truth, before, after: n labels of `scale` each; before None: no earlier judge.
        topics: n topic ids. Figures have the interval of drawn topics; a difference, which is
            tested, has the interval of topics left out one by one, on both sides together.

    Returns: kappa, linear and quadratic and best_vs_rest (of the best label; for ordered scales of
        at least 3 labels), accuracy, macro_f1.
    """
    sample = resampling(topics, **draws)
    new = _Counts(truth, after, scale, sample)
    old = None if before is None else _Counts(truth, before, scale, sample)
    figures = {}
    for name, of in _figures(len(scale), is_ordered).items():
        is_share = name in _SHARES
        ends = SHARE if is_share else BEYOND_CHANCE
        if old is None:
            figures[name] = Figure(None, new.draw_interval(of, ends), None)
        else:
            gap = jackknife_interval(
                _drop_nan(of(new.whole) - of(old.whole)),
                of(new.without) - of(old.without),
                SIGNED if is_share else SIGNED_DIFFERENCE,
                level=sample.level,
            )
            figures[name] = Figure(old.draw_interval(of, ends), new.draw_interval(of, ends), gap)
    return figures


def as_row(figures: dict[str, Figure]) -> dict[str, Any]:
    """The figures, ready for JSON."""
    return {name: {**asdict(f), "verdict": f.verdict} for name, f in figures.items()}


def _figures(k: int, is_ordered: bool) -> dict[str, Callable[[Floats], Floats]]:
    figures: dict[str, Callable[[Floats], Floats]] = {"kappa": cohen_kappa}
    if k > 2 and is_ordered:
        figures["linear"] = lambda counts: cohen_kappa(counts, "linear")
        figures["quadratic"] = lambda counts: cohen_kappa(counts, "quadratic")
        figures["best_vs_rest"] = lambda counts: one_vs_rest_kappa(counts)[..., -1]
    return {**figures, "accuracy": accuracy, "macro_f1": macro_f1}


class _Counts:
    """Counts of (true, given) labels: of all items, without each topic, of each drawn sample."""

    def __init__(
        self, truth: Sequence[str], answers: Sequence[str], scale: Sequence[str], sample: Resampling
    ) -> None:
        code, k = {label: i for i, label in enumerate(scale)}, len(scale)
        pairs = zip(truth, answers, strict=True)
        codes = np.array([code[t] * k + code[g] for t, g in pairs], np.int64)
        by_topic = sample.counts_by_topic(codes, k * k)
        self.whole: Floats = by_topic.sum(axis=0).reshape(k, k)
        self.without: Floats = self.whole - by_topic.reshape(-1, k, k)
        self._samples: Floats = sample.counts(codes, k * k).reshape(-1, k, k)
        self._sample = sample

    def draw_interval(self, of: Callable[[Floats], Floats], ends: Ends) -> Interval:
        """The figure with its interval over drawn topics."""
        return self._sample.interval(_drop_nan(of(self.whole)), of(self._samples), ends)


def _drop_nan(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)


class Tested(NamedTuple):
    """Items of test topics with their verdicts before and after."""

    items: list[Example]
    before: list[Verdict]
    after: list[Verdict]
    without: list[Verdict]  # of the method topic, without labels of these topics


def make_report(
    judge: ItemJudge,
    examples: Examples,
    settings: Settings,
    splits: Sequence[Split],
    tested: Tested,
    unjudged: Counter[str],
    raw: Iterable[Verdict],
) -> dict[str, Any]:
    """Make the report: figures before and after, their differences, and their origin.

    Args:
        unjudged: number of failed items, by reason.
        raw: all verdicts of the judge itself; some may lack probabilities.

    Raises: InputError if no item was judged both before and after.
    """
    truth = [item.label for item in tested.items]
    topics = [item.topic_id for item in tested.items]
    if not truth:
        raise InputError("no item of the test topics was judged both before and after")
    scale, objective = examples.scale, choose_objective(settings, examples.scale, judge)
    ours = examples.judge_labels
    before = None if ours is None else [ours[verdict.label] for verdict in tested.before]
    after = [(ours or {}).get(verdict.label, verdict.label) for verdict in tested.after]
    measured = partial(compare_agreement, is_ordered=judge.is_ordered, draws=settings.draws)
    figures = measured(truth, before, after, topics, scale)
    about = {
        "scale": list(scale),
        "n_labels": len(examples.items),
        "n_without_text": examples.n_without_text,
        "n_unlabelled": examples.n_unlabelled,
        **count_reasons("unjudged", unjudged),
    }
    report = make_frame_report(
        judge,
        settings,
        splits,
        objective,
        about,
        topics,
        as_row(figures),
        choose_main_figure(objective, scale),
    )
    if settings.method == "topic" and settings.topic_labels:
        labels = [verdict.label for verdict in tested.without]
        without = measured(truth, before, labels, topics, scale)
        report["topic_labels"] = settings.topic_labels
        report["without_topic_labels"] = as_row(without)
    if judge.has_logprobs:
        n = sum(lacks_probabilities(verdict.as_row()) for verdict in raw)
        report["n_without_probabilities"] = n
    report |= _chances(tested, truth, scale)
    return report


def make_frame_report(
    judge: Judge,
    settings: Settings,
    splits: Sequence[Split],
    objective: str,
    about: Mapping[str, Any],
    topics: Sequence[str],
    figures: dict[str, Any],
    main: str,
) -> dict[str, Any]:
    """Make the part that the reports of all fits share.

    Args:
        about: what this kind of fit reports about its labels and missing items.
        topics: of the tested items. figures: ready for JSON; main: the figure of the verdict.
    """
    return {
        "judge": judge.name,
        "model": judge.model_name,
        "method": settings.method,
        "objective": objective,
        **about,
        "n_test": len(topics),
        "n_test_topics": len(set(topics)),
        "topics": [
            {"train": list(s.train), "dev": list(s.dev), "test": list(s.test)} for s in splits
        ],
        "seed": settings.seed,
        "figures": figures,
        "verdict": figures[main]["verdict"],
        "main_figure": main,
    }


def count_reasons(name: str, reasons: Counter[str]) -> dict[str, Any]:
    """Number of missing items, in total and by reason."""
    return {f"n_{name}": reasons.total(), name: dict(sorted(reasons.items()))}


def _chances(tested: Tested, truth: Sequence[str], scale: Sequence[str]) -> dict[str, Any]:
    """Quality of the probabilities, before and after, if there are any."""
    quality: dict[str, Any] = {}
    codes = [list(scale).index(label) for label in truth]
    for name, verdicts in (("before", tested.before), ("after", tested.after)):
        rows = [v.probabilities for v in verdicts]
        if rows and all(row is not None and row.keys() == set(scale) for row in rows):
            chances = np.array([[row[s] for s in scale] for row in rows if row is not None])
            quality.setdefault("probabilities", {})[name] = {
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
    return quality


_REPORT_ONLY = ("probabilities", "lists")  # too long for a judge file


def make_judge_file(
    judge: Judge,
    *,
    prompts: Mapping[str, FittedPrompt] | None = None,
    words: Mapping[str, float] | None = None,
    correction: Correction | None = None,
) -> JudgeFile:
    """Make the judge file of a fit; without new prompts, it keeps the judge's prompts."""
    return JudgeFile(
        judge=judge.name,
        version=judge.version,
        scale=tuple(judge.scale),
        model=judge.model_name,
        logprobs=judge.has_logprobs,
        window=getattr(judge, "window", None),
        prompts=dict(prompts) if prompts is not None else dict(judge.fitted_prompts),
        words=dict(words) if words is not None else None,
        correction=correction,
    )


def describe_file(
    file: JudgeFile, report: Mapping[str, Any], judge: Judge, settings: Settings
) -> JudgeFile:
    """The file with its origin; curves, lists and the number of requests are only in the report,
    because a search that continues from the cache sends fewer."""
    fitted = {name: value for name, value in report.items() if name not in _REPORT_ONLY}
    if "optimiser" in fitted:
        fitted["optimiser"] = {n: v for n, v in fitted["optimiser"].items() if n != "calls"}
    parts = ["train", "dev"]
    if settings.folds is not None or (settings.method == "topic" and settings.topic_labels):
        parts.append("test")  # its labels are in the file, but not in the figures
    seen = {topic for split in report["topics"] for part in parts for topic in split[part]}
    fitted_on = tuple(sorted(judge.fitted_on | seen))
    return file.model_copy(update={"fitted": fitted, "fitted_on": fitted_on})


WIDTH = 100


def diff_prompts(judge: Judge, prompts: Mapping[str, FittedPrompt]) -> str:
    """Compare the judge's prompts with those of a judge file; empty if they are equal.

    Long lines are wrapped, and a worked example has one line per field. Parts that are the same in
    every prompt of the judge, the fields and the form of the reply, are left out.

    Args:
        prompts: by predictor; an unknown predictor is a ValueError.
    """
    questions = judge.questions()
    parts: list[str] = []
    for name, prompt in prompts.items():
        if name not in questions:
            raise ValueError(f"the {judge.name} judge asks no question called {name!r}")
        before = _lines(questions[name].signature.instructions, questions[name].demos)
        after = _lines(prompt.instructions, prompt.demos)
        where = f"{judge.name}.{name}"
        names = f"{where} before", f"{where} fitted"
        parts += difflib.unified_diff(before, after, *names, lineterm="")
    return "".join(f"{line}\n" for line in parts)


def _lines(instructions: str, demos: Any) -> list[str]:
    lines = _wrap(instructions.strip())
    for i, demo in enumerate(demos, 1):
        lines += ["", f"worked example {i}:"]
        for name, value in dict(demo).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            lines += _wrap(f"  {name}: {text}")
    return lines


def _wrap(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in textwrap.wrap(line, WIDTH) or [""]]
