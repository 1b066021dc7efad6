"""Who sits on a jury: its members and adjudicator, each with the settings of a judge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from ...judges.table import item_judges
from .base import Section, Whole

if TYPE_CHECKING:
    from .judge_section import JudgeConfig, MemberConfig

ADJUDICATOR = "adjudicator"


def _as_members(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return [{"model": member} if isinstance(member, str) else member for member in value]


class JuryConfig(Section):
    """Several judges in the place of one: what they say is combined (docs/juries.md)."""

    members: Annotated[tuple[MemberConfig, ...], BeforeValidator(_as_members)] = Field(
        min_length=1, description="models, or settings of a judge with its name and replicates"
    )
    how: Literal["vote", "median", "mean"] = Field(
        default="median", description="what the members' labels become"
    )
    quorum: Whole | None = Field(
        default=None, ge=1, description="members that must have judged; else more than half"
    )
    ties: Literal["between", "worst", "unjudged"] | None = Field(
        default=None,
        description="what a tie becomes; else between, of labels without order unjudged",
    )
    weights: dict[str, Annotated[float, Field(gt=0)]] | None = Field(
        default=None, description="how much each member counts, by its name; else all the same"
    )
    adjudicator: str | None = Field(
        default=None, description="a name under models:, who decides where members differ"
    )
    spread: Whole = Field(
        default=1, ge=1, description="places between the votes from which the adjudicator decides"
    )


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

    Raises: ValueError for a jury of one, a name that is there twice, or weights of others.
    """
    jury = judge.jury
    assert jury is not None
    own = {"jury": None, "state": None}
    found: list[Seat] = []
    for member in jury.members:
        said = member.model_fields_set - {"name", "replicates", "temperature"}
        changes = own | {name: getattr(member, name) for name in said}
        settings = judge.model_copy(update=changes)
        name = member.name or settings.model
        several = member.replicates > 1
        found += [
            Seat(f"{name}-{i + 1}" if several else name, settings, i, member.temperature)
            for i in range(member.replicates)
        ]
    names = [seat.name for seat in found]
    if len(found) < 2:
        raise ValueError(f"wanted 2 or more members, got {', '.join(names) or 'none'}")
    for name in names:
        if names.count(name) > 1 or name == ADJUDICATOR:
            what = "the adjudicator is" if name == ADJUDICATOR else "two members are"
            raise ValueError(f"{what} called {name!r}; give the member a `name`")
    if jury.weights is not None and sorted(jury.weights) != sorted(names):
        raise ValueError(f"weights: wanted one of each of {', '.join(names)}")
    if jury.quorum is not None and jury.quorum > len(found):
        raise ValueError(f"quorum: it is {jury.quorum}, there are {len(found)} members")
    if jury.adjudicator is not None:
        settings = judge.model_copy(update=own | {"model": jury.adjudicator})
        found.append(Seat(ADJUDICATOR, settings))
    return found


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
        found = seats(judge)
    except ValueError as error:
        raise ValueError(f"{at}: {error}") from None
    known = list(dict.fromkeys(["default", *models]))
    for seat in found:
        if (model := seat.settings.model) not in known:
            raise ValueError(f"{at}: {seat.name}: no model {model!r}; there is {', '.join(known)}")
