"""Which judges a cascade asks, one after the other, each with the settings of a judge."""

from __future__ import annotations

from collections.abc import Collection

from ...judges.table import item_judges
from .judge_section import PEOPLE, JudgeConfig
from .juries import check_jury, seats, verifier_of


def stages(judge: JudgeConfig) -> list[JudgeConfig]:
    """The settings of the stages of a judge's cascade, people left out.

    A stage has the settings of the judge where it says nothing else, but no fit or jury of it.
    """
    cascade = judge.cascade
    assert cascade is not None
    own = {"jury": None, "state": None, "cascade": None, "verify": None}
    settings = []
    for stage in cascade.stages:
        if stage != PEOPLE:
            assert not isinstance(stage, str)
            changes = own | {
                name: getattr(stage.judge, name) for name in stage.judge.model_fields_set
            }
            settings.append(judge.model_copy(update=changes))
    return settings


def answering(judge: JudgeConfig) -> list[JudgeConfig]:
    """The settings of all who are asked: of each stage, each seat of a jury, and a verifier."""
    settings = []
    for one in [judge] if judge.cascade is None else stages(judge):
        settings += [one] if one.jury is None else [seat.settings for seat in seats(one)]
    return settings if judge.verify is None else [*settings, verifier_of(judge)]


def check_cascade(
    name: str, judge: JudgeConfig, models: Collection[str], *, labels_items: bool
) -> None:
    """Raise ValueError for a cascade that cannot be asked.

    Args:
        name: of the judge. models: the names under `models:`.
        labels_items: whether the judge does, which is what a cascade decides on.
    """
    at = f"judges.{name}.cascade"
    cascade = judge.cascade
    assert cascade is not None
    if not labels_items:
        raise ValueError(f"{at}: only {', '.join((*item_judges(), 'item'))} can be a cascade")
    for setting in ("jury", "state"):
        if getattr(judge, setting) is not None:
            raise ValueError(f"judges.{name}.{setting}: wanted of a stage of the cascade, not here")
    if judge.verify is not None or any(stage.verify is not None for stage in stages(judge)):
        raise ValueError(f"judges.{name}.verify: not with a cascade, which asks again by itself")
    names = list(dict.fromkeys(["default", *models]))
    for number, settings in enumerate(stages(judge), 1):
        if settings.jury is not None:
            check_jury(name, settings, models, labels_items=True)
        elif settings.model not in names:
            what = f"no model {settings.model!r}; there is {', '.join(names)}"
            raise ValueError(f"{at}: stage {number}: {what}")
