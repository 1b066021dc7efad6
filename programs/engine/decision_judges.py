"""What a run asks of decision models: labels, and of a second model the reasons for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ...backends.decisions import find_obstacle
from ...judges.base import Judge
from ...records.reading.problems import InputError
from ..config.base import JudgeName
from ..config.sections import Config


class Obstacle(NamedTuple):
    """What a run wants of a judge that its decision model cannot give.

    Attributes:
        judge: its name in a config. model: of its entry in `models:`.
        what: what it wants. setting: the setting that names a model that can.
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
    """What these judges want that a decision model cannot give, one for each judge.

    Args:
        build: makes a judge of the config by its name; called where a decision model answers.
    """
    found = []
    for name in dict.fromkeys(judges):
        if any(model.gives_labels_alone for _, model in config.get_models(name)):
            found += list(_find(config, name, build(name)))[:1]
    return found


def raise_obstacles(found: Sequence[Obstacle]) -> None:
    """Raise InputError that names all judges of which a decision model cannot do what is wanted."""
    if found:
        models = ", ".join(dict.fromkeys(each.model for each in found))
        lines = "".join(f"\n  {each}" for each in found)
        what = f"{models} only chooses labels. Name a chat model under models: and set it for"
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
    """The judges that are asked for it."""
    from ...judges import Cascade, Explained, Jury, Verified  # few runs have one

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
