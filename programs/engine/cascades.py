"""The cascade in the place of a judge, as the config has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...judges import Cascade, ItemJudge, Jury, read_cascade_file
from ...judges.base import Judge
from ...records.reading.lines import hash_of
from ...records.reading.problems import refused
from ..config.cascades import stages
from ..config.judge_section import PEOPLE, CascadeConfig
from ..config.juries import Seat
from ..config.names import JudgeName
from ..config.sections import Config, JudgeConfig
from .juries import jury_identity, jury_of

OfJudge = Callable[[Judge, JudgeConfig], dict[str, Any]]


def cascade_of(name: JudgeName, config: Config, built: Callable[[JudgeName, Seat], Judge]) -> Judge:
    """The cascade in the place of a judge, its stages built one by one.

    Raises: InputError for a state of another cascade, or one without the promise that is wanted.
    """
    judge = config.judge(name)
    settings = judge.cascade
    assert settings is not None
    judges: list[ItemJudge | str] = []
    for number, stage in enumerate(stages(judge), 1):
        at = f"stage {number}"

        def seated(name: JudgeName, seat: Seat, at: str = at) -> Judge:
            return built(name, seat._replace(name=f"{at} {seat.name}"))

        if stage.jury is not None:
            one = jury_of(name, config.with_judge(name, stage), seated)
        else:
            one = built(name, Seat(at, stage))
        assert isinstance(one, ItemJudge)  # the config allows no other
        judges.append(one)
    if settings.stages[-1] == PEOPLE:
        judges.append(PEOPLE)
    state = None if settings.state is None else read_cascade_file(settings.state)
    at = f"judges.{name}.cascade" if settings.state is None else f"{settings.state}"
    with refused(at):
        cascade = Cascade(
            judges,
            state,
            threshold=settings.threshold,
            confidence=settings.confidence or "agreement",
        )
        _check_promise(settings, cascade)
    return cascade


def _check_promise(settings: CascadeConfig, cascade: Cascade) -> None:
    """Raise ValueError where the state was fitted for something else than the config says."""
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
            raise ValueError(f"{setting}: it was fitted for {has[setting]}, the config has {value}")


def cascade_identity(cascade: Cascade, settings: JudgeConfig, of_judge: OfJudge) -> dict[str, Any]:
    """All that could change a judgement of a cascade; `model` names those of its stages."""
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
            "state": None if section.state is None else hash_of(section.state),
            "people": cascade.to_people,
        },
        "stages": [
            jury_identity(judge, own, of_judge) if isinstance(judge, Jury) else of_judge(judge, own)
            for judge, own in both
        ],
    }
