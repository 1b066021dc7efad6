"""Who sits on a jury: its members and adjudicator, each with the settings of a judge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...judges.table import item_judges
from .judge_section import JudgeConfig

ADJUDICATOR = "adjudicator"


class Seat(NamedTuple):
    """A member: its name, what it is as a judge, which replicate, and its own temperature."""

    name: str
    settings: JudgeConfig
    replicate: int = 0
    temperature: float | None = None


def seats(judge: JudgeConfig) -> list[Seat]:
    """The members of a judge's jury, and then its adjudicator, if there is one.

    A member has the settings of the judge where it says nothing else, but not its fit, which is
    that of the whole jury. Replicates are members of their own, `NAME-1`, `NAME-2`.

    Raises: ValueError for a jury of one, or a name that is there twice.
    """
    jury = judge.jury
    assert jury is not None
    own = {"jury": None, "state": None, "verify": None}
    members: list[Seat] = []
    for member in jury.members:
        given = member.judge.model_fields_set
        changes = own | {name: getattr(member.judge, name) for name in given}
        settings = judge.model_copy(update=changes)
        name = member.name or settings.model
        several = member.replicates > 1
        members += [
            Seat(f"{name}-{i + 1}" if several else name, settings, i, member.temperature)
            for i in range(member.replicates)
        ]
    names = [seat.name for seat in members]
    if len(members) < 2:
        raise ValueError(f"wanted 2 or more members, got {', '.join(names) or 'none'}")
    for name in names:
        if names.count(name) > 1 or name == ADJUDICATOR:
            what = "the adjudicator is" if name == ADJUDICATOR else "two members are"
            raise ValueError(f"{what} called {name!r}; give the member a `name`")
    if jury.quorum is not None and jury.quorum > len(members):
        raise ValueError(f"quorum: it is {jury.quorum}, there are {len(members)} members")
    if jury.adjudicator is not None:
        settings = judge.model_copy(update=own | {"model": jury.adjudicator})
        members.append(Seat(ADJUDICATOR, settings))
    return members


def without_verifier(judge: JudgeConfig) -> JudgeConfig:
    """The judge whose labels are verified, or a jury of judges."""
    return judge.model_copy(update={"verify": None})


def verifier_of(judge: JudgeConfig) -> JudgeConfig:
    """The judge that verifies: as the first, but for its model, without its fit."""
    assert judge.verify is not None
    own = {"jury": None, "cascade": None, "verify": None, "state": None, "evidence": True}
    return judge.model_copy(update=own | {"model": judge.verify.model})


def check_jury(name: str, judge: JudgeConfig, models: Iterable[str], *, labels_items: bool) -> None:
    """Raise ValueError for a jury that cannot sit.

    Args:
        name: of the judge. models: the names under `models:`.
        labels_items: whether the judge does, which is what a jury decides on.
    """
    at = f"judges.{name}.jury"
    if not labels_items:
        raise ValueError(f"{at}: only {', '.join((*item_judges(), 'item'))} can be a jury")
    try:
        members = seats(judge)
    except ValueError as error:
        raise ValueError(f"{at}: {error}") from None
    names = list(dict.fromkeys(["default", *models]))
    for seat in members:
        if (model := seat.settings.model) not in names:
            raise ValueError(f"{at}: {seat.name}: no model {model!r}; there is {', '.join(names)}")
