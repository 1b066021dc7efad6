"""Judges one answer at a time for other tools: its value, an explanation, or the error."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NoReturn
from weakref import finalize

from ...evaluation.evaluate import check_needs, get_defaults, select_files
from ...evaluation.result import QuestionScore, list_question_scores
from ...evaluation.samples.fields import ANSWER, CONTEXTS, QUESTION
from ...evaluation.samples.files import write_samples
from ...evaluation.samples.reading import Sample, make_sample
from ...programs.analysis.answers.summaries import standing
from ...programs.analysis.answers.views import AnswerView, Judged, read_answer_views
from ...programs.config.base import program_names
from ...programs.config.reading import load_config, name_settings
from ...programs.config.sections import Config
from ...programs.engine.dry_run import forecast_calls
from ...programs.engine.judge_set import (
    JudgeSet,
    check_judges,
    check_prices,
    make_budget,
    open_cache,
)
from ...programs.protocols.table import choose
from ...programs.run import judge_collection
from ...programs.scoring.result import Result
from ...records.reading.problems import InputError, Problems, cell, did_you_mean

CONTEXT = "context"  # the names that DSPy programs use


def sample_fields(
    given: Mapping[str, Any],
    answered: Mapping[str, Any],
    fields: Mapping[str, str],
    where: str,
) -> dict[str, Any]:
    """Return the fields of one sample, as `nuggetjudge.evaluate` reads them.

    Args:
        given: the inputs of the system, and other facts about them; an answer in `given` is a
            reference answer and is never judged.
        answered: the outputs of the system.
        fields: a part of a sample -> the field that holds it, if it has another name.
        where: the place for error messages.

    Raises: InputError for a name in `fields` that neither has, or if there is no answer.
    """
    without_answer = {name: value for name, value in given.items() if name not in ANSWER}
    rows = {**given, **answered}
    parts = {**without_answer, **answered}
    for part, name in fields.items():
        if name not in rows:
            there = ", ".join(map(str, rows))
            hint = did_you_mean(name, map(str, rows))
            raise InputError(f"{where}: no field {name!r} for {part}; fields: {there}{hint}")
        for other in next((names for names in (QUESTION, ANSWER, CONTEXTS) if part in names), ()):
            parts.pop(other, None)
        parts[part] = rows[name]
    if not any(isinstance(parts.get(name), str) for name in ANSWER):
        there = ", ".join(map(str, answered)) or "none"
        names = ", ".join(ANSWER)
        raise InputError(f"{where}: no answer ({names}); the output has the fields {there}")
    if CONTEXT in parts and not any(name in parts for name in CONTEXTS):
        context = parts.pop(CONTEXT)
        parts["contexts"] = [context] if isinstance(context, str) else context
    return parts


_CARRIED = ("full", "yes", "support", "cited_ok", "uncited_supported")
_PASSAGE = 200  # the most characters of a cited passage to show
_HEADINGS = {
    "missed": "The answer does not state",
    "partly": "The answer states only in part",
    "sentence": "Not supported by their citations",
    "other": "Not supported",
    "unjudged": "Not judged, which says nothing about the answer",
}


@dataclass(frozen=True)
class Explained:
    """A score and its explanation.

    Attributes:
        score: the score of the sample.
        feedback: the score and its judgements. Then, under headings, what the answer misses, which
            sentences their citations do not support, and what was not judged.
    """

    score: QuestionScore
    feedback: str


def explain(score: QuestionScore, view: AnswerView | None, eta: int) -> Explained:
    """Explain a score in words.

    Args:
        score: the score of a sample.
        view: the answer with its judgements; None if there are none.
        eta: the lowest rating at which a text answers a sub-question.

    Returns:
        The score and its explanation.
    """
    lines_by_heading: dict[str, dict[str, None]] = {heading: {} for heading in _HEADINGS}
    for each in view.judged if view is not None else ():
        for heading, line in _line(each, eta):
            lines_by_heading[heading][line] = None  # once, even if several tasks say it
    lines = [str(score)]
    for heading, texts in lines_by_heading.items():
        if texts:
            lines += [f"{_HEADINGS[heading]}:", *(f"- {text}" for text in texts)]
    return Explained(score, "\n".join(lines))


def _line(judged: Judged, eta: int) -> Iterator[tuple[str, str]]:
    text = " ".join(judged.text.split()) or judged.unit
    if judged.label is None:
        yield "unjudged", f"{text} ({judged.unjudged or 'not asked'})"
    elif judged.is_point:
        stands = standing(judged, eta)
        if stands != "stated":
            vital = f" ({judged.importance})" if judged.importance else ""
            yield stands, f"{text}{vital}"
    elif judged.label not in _CARRIED:
        why = f": {judged.label}"
        if judged.unit == "citation":
            cited = f"“{cell(judged.passage, _PASSAGE)}”" if judged.passage else f"[{judged.docid}]"
            why = f": {judged.label} support in {cited}"
        elif judged.unit == "sentence" and judged.docid is None and judged.label == "none":
            why = ": cites nothing"
        yield ("sentence" if judged.sentence is not None else "other"), f"{text}{why}"


GATHERED_S = 0.02  # a harness asks again as soon as it has an answer: this keeps samples together
MAX_SAMPLES = 256  # samples of a round, so that later samples do not wait too long


@dataclass
class _Job:
    """A sample in the queue; `run_id` distinguishes answers to the same question."""

    sample: Sample
    with_feedback: bool
    future: Future[list[Explained]] = field(default_factory=Future)
    run_id: str = ""


class Rounds:
    """A queue of samples, judged in rounds, one round after the other in a thread.

    Args:
        measures: measure -> the tasks that give it; an empty list means unknown, and a dry run of
            the first round finds out. programs: the tasks to run.
        model, settings: as in `nuggetjudge.run`.

    Raises: InputError for invalid settings.
    """

    def __init__(
        self,
        measures: Mapping[str, Sequence[str]],
        programs: Sequence[str],
        model: str | Mapping[str, Any] | None,
        settings: Mapping[str, Any],
    ) -> None:
        self._measures, self._is_known = measures, all(measures.values())
        self._programs, self._given = programs, {"program": list(programs), **settings}
        self._model = model if isinstance(model, str) else None
        if isinstance(model, Mapping):  # a whole entry
            self._given["models.default"] = dict(model)
        self._config = self._make_config({}, Path("results"))
        names = [name for one in choose(programs) for name in one.list_judges(self._config)]
        check_prices(self._config, names)
        check_judges(self._config, names)
        self._names = names
        self._judge_set: JudgeSet | None = None
        self._waiting: deque[_Job] = deque()
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, "nuggetjudge-rounds")
        self._home: Path | None = None

    def submit(self, sample: Sample, *, with_feedback: bool) -> Future[list[Explained]]:
        """Queue a sample.

        Args:
            with_feedback: also explain what the answer lost.

        Returns: a future of the score in each measure; it raises the error of the judging.
        """
        job = _Job(sample, with_feedback)
        with self._lock:
            self._waiting.append(job)
        self._thread.submit(self._next)
        return job.future

    def _next(self) -> None:
        """Judge the waiting samples that fit together; none if an earlier round took them."""
        if not self._waiting:
            return
        time.sleep(GATHERED_S)
        with self._lock:
            jobs, self._waiting = _together(self._waiting)
        jobs = [job for job in jobs if job.future.set_running_or_notify_cancel()]
        if jobs:
            self._settle(jobs)

    def _settle(self, jobs: Sequence[_Job]) -> None:
        try:
            outcomes = self._judge(jobs)
        except InputError as error:
            if len(jobs) == 1:
                jobs[0].future.set_exception(error)
                return
            for job in jobs:  # so that the error reaches only the samples that caused it
                self._settle([job])
        except BaseException as error:
            for job in jobs:
                job.future.set_exception(error)
        else:
            for job, one in zip(jobs, outcomes, strict=True):
                if isinstance(one, InputError):
                    job.future.set_exception(one)
                else:
                    job.future.set_result(one)

    def _judge(self, jobs: Sequence[_Job]) -> list[list[Explained] | InputError]:
        """The scores of the samples of a round, judged as one evaluation in its own folder."""
        judge_set = self._open_judges()
        assert self._home is not None
        folder = Path(mkdtemp(dir=self._home))
        try:
            runs: dict[str, list[Sample]] = {}
            for job in jobs:
                runs.setdefault(job.run_id, []).append(job.sample)
            data = write_samples(runs, folder / "samples")
            check_needs(self._programs, {**data, **self._given})
            config = self._make_config(data, folder)
            if not self._is_known:
                self._check_measures(config)
            result = judge_collection(config, judge_set=judge_set)
            return self._read(result, jobs, config.coverage.eta)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _read(
        self, result: Result, jobs: Sequence[_Job], eta: int
    ) -> list[list[Explained] | InputError]:
        scores = list_question_scores(result, list(self._measures))
        rows = {(row.run_id, row.topic_id, row.measure): row for row in scores}
        views: dict[tuple[str, str], AnswerView] = {}
        if any(job.with_feedback for job in jobs):
            for view in read_answer_views(result.folder, Problems()):
                views[view.run_id, view.topic_id] = view
        outcomes: list[list[Explained] | InputError] = []
        for job in jobs:
            key = job.run_id, job.sample.topic_id
            if lacking := [name for name in self._measures if (*key, name) not in rows]:
                outcomes.append(self._unknown(lacking[0], [r.measure for r in result.scores]))
                continue
            shown = views.get(key) if job.with_feedback else None
            outcomes.append(
                [self._explain(rows[*key, name], shown, eta) for name in self._measures]
            )
        return outcomes

    def _explain(self, row: QuestionScore, view: AnswerView | None, eta: int) -> Explained:
        """Explain the findings of the measure's tasks; for a single measure, of all tasks."""
        if view is not None and len(self._measures) > 1 and (of := self._measures[row.measure]):
            view = replace(view, judged=tuple(each for each in view.judged if each.program in of))
        return explain(row, view, eta)

    def _check_measures(self, config: Config) -> None:
        """Raise InputError if a run without a model lacks one of the measures."""
        measures: list[str] = []

        def work(alone: Config, judge_set: JudgeSet) -> None:
            measures.extend(
                row.measure for row in judge_collection(alone, judge_set=judge_set).scores
            )

        forecast_calls(config, work)
        for name in self._measures:
            if name not in measures:
                raise self._unknown(name, measures)
        self._is_known = True

    def _unknown(self, measure: str, measures: Sequence[str]) -> InputError:
        there = list(dict.fromkeys(measures))
        hint = did_you_mean(measure, there)
        of = ", ".join(self._given["program"])
        return InputError(f"measure {measure!r}: {of} gives {', '.join(there)}{hint}")

    def _open_judges(self) -> JudgeSet:
        """The judges of all rounds, with their cache and budget; opened on first use."""
        if self._judge_set is None:
            self._home = Path(mkdtemp(prefix="nuggetjudge-"))
            finalize(self, partial(shutil.rmtree, self._home, ignore_errors=True))
            config = self._config.change("run", out=self._home)
            cache = open_cache(config, self._names)
            if cache is not None:
                finalize(self, cache.close)
            self._judge_set = JudgeSet(config, cache=cache, budget=make_budget(config))
        return self._judge_set

    def _make_config(self, data: Mapping[str, Path], out: Path) -> Config:
        ours = {**select_files(self._programs, data), **get_defaults(self._programs, data)}
        settings = name_settings({**ours, **self._given, "out": out})
        return load_config(None, settings, model=self._model)


def _together(waiting: deque[_Job]) -> tuple[list[_Job], deque[_Job]]:
    """The jobs of the next round, and the jobs that keep waiting.

    Answers to the same question go into one round, as separate runs, if they have the same contexts
    and nuggets. Otherwise they go into different rounds, because a run creates the nuggets of a
    question once. Samples with nuggets and samples without never share a round, and the same holds
    for everything else that a run can read or create.
    """
    taken: list[_Job] = []
    left: deque[_Job] = deque()
    topics: dict[str, tuple[Sample, int]] = {}
    of_round: list[str] = []
    for job in waiting:
        topic, unanswered = job.sample.topic_id, replace(job.sample, answer="")
        first, n = topics.get(topic, (unanswered, 0))
        kinds = [kind for kind in vars(unanswered) if getattr(unanswered, kind)]
        fits = kinds == (of_round := of_round or kinds) and first == unanswered
        if not fits or len(taken) == MAX_SAMPLES:
            left.append(job)
            continue
        topics[topic] = (unanswered, n + 1)
        job.run_id = f"answer{n or ''}"
        taken.append(job)
    return taken, left


_NO_ANSWERS = ("relevance", "items")  # tasks that do not judge answers


class SampleJudge:
    """Judges single samples by one measure or several.

    Samples that arrive while others are judged form the next round. Many concurrent calls, from
    threads or asyncio tasks, therefore cost as little as one `nuggetjudge.evaluate` of all samples,
    and give the same result. All rounds share one cache, one budget and one set of judges. A copy
    of the judge shares them too.

    Args:
        measure: the measure, such as V_strict, support_precision, coverage or KPR; or several, of
            which `score` and `explain` return the first.
        program: the tasks to run; None: the tasks that give the measures.
        model: the judging model; see `nuggetjudge.run`.
        settings: settings of `nuggetjudge.run`. `max_cost`, `max_calls` and `max_tokens` are for
            all samples together; `concurrency` is the maximum number of judgements at the same
            time. Only cached replies are stored: there is no `out`.

    Raises: InputError for invalid settings, or a measure that no task gives.
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
        """Return the score of a sample.

        Args:
            sample: fields as in `nuggetjudge.evaluate`.

        Raises: InputError for a sample without a needed field, or a measure that its tasks do not
            give, before any request; EndpointUnusable if no request can succeed.
        """
        return self._rounds.submit(make_sample(sample, 0), with_feedback=False).result()[0].score

    async def ascore(self, sample: Mapping[str, Any]) -> QuestionScore:
        """Return the score of a sample without blocking the event loop or a thread.

        Args:
            sample: fields as in `nuggetjudge.evaluate`.

        Raises: the errors of `score`.
        """
        waiting = self._rounds.submit(make_sample(sample, 0), with_feedback=False)
        return (await asyncio.wrap_future(waiting))[0].score

    def explain(self, sample: Mapping[str, Any]) -> Explained:
        """Return the score of a sample, and what its answer misses or does not support.

        Args:
            sample: fields as in `nuggetjudge.evaluate`.

        Raises: the errors of `score`.
        """
        return self.explain_each(sample)[0]

    def explain_each(self, sample: Mapping[str, Any]) -> list[Explained]:
        """Return a score and an explanation for each measure.

        Each explanation covers the tasks of its measure.

        Args:
            sample: fields as in `nuggetjudge.evaluate`.

        Raises: the errors of `score`.
        """
        return self._rounds.submit(make_sample(sample, 0), with_feedback=True).result()

    async def aexplain(self, sample: Mapping[str, Any]) -> Explained:
        """Like `explain`, for asyncio."""
        waiting = self._rounds.submit(make_sample(sample, 0), with_feedback=True)
        return (await asyncio.wrap_future(waiting))[0]

    def __copy__(self) -> SampleJudge:
        return self

    def __deepcopy__(self, memo: object) -> SampleJudge:
        return self


def _giving(measure: str, given: Sequence[str]) -> list[str]:
    """The task that gives the measure, or the tasks of `given` that do; [] if unknown.

    Raises: InputError for a measure that none of them gives.
    """
    known = [name for name in program_names() if name not in _NO_ANSWERS]
    shown = {one.name: one.shown for one in choose([*dict.fromkeys((*known, *given))])}
    name = measure.partition("@")[0]
    giving = [program for program in shown if name in shown[program]]
    if given and (set(given) & set(giving) or not giving):
        return [name for name in given if name in giving]
    if not given and giving:
        return giving[:1]
    wanted = [each for program in given or shown for each in shown[program]]
    of = f"{', '.join(given)} gives" if given else "tasks give"
    hint = f"; {measure} is of {giving[0]}" if giving else did_you_mean(measure, wanted)
    raise InputError(f"measure {measure!r}: {of} {', '.join(wanted)}{hint}")


def _refuse(name: str) -> NoReturn:
    why = "single samples are judged in this process"
    raise InputError(f"{name}: {why}; use nuggetjudge.evaluate for all samples together")
