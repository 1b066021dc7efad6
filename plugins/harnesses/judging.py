"""One answer at a time, as other tools ask: its value, what it lost in words, or why none."""

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

CONTEXT = "context"  # what DSPy programs call them


def sample_fields(
    given: Mapping[str, Any],
    answered: Mapping[str, Any],
    fields: Mapping[str, str],
    where: str,
) -> dict[str, Any]:
    """The fields of one sample, as `nuggetjudge.evaluate` takes them.

    Args:
        given: what the system was given, and what is known of it; an answer in it is somebody
            else's and never judged. answered: what the system made of it.
        fields: a part of a sample -> the field of either that holds it, where it has another name.
        where: names both, for messages.

    Raises: InputError for a name in `fields` that neither has, or without an answer.
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
        raise InputError(f"{where}: no answer ({names}), fields of what was answered: {there}")
    if CONTEXT in parts and not any(name in parts for name in CONTEXTS):
        context = parts.pop(CONTEXT)
        parts["contexts"] = [context] if isinstance(context, str) else context
    return parts


_CARRIED = ("full", "yes", "support", "cited_ok", "uncited_supported")
_PASSAGE = 200  # characters of a cited passage that are shown
_HEADINGS = {
    "missed": "The answer does not state",
    "partly": "The answer states only in part",
    "sentence": "Not carried by what they cite",
    "other": "Not supported",
    "unjudged": "Not judged, which is no evidence about the answer",
}


@dataclass(frozen=True)
class Explained:
    """A score, and lines that say what the answer lost.

    Attributes:
        feedback: the score and what it rests on; then, under headings, what the answer misses,
            which sentences their citations do not carry, and what was not judged.
    """

    score: QuestionScore
    feedback: str


def explain(score: QuestionScore, view: AnswerView | None, eta: int) -> Explained:
    """A score in words.

    Args:
        view: the answer with what was judged of it; None: nothing was.
        eta: the rating from which a text answers a sub-question.
    """
    lines_by_heading: dict[str, dict[str, None]] = {heading: {} for heading in _HEADINGS}
    for each in view.judged if view is not None else ():
        for heading, line in _line(each, eta):
            lines_by_heading[heading][line] = None  # once, though several programs say it
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


GATHERED_S = 0.02  # a harness asks anew as soon as it has an answer: so they go together again
MAX_SAMPLES = 256  # samples of a round: those that come later wait no longer than these take


@dataclass
class _Job:
    """A sample that somebody waits for; `run_id` distinguishes answers to one question."""

    sample: Sample
    with_feedback: bool
    future: Future[list[Explained]] = field(default_factory=Future)
    run_id: str = ""


class Rounds:
    """A queue of samples, judged in rounds, one round after the other in a thread.

    Args:
        measures: what a sample's values are of, by name the programs that give it; of an empty
            list it is not known, and a dry run of the first round shows what
            they give. programs: that are run.
        model, settings: as of `nuggetjudge.run`.

    Raises: InputError for settings that are wrong.
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
            with_feedback: say in words what the answer lost.

        Returns: what it is worth in each measure, to come; the future raises what judging it did.
        """
        job = _Job(sample, with_feedback)
        with self._lock:
            self._waiting.append(job)
        self._thread.submit(self._next)
        return job.future

    def _next(self) -> None:
        """Judge all that wait and go together; nothing if an earlier round took them."""
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
            for job in jobs:  # so that only those hear of it whose samples are at fault
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
        """What each sample of a round is worth, judged as one evaluation in a folder of its own."""
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
        """In words what the measure's own programs found; of one measure what all of them did."""
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
        """The judges of all rounds, their cache and their budget; opened when first needed."""
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
    """The jobs of the next round, and those that wait on.

    Answers to one question go together where they are judged by the same, as runs of their
    own; where their contexts or nuggets differ, they are judged in different rounds, since a run
    makes the nuggets of a question once. Samples with nuggets and samples without never go
    together, and so for whatever else is there or made.
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
        model: the judging model; see `nuggetjudge.run`.
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
        return self._rounds.submit(make_sample(sample, 0), with_feedback=False).result()[0].score

    async def ascore(self, sample: Mapping[str, Any]) -> QuestionScore:
        """As `score`; the loop it is awaited in goes on, and no thread waits."""
        waiting = self._rounds.submit(make_sample(sample, 0), with_feedback=False)
        return (await asyncio.wrap_future(waiting))[0].score

    def explain(self, sample: Mapping[str, Any]) -> Explained:
        """As `score`, with what the answer misses and what does not carry it, in words."""
        return self.explain_each(sample)[0]

    def explain_each(self, sample: Mapping[str, Any]) -> list[Explained]:
        """As `explain`, for all of `measures`; of each what is of its programs."""
        return self._rounds.submit(make_sample(sample, 0), with_feedback=True).result()

    async def aexplain(self, sample: Mapping[str, Any]) -> Explained:
        """As `explain`; the loop it is awaited in goes on."""
        waiting = self._rounds.submit(make_sample(sample, 0), with_feedback=True)
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
    shown = {one.name: one.shown for one in choose([*dict.fromkeys((*known, *given))])}
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
