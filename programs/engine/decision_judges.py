"""Judges with decision models, which only label; a second model explains the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ...backends.decisions import find_obstacle
from ...judges.base import Judge
from ...records.reading.problems import InputError
from ..config.base import JudgeName
from ..config.sections import Config


class Obstacle(NamedTuple):
    """A feature of a judge that its decision model does not support.

    Attributes:
        judge: its name in a config. model: the model of its entry in `models:`.
        what: the feature. setting: the setting that names a suitable model.
    """

    judge: JudgeName
    model: str
    what: str
    setting: str

    def __str__(self) -> str:
        return f"{self.judge} {self.what}: {self.setting}"


def list_obstacles(
    config: Config, judges: Iterable[JudgeName], build: Callable[[JudgeName], Judge]
) -> list[Obstacle]:
    """List features that decision models do not support, one for each judge.

    Args:
        build: makes a judge of the config by name; called for judges with a decision model.
    """
    found = []
    for name in dict.fromkeys(judges):
        if any(model.gives_labels_alone for _, model in config.get_models(name)):
            found += list(_find(config, name, build(name)))[:1]
    return found


def raise_obstacles(found: Sequence[Obstacle]) -> None:
    """Raise InputError with all judges that need more than a decision model supports."""
    if found:
        models = ", ".join(dict.fromkeys(each.model for each in found))
        lines = "".join(f"\n  {each}" for each in found)
        what = f"{models} only chooses labels. Add a chat model under models: and set it for"
        raise InputError(f"{what}{lines}")


def _find(config: Config, name: JudgeName, judge: Judge) -> Iterator[Obstacle]:
    section = config.judge(name)
    for one in _split(judge):
        if one.backend is None or not one.backend.config.gives_labels_alone:
            continue
        for prompt in one.prompts().values():
            if not (what := find_obstacle(prompt)):
                continue
            setting = f"judges.{name}.model"
            if getattr(one, "says_why", False) and section.verify is None:
                setting = f"run.explainer, or {setting}"
            yield Obstacle(name, one.backend.config.model, what, setting)


def _split(judge: Judge) -> Iterator[Judge]:
    """Return the judges that are asked for this judge."""
    from ...judges import Cascade, Explained, Jury, Verified  # only few runs need it

    parts: list[Judge] = []
    if isinstance(judge, Jury):
        parts = [*judge.members.values(), *([judge.adjudicator] if judge.adjudicator else [])]
    elif isinstance(judge, Cascade):
        parts = list(judge.stages)
    elif isinstance(judge, Verified):
        parts = [judge.first, judge.verifier]
    elif isinstance(judge, Explained):
        parts = [judge.first, judge.writer]
    else:
        yield judge
    for part in parts:
        yield from _split(part)
