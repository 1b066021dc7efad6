"""One answer at a time, as other tools ask: its value in a measure, or why there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ...evaluation.questions import QuestionScore
from ...evaluation.samples.fields import sample_of
from ...programs.config.names import program_names
from ...programs.protocols.table import chosen
from ...records.reading.problems import InputError, did_you_mean
from .feedback import Explained
from .rounds import Rounds

_NO_ANSWERS = ("relevance", "items")  # programs that judge no answers


class SampleJudge:
    """Judges single samples by one measure, or by several at once.

    What is asked for while a round is judged makes up the next round, so that many calls at once,
    from threads or tasks, cost as little as `nuggetjudge.evaluate` on all of them, and give what
    it gives. One cache, one budget and one set of judges serve all rounds; a copy of the judge
    is the judge itself.

    Args:
        measure: the value to give, such as V_strict, support_precision, coverage or KPR; or
            several, of which `score` and `explain` give the first.
        program: which programs; None: those that give the measures.
        model: who judges; see `nuggetjudge.run`.
        settings: as of `nuggetjudge.run`; `max_cost`, `max_calls` and `max_tokens` are for all
            samples together, `concurrency` is how many judgements are under way at once. Nothing
            is kept but replies in the cache: there is no `out`.

    Raises: InputError for settings that are wrong, and for a measure that no program gives.
    """

    def __init__(
        self,
        measure: str | Sequence[str],
        program: str | Sequence[str] | None = None,
        *,
        model: str | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.measures = [measure] if isinstance(measure, str) else list(dict.fromkeys(measure))
        self.measure = self.measures[0]
        if "out" in settings or settings.get("executor", "local") != "local":
            _refuse(*(name for name in ("out", "executor") if name in settings))
        names = [program] if isinstance(program, str) else list(program or ())
        giving = {each: _giving(each, names) for each in self.measures}
        names = names or list(dict.fromkeys(name for each in giving.values() for name in each))
        self._rounds = Rounds(giving, names, model, settings)

    def score(self, sample: Mapping[str, Any]) -> QuestionScore:
        """What the sample is worth.

        Args:
            sample: fields as of `nuggetjudge.evaluate`.

        Raises: InputError for a sample that lacks something, and for a measure that its programs
            do not give, before anything is asked; EndpointUnusable when no request can succeed.
        """
        return self._rounds.submit(sample_of(sample, 0), with_feedback=False).result()[0].score

    async def ascore(self, sample: Mapping[str, Any]) -> QuestionScore:
        """As `score`; the loop it is awaited in goes on, and no thread waits."""
        waiting = self._rounds.submit(sample_of(sample, 0), with_feedback=False)
        return (await asyncio.wrap_future(waiting))[0].score

    def explain(self, sample: Mapping[str, Any]) -> Explained:
        """As `score`, with what the answer misses and what does not carry it, in words."""
        return self.explain_each(sample)[0]

    def explain_each(self, sample: Mapping[str, Any]) -> list[Explained]:
        """As `explain`, for all of `measures`; of each what is of its programs."""
        return self._rounds.submit(sample_of(sample, 0), with_feedback=True).result()

    async def aexplain(self, sample: Mapping[str, Any]) -> Explained:
        """As `explain`; the loop it is awaited in goes on."""
        waiting = self._rounds.submit(sample_of(sample, 0), with_feedback=True)
        return (await asyncio.wrap_future(waiting))[0]

    def __copy__(self) -> SampleJudge:
        return self

    def __deepcopy__(self, memo: object) -> SampleJudge:
        return self


def _giving(measure: str, given: Sequence[str]) -> list[str]:
    """The program that gives the measure, or those of `given` that do; []: it is not known.

    Raises: InputError for a measure of none of them, or of other programs.
    """
    known = [name for name in program_names() if name not in _NO_ANSWERS]
    shown = {one.name: one.shown for one in chosen([*dict.fromkeys((*known, *given))])}
    name = measure.partition("@")[0]
    giving = [program for program in shown if name in shown[program]]
    if given and (set(given) & set(giving) or not giving):
        return [name for name in given if name in giving]
    if not given and giving:
        return giving[:1]
    wanted = [each for program in given or shown for each in shown[program]]
    of = f"{', '.join(given)} gives" if given else "programs give"
    hint = f"; {measure} is of {giving[0]}" if giving else did_you_mean(measure, wanted)
    raise InputError(f"measure {measure!r}: {of} {', '.join(wanted)}{hint}")


def _refuse(name: str) -> NoReturn:
    why = "single samples are judged here, in this process"
    raise InputError(f"{name}: {why}; nuggetjudge.evaluate judges all of them at once with it")
