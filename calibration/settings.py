"""The choices of a user: how to fit and measure a judge, and on which topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from typing import Annotated, Any

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from ..judges import ItemJudge
from ..metrics.inference import LEVEL, RESAMPLES, Draws
from ..records.reading.problems import InputError
from ..records.reading.settings import NotYaml, plain_error, read_yaml
from .fits import FIT_METHODS

SHARES = (0.4, 0.2, 0.4)  # of the topics: train, dev, test


@dataclass(frozen=True)
class Split:
    """The topic ids of each part of the data; no topic is in two parts.

    Attributes:
        train: the topics to which a method fits.
        dev: the topics by which it chooses.
        test: the topics that it never sees, which measure the fit.
    """

    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...]

    def __post_init__(self) -> None:
        parts = (*self.train, *self.dev, *self.test)
        if len(set(parts)) != len(parts):
            raise ValueError("a topic is in two parts of the split")


def split_topics(
    topics: Sequence[str], *, shares: tuple[float, float, float] = SHARES, seed: int = 0
) -> Split:
    """Draw topics into train, dev and test; equal arguments give the same split.

    Train and test get at least one topic. Dev gets at least one if its share is not 0 and there are
    3 topics.

    Args:
        topics: the ids of the topics, 2 or more.
        shares: the shares of train, dev and test, which sum to 1; only dev may have 0.
        seed: the seed of the draw, >= 0.

    Returns:
        The split.

    Raises: ValueError for fewer than 2 topics, or shares that are negative, do not sum to 1, or
        leave nothing to train or test.

    >>> split_topics(["t1", "t2", "t3", "t4", "t5"])
    Split(train=('t3', 't5'), dev=('t4',), test=('t1', 't2'))
    """
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9 or not shares[0] or not shares[2]:
        raise ValueError(f"wanted shares of train, dev and test that sum to 1, got {shares}")
    names = _draw(topics, seed)
    n = len(names)
    n_dev = min(max(1, round(shares[1] * n)), n - 2) if shares[1] else 0
    n_test = min(max(1, round(shares[2] * n)), n - n_dev - 1)
    parts = names[: n - n_dev - n_test], names[n - n_dev - n_test : n - n_test], names[n - n_test :]
    train, dev, test = (tuple(sorted(part)) for part in parts)
    return Split(train, dev, test)


def split_folds(topics: Sequence[str], n_folds: int, *, seed: int = 0) -> list[Split]:
    """Make splits that test each topic once, by a fit to the topics of all other folds.

    Args:
        topics: the ids of the topics.
        n_folds: the number of folds, from 2 to the number of topics.
        seed: the seed of the draw, >= 0.

    Returns:
        A split for each fold, without dev.

    Raises: ValueError for fewer than 2 folds, or more than there are topics.
    """
    names = _draw(topics, seed)
    if not 2 <= n_folds <= len(names):
        raise ValueError(f"wanted 2 to {len(names)} folds, one topic each at least, got {n_folds}")
    folds = [names[i::n_folds] for i in range(n_folds)]
    return [Split(tuple(sorted(set(names) - set(fold))), (), tuple(sorted(fold))) for fold in folds]


def check_unseen(fitted_on: Iterable[str], splits: Iterable[Split]) -> None:
    """Raise InputError if a judge was fitted before on topics that it would be tested on."""
    if seen := sorted({topic for split in splits for topic in split.test}.intersection(fitted_on)):
        what = f"the judge's file was fitted to labels of {seen[0]}"
        more = f" and {len(seen) - 1} more topics" if len(seen) > 1 else ""
        how = "use the split (seed) of its fit, labels of other topics, or no state"
        raise InputError(f"{what}{more}, which would be tested on; {how}")


def _draw(topics: Sequence[str], seed: int) -> list[str]:
    names = sorted(set(topics))
    if len(names) < 2:
        raise ValueError(f"wanted 2 topics or more, got {len(names)}")
    order = np.random.default_rng(seed).permutation(len(names))
    return [names[i] for i in order]


PROMPT_METHODS = ("few-shot", "bootstrap", "mipro", "simba", "gepa")
METHODS = "nuggetjudge.methods"  # entry points: NAME = "module:function", as plugins/trained


@cache
def list_methods() -> tuple[str, ...]:
    """List all methods; those of other packages are last."""
    return (*FIT_METHODS, *PROMPT_METHODS, *(entry.name for entry in entry_points(group=METHODS)))


def find_method(name: str) -> Callable[..., Any] | None:
    """Return the function `(target, split) -> Calibration` of another package's method."""
    found = [entry.load() for entry in entry_points(group=METHODS, name=name)]
    return found[0] if found else None


@dataclass(frozen=True)
class Settings:
    """How to fit a judge and measure the fit.

    Attributes:
        method: one of `list_methods()`.
        objective: the figure that chooses cuts and decides the verdict: kappa, linear, quadratic,
            macro_f1, accuracy, or one_vs_rest:LABEL. None: linear for an ordered scale of 3
            labels or more, else kappa.
        shares: the shares of the topics for train, dev and test, which sum to 1.
        folds: the number of folds, >= 2: each topic is tested once by a fit to the other folds, and
            the judge file is fitted to all labels. Not for prompts. None: one split.
        topic_labels: the number of labels of each test topic that the method topic may use, >= 0,
            and half of the labels at most; the figures are from the others.
        weigh_words: True if the lexical score weighs words by how rare they are in the texts of
            the training topics.
        match: for judges that make lists, what decides which items of two lists match: lexical,
            or a judge of items.
        seed: the seed of the split and of intervals, >= 0.
        resamples: the number of bootstrap samples of topics, >= 0; 0: no intervals.
        level: the level of the intervals, in (0, 1).
        concurrency: the maximum number of judgements at the same time.
        options: options of the optimiser or the training.
    """

    method: str = "threshold"
    objective: str | None = None
    shares: tuple[float, float, float] = SHARES
    folds: int | None = None
    topic_labels: Annotated[int, Field(ge=0)] = 10
    weigh_words: bool = True
    match: str = "lexical"
    seed: Annotated[int, Field(ge=0)] = 0
    resamples: Annotated[int, Field(ge=0)] = RESAMPLES
    level: float = LEVEL
    concurrency: int = 32
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def draws(self) -> Draws:
        """Return the options of intervals: resamples, seed and level."""
        return {"resamples": self.resamples, "seed": self.seed, "level": self.level}


_NAMED = ("topic_labels", "weigh_words", "seed", "resamples", "level")  # of `--option`


def make_settings(options: Sequence[str], **chosen: Any) -> Settings:
    """Make settings from `NAME=VALUE` options.

    Options that are settings of a fit set them; all others are for the optimiser. The values are
    read as YAML. Raises: InputError.
    """
    given: dict[str, Any] = {}
    for text in options:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"--option {text}: wanted NAME=VALUE")
        try:
            given[name] = read_yaml(value)[0]
        except NotYaml as error:
            raise InputError(f"--option {text}: the value is {error}") from None
    named = {name: given.pop(name) for name in _NAMED if name in given}
    try:
        return TypeAdapter(Settings).validate_python({**chosen, **named, "options": given})
    except ValidationError as error:
        at, what = plain_error(error.errors()[0])
        raise InputError(f"--option {'.'.join(at)}: {what}") from None


def choose_objective(settings: Settings, scale: Sequence[str], judge: ItemJudge) -> str:
    """Return the objective of the settings, or the default for this scale."""
    default = "linear" if len(scale) > 2 and judge.is_ordered else "kappa"
    return settings.objective or default


def encode_objective(objective: str, scale: Sequence[str]) -> str:
    """Write one_vs_rest:LABEL with the label's code, the form that the fits read.

    Raises: ValueError if the scale has no such label.
    """
    name, colon, label = objective.partition(":")
    if colon and label not in scale:
        raise ValueError(
            f"objective {objective!r}: wanted one of {', '.join(scale)} after the colon"
        )
    return f"{name}:{list(scale).index(label)}" if colon else objective


def choose_main_figure(objective: str, scale: Sequence[str]) -> str:
    """Return the figure that decides the verdict: the figure of the objective, if it has one."""
    if len(scale) > 2 and objective == f"one_vs_rest:{scale[-1]}":
        return "best_vs_rest"
    has_own = objective in ("accuracy", "macro_f1") or (":" not in objective and len(scale) > 2)
    return objective if has_own else "kappa"
