"""Judges that a config composes: fitted judges, juries, cascades, verifiers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from ...judges import Cascade, Explained, ItemJudge, Jury, Verified, read_cascade_file
from ...judges.base import Judge
from ...judges.saved import read_state
from ...records.reading.lines import hash_file
from ...records.reading.problems import InputError, raise_at
from ..config.base import JudgeName
from ..config.judge_sections import (
    ADJUDICATOR,
    PEOPLE,
    CascadeConfig,
    Member,
    list_members,
    make_verifier,
    stages,
)
from ..config.sections import Config, JudgeConfig


def load_fitted(judge: Judge, path: Path) -> Judge:
    """Load a judge's fit from a judge file or DSPy file. Raises: InputError if it does not fit."""
    with raise_at(path):
        fitted_judge = judge.copy_with_fit(read_state(path, judge))
    correction = fitted_judge.correction if isinstance(fitted_judge, ItemJudge) else None
    if correction is not None and not set(correction.labels or ()) <= set(judge.scale):
        got, wanted = ", ".join(correction.labels or ()), ", ".join(judge.scale)
        raise InputError(f"{path}: gives labels {got}, but the run needs {wanted}")
    return fitted_judge


def make_jury(
    name: JudgeName, config: Config, built: Callable[[JudgeName, Member], Judge]
) -> Judge:
    """Make the jury of a judge from its members.

    Raises: InputError for settings that the judge's labels or window do not allow.
    """
    judge = config.judge(name)
    settings = judge.jury
    assert settings is not None
    members: dict[str, ItemJudge] = {}
    for each in list_members(judge):
        member = built(name, each)
        assert isinstance(member, ItemJudge)  # the config allows no other
        members[each.name] = member
    adjudicator = members.pop(ADJUDICATOR, None)
    with raise_at(f"judges.{name}.jury"):
        jury = Jury(
            members,
            settings.method,
            quorum=settings.quorum,
            ties=settings.ties,
            adjudicator=adjudicator,
            spread=settings.spread,
        )
        if judge.state is not None and adjudicator is not None:
            raise ValueError("a fit decides by the mean of the votes, an adjudicator beside it")
    return jury if judge.state is None else load_fitted(jury, judge.state)


def make_verified(name: JudgeName, config: Config, first: Judge, verifier: Judge) -> Verified:
    """Make a judge with its verifier.

    Raises: InputError for conditions that do not fit the judge's labels, or a judge without quotes.
    """
    settings = config.judge(name).verify
    assert settings is not None
    assert isinstance(first, ItemJudge)  # the config allows no other
    assert isinstance(verifier, ItemJudge)
    with raise_at(f"judges.{name}.verify"):
        return Verified(first, verifier, **dict(settings.when))


def make_explained(name: JudgeName, first: Judge, writer: Judge) -> Explained:
    """Make the judge of a decision model with a judge that explains its labels.

    Args:
        writer: the same judge with another model, which explains.

    Raises: InputError for a judge whose labels cannot be explained this way.
    """
    assert isinstance(first, ItemJudge)
    assert isinstance(writer, ItemJudge)
    evidence: bool | Literal["required"] = (
        "required" if writer.requires_evidence else bool(writer.evidence)
    )
    with raise_at(f"judges.{name}, explained by {writer.model_name}"):
        return Explained(first, writer, evidence=evidence, reasoning=writer.rationale is not None)


def make_verified_identity(
    judge: Verified,
    settings: JudgeConfig,
    of_judge: Callable[[Judge, JudgeConfig], dict[str, Any]],
) -> dict[str, Any]:
    """Return what verification adds to the identity of the first judge."""
    verifier = of_judge(judge.verifier, make_verifier(settings))
    when = [judge.score, judge.labels, judge.spread]
    return {"verify": {"version": judge.version, "when": when, "verifier": verifier}}


def jury_identity(
    jury: Jury, settings: JudgeConfig, of_judge: Callable[[Judge, JudgeConfig], dict[str, Any]]
) -> dict[str, Any]:
    """Return everything that could change a judgement of a jury; `model` lists its models."""
    identity = of_judge(jury, settings)
    members = {}
    for each in list_members(settings):
        judge = jury.adjudicator if each.name == ADJUDICATOR else jury.members[each.name]
        assert judge is not None
        members[each.name] = {
            **of_judge(judge, each.settings),
            "replicate": each.replicate,
            "temperature": each.temperature,
        }
    own = {
        "how": jury.method,
        "quorum": jury.quorum,
        "ties": jury.ties,
        "spread": jury.spread if jury.adjudicator is not None else None,
    }
    return {**identity, "model": {"model": jury.model_name}, "jury": own, "members": members}


OfJudge = Callable[[Judge, JudgeConfig], dict[str, Any]]


def make_cascade(
    name: JudgeName, config: Config, built: Callable[[JudgeName, Member], Judge]
) -> Judge:
    """Make the cascade of a judge from its stages.

    Raises: InputError for a state of another cascade, or without the required guarantee.
    """
    judge = config.judge(name)
    settings = judge.cascade
    assert settings is not None
    judges: list[ItemJudge | str] = []
    for number, stage in enumerate(stages(judge), 1):
        at = f"stage {number}"

        def build_stage(name: JudgeName, each: Member, at: str = at) -> Judge:
            return built(name, each._replace(name=f"{at} {each.name}"))

        if stage.jury is not None:
            one = make_jury(name, config.with_judge(name, stage), build_stage)
        else:
            one = built(name, Member(at, stage))
        assert isinstance(one, ItemJudge)  # the config allows no other
        judges.append(one)
    if settings.stages[-1] == PEOPLE:
        judges.append(PEOPLE)
    state = None if settings.state is None else read_cascade_file(settings.state)
    at = f"judges.{name}.cascade" if settings.state is None else f"{settings.state}"
    with raise_at(at):
        cascade = Cascade(
            judges,
            state,
            threshold=settings.threshold,
            confidence=settings.confidence or "agreement",
        )
        _check_promise(settings, cascade)
    return cascade


def _check_promise(settings: CascadeConfig, cascade: Cascade) -> None:
    """Raise ValueError if the state was fitted for other values than the config has."""
    state = cascade.state
    if state is None:
        return
    wanted: dict[str, Any] = {
        "confidence": settings.confidence,
        "share": settings.share,
        "guarantee": settings.guarantee and settings.guarantee.model_dump(by_alias=True),
    }
    has = state.model_dump(by_alias=True)
    for setting, value in wanted.items():
        if value is not None and has[setting] != value:
            raise ValueError(
                f"{setting}: the state was fitted for {has[setting]}, the config has {value}"
            )


def cascade_identity(cascade: Cascade, settings: JudgeConfig, of_judge: OfJudge) -> dict[str, Any]:
    """Return everything that could change a judgement of a cascade; `model` lists its models."""
    identity = of_judge(cascade, settings)
    section = settings.cascade
    assert section is not None
    both = zip(cascade.stages, stages(settings), strict=True)
    return {
        **identity,
        "model": {"model": cascade.model_name},
        "cascade": {
            "confidence": cascade.confidence,
            "threshold": cascade.threshold,
            "state": None if section.state is None else hash_file(section.state),
            "people": cascade.to_people,
        },
        "stages": [
            jury_identity(judge, own, of_judge) if isinstance(judge, Jury) else of_judge(judge, own)
            for judge, own in both
        ],
    }
