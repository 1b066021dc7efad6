"""The judges of a panel that are fitted, sit on juries or verify, as the config has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...judges import ItemJudge, Jury, Verified, read_judge_file
from ...judges.base import Judge
from ...records.reading.problems import InputError, refused
from ..config.juries import ADJUDICATOR, Seat, seats, verifier_of
from ..config.names import JudgeName
from ..config.sections import Config, JudgeConfig


def fitted(judge: Judge, path: Path) -> Judge:
    """The judge as a judge file has it. Raises: InputError if the file does not fit it."""
    with refused(path):
        fitted_judge = judge.fitted(read_judge_file(path))
    correction = fitted_judge.correction if isinstance(fitted_judge, ItemJudge) else None
    if correction is not None and not set(correction.labels or ()) <= set(judge.scale):
        got, wanted = ", ".join(correction.labels or ()), ", ".join(judge.scale)
        raise InputError(f"{path}: it gives the labels {got}, a run wants {wanted}")
    return fitted_judge


def jury_of(name: JudgeName, config: Config, built: Callable[[JudgeName, Seat], Judge]) -> Judge:
    """The jury in the place of a judge, its members built one by one.

    Raises: InputError for settings that the judge's labels or window do not allow.
    """
    judge = config.judge(name)
    settings = judge.jury
    assert settings is not None
    members: dict[str, ItemJudge] = {}
    for seat in seats(judge):
        member = built(name, seat)
        assert isinstance(member, ItemJudge)  # the config allows no other
        members[seat.name] = member
    adjudicator = members.pop(ADJUDICATOR, None)
    with refused(f"judges.{name}.jury"):
        jury = Jury(
            members,
            settings.how,
            quorum=settings.quorum,
            ties=settings.ties,
            adjudicator=adjudicator,
            spread=settings.spread,
        )
        if judge.state is not None and adjudicator is not None:
            raise ValueError("a fit decides by the mean of the votes, an adjudicator beside it")
    return jury if judge.state is None else fitted(jury, judge.state)


def verified_of(name: JudgeName, config: Config, first: Judge, verifier: Judge) -> Verified:
    """The judge whose labels are verified, with its verifier.

    Raises: InputError for conditions that the judge's labels do not allow, or nothing to quote.
    """
    settings = config.judge(name).verify
    assert settings is not None
    assert isinstance(first, ItemJudge)  # the config allows no other
    assert isinstance(verifier, ItemJudge)
    with refused(f"judges.{name}.verify"):
        return Verified(first, verifier, **dict(settings.when))


def verified_identity(
    judge: Verified,
    settings: JudgeConfig,
    of_judge: Callable[[Judge, JudgeConfig], dict[str, Any]],
) -> dict[str, Any]:
    """What verifying adds to the identity of the judge that is asked first."""
    verifier = of_judge(judge.verifier, verifier_of(settings))
    when = [judge.score, judge.labels, judge.spread]
    return {"verify": {"version": judge.version, "when": when, "verifier": verifier}}


def jury_identity(
    jury: Jury, settings: JudgeConfig, of_judge: Callable[[Judge, JudgeConfig], dict[str, Any]]
) -> dict[str, Any]:
    """All that could change a judgement of a jury; `model` names those of its members."""
    identity = of_judge(jury, settings)
    members = {}
    for seat in seats(settings):
        judge = jury.adjudicator if seat.name == ADJUDICATOR else jury.members[seat.name]
        assert judge is not None
        members[seat.name] = {
            **of_judge(judge, seat.settings),
            "replicate": seat.replicate,
            "temperature": seat.temperature,
        }
    own = {
        "how": jury.how,
        "quorum": jury.quorum,
        "ties": jury.ties,
        "spread": jury.spread if jury.adjudicator is not None else None,
    }
    return {**identity, "model": {"model": jury.model_name}, "jury": own, "members": members}
