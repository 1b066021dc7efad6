"""What each question was worth: one row a run, topic and measure, with what it rests on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ..programs.engine.folders import inputs_of
from ..programs.protocols.table import programs
from ..programs.scoring.result import Result as StoredResult
from ..records.reading.problems import InputError, Problems, did_you_mean
from ..records.topics import read_topics
from ..views.rows import Rows

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


@dataclass(frozen=True)
class QuestionScore:
    """One value of one measure for one answer.

    Attributes:
        value: None: not judged, or 0/0; never a 0 in the place of a judgement that failed.
        n, n_unjudged: judgements that carry it, and that are missing.
        low, high: the value with those that are missing counted as worst and as best.
        reasons: of what is missing for this run and topic in the programs that the measure is of:
            how often each. Of a measure that no program lists as its own: in any program.
    """

    topic_id: str
    run_id: str
    measure: str
    value: float | None
    n: int
    n_unjudged: int
    low: float | None
    high: float | None
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_judged(self) -> bool:
        """Whether there is a value and nothing of it is missing."""
        return self.value is not None and not self.n_unjudged

    def __str__(self) -> str:
        value = "not judged" if self.value is None else f"{self.value:.3f}"
        lost = f", {self.n_unjudged} unjudged" if self.n_unjudged else ""
        why = "".join(f"; {reason} {n}" for reason, n in self.reasons.items())
        return f"{self.measure} {value} (n {self.n}{lost}{why})"


def chosen(
    result: StoredResult, measures: str | Sequence[str], runs: str | Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Measures and runs as they were named, all of which are there; a run may be named first.

    Raises: InputError for one that is not, with those that are.
    """
    names_of = [[names] if isinstance(names, str) else list(names) for names in (measures, runs)]
    run_ids = {row.run_id for row in result.scores}
    if names_of[0] and not runs and {*names_of[0]} <= run_ids:
        names_of.reverse()
    for what, names in zip(("measure", "run_id"), names_of, strict=True):
        there = dict.fromkeys(getattr(row, what) for row in result.scores) if names else {}
        known = [*there, *(() if runs else run_ids)]
        for name in names:
            if name not in there:
                kind = what.removesuffix("_id")
                raise InputError(
                    f"{result.folder}: no {kind} {name!r}; there is "
                    f"{', '.join(there)}{did_you_mean(name, known)}"
                )
    return names_of[0], names_of[1]


def question_scores(
    result: StoredResult, measures: Sequence[str] = (), runs: Sequence[str] = ()
) -> Rows[QuestionScore]:
    """The scores of each question, in the order of scores.jsonl.

    Args:
        measures, runs: which; empty: all.
    """
    lost, others = _lost(result), cache(_of_others)
    return Rows(
        QuestionScore(
            topic_id=row.topic_id,
            run_id=row.run_id,
            measure=row.measure,
            value=row.value,
            n=row.n or 0,
            n_unjudged=row.n_unjudged or 0,
            low=row.low,
            high=row.high,
            reasons=_reasons(lost, row.run_id, row.topic_id, others(row.measure))
            or _reasons(lost, row.run_id, row.topic_id if row.n_unjudged else ""),
        )
        for row in result.scores
        if row.topic_id != "all"
        and (not measures or row.measure in measures)
        and (not runs or row.run_id in runs)
    )


_Lost: TypeAlias = Mapping[tuple[str | None, str | None], Counter[tuple[str, str]]]


def _lost(result: StoredResult) -> _Lost:
    """What is missing, by run and topic: how often for a reason in a stage."""
    lost: dict[tuple[str | None, str | None], Counter[tuple[str, str]]] = {}
    for row in result.unjudged:
        counts = lost.setdefault((row.get("run_id"), row.get("topic_id")), Counter())
        counts[row.get("stage", ""), row["reason"]] += 1
    return lost


def _reasons(lost: _Lost, run_id: str, topic_id: str, but: Collection[str] = ()) -> dict[str, int]:
    """How often each reason stands for a run and a topic, or for the topic, stages `but` aside."""
    reasons = Counter[str]()
    for key in ((run_id, topic_id), (None, topic_id)):
        for (stage, reason), n in lost.get(key, {}).items():
            if stage not in but:
                reasons[reason] += n
    return dict(reasons)


def _of_others(measure: str) -> frozenset[str]:
    """The stages of programs that do not make a measure; none where no program lists it."""
    sides: tuple[set[str], set[str]] = set(), set()
    for program in programs():
        is_of = measure.partition("@")[0] in program.shown
        sides[is_of].update(program.stages or (program.name,))
    others, own = sides
    return frozenset(others - own) if own else frozenset()


def question_frame(
    result: StoredResult, measures: Sequence[str] = (), runs: Sequence[str] = ()
) -> pandas.DataFrame:
    """See `Result.frame`."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError("a frame needs pandas: pip install pandas") from None
    questions = _questions(result)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    scores = question_scores(result, measures, runs)
    names, lost = dict.fromkeys(score.measure for score in scores), _lost(result)
    for score in scores:
        key = (score.run_id, score.topic_id)
        if key not in rows:
            ids = {"run_id": key[0], "topic_id": key[1], "question": questions.get(key[1], "")}
            rows[key] = ids | dict.fromkeys(names, math.nan) | {"n": score.n}
            reasons = _reasons(lost, *key)
            rows[key]["n_unjudged"] = sum(reasons.values())
            rows[key]["reasons"] = ", ".join(f"{why} {n}" for why, n in reasons.items())
        rows[key][score.measure] = math.nan if score.value is None else score.value
    columns = ["run_id", "topic_id", "question", *names, "n", "n_unjudged", "reasons"]
    frame = pandas.DataFrame(list(rows.values()), columns=columns)
    frame["judge"] = ", ".join(result.judged_by)
    return frame


def _questions(result: StoredResult) -> Mapping[str, str]:
    """The texts of the topics, by id; {} where their file is not there any more."""
    with suppress(InputError):
        path = inputs_of(result.folder).config.data.topics
        if path is not None:
            return {name: topic.text for name, topic in read_topics(path, Problems()).items()}
    return {}
