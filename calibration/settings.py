"""What a user chooses: how a judge is fitted and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from ..judges import ItemJudge
from ..metrics.bootstrap import LEVEL, RESAMPLES, Draws
from ..records.reading.problems import InputError
from ..records.reading.settings import NotYaml, plain_error, read_yaml
from .fits import FIT_METHODS
from .split import SHARES

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
        match: who says what of two lists is stated in the other, of judges that make lists:
            lexical, or a judge of items.
        options: of the optimiser.
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
        """How intervals are drawn."""
        return {"resamples": self.resamples, "seed": self.seed, "level": self.level}


_NAMED = ("topic_labels", "weigh_words", "seed", "resamples", "level")  # of `--option`


def settings_with(options: Sequence[str], **chosen: Any) -> Settings:
    """The settings, with `NAME=VALUE` options: those of a fit by their names, else the optimiser's.

    The values are read as YAML. Raises: InputError.
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


def objective_of(settings: Settings, scale: Sequence[str], judge: ItemJudge) -> str:
    """The objective of the settings, or the default for this scale."""
    default = "linear" if len(scale) > 2 and judge.is_ordered else "kappa"
    return settings.objective or default


def coded_objective(objective: str, scale: Sequence[str]) -> str:
    """one_vs_rest:LABEL with the label's code, as the fits take it.

    Raises: ValueError if the scale has no such label.
    """
    name, colon, label = objective.partition(":")
    if colon and label not in scale:
        raise ValueError(
            f"objective {objective!r}: wanted one of {', '.join(scale)} after the colon"
        )
    return f"{name}:{list(scale).index(label)}" if colon else objective


def main_figure(objective: str, scale: Sequence[str]) -> str:
    """The figure that the verdict goes by: that of the objective where there is one."""
    if len(scale) > 2 and objective == f"one_vs_rest:{scale[-1]}":
        return "best_vs_rest"
    has_own = objective in ("accuracy", "macro_f1") or (":" not in objective and len(scale) > 2)
    return objective if has_own else "kappa"
