"""A results folder in Python: scores by question, tables, figures, pages."""

from __future__ import annotations

import math
import os
import sys
import webbrowser
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import finalize

from ..programs.analysis.answers.missing import describe_missing
from ..programs.analysis.answers.show import show_answer, show_summary
from ..programs.analysis.leaderboards import leaderboards
from ..programs.analysis.tables.leaderboards import (
    make_leaderboard_table,
    name_judges,
    write_leader_sentence,
)
from ..programs.engine.folders import find_inputs
from ..programs.protocols.table import programs
from ..programs.scoring.result import Result as StoredResult
from ..records.reading.problems import InputError, Problems, did_you_mean
from ..records.topics import read_topics
from ..views.numbers import format_money, format_seconds
from ..views.rows import Rows
from ..views.table import Table, View
from .comparing import (
    Agreement,
    Comparison,
    InOneLine,
    InTables,
    Source,
    Text,
    agree,
    compare,
    import_pandas,
    list_wanted_values,
    open_source,
    warn_about,
)

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


@dataclass(frozen=True)
class QuestionScore:
    """The value of one measure for one answer.

    Attributes:
        topic_id: the id of the question.
        run_id: the name of the system.
        measure: the name of the measure, such as V_strict.
        value: the score, in the unit of the measure; None: not judged, or 0/0. A failed judgement
            is never a 0.
        n: the number of judgements behind the value.
        n_unjudged: the number of missing judgements.
        low: the value with missing judgements counted as worst; None: no value.
        high: the value with missing judgements counted as best; None: no value.
        reasons: how often judgements of this run and topic are missing, by reason. For a measure
            that no task lists, judgements of all tasks count.
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
        """True if there is a value and no judgement behind it is missing."""
        return self.value is not None and not self.n_unjudged

    def __str__(self) -> str:
        value = "not judged" if self.value is None else f"{self.value:.3f}"
        lost = f", {self.n_unjudged} unjudged" if self.n_unjudged else ""
        why = "".join(f"; {reason} {n}" for reason, n in self.reasons.items())
        return f"{self.measure} {value} (n {self.n}{lost}{why})"


def choose_rows(
    result: StoredResult, measures: str | Sequence[str], runs: str | Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Sort names into measures and runs; the first names may be of either.

    Args:
        result: the result that has the names.
        measures: one name or several of measures, or, if `runs` is empty, of runs.
        runs: one name or several of runs.

    Returns: the measures and the runs.
    Raises: InputError for an unknown name; it lists the known ones.
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


def list_question_scores(
    result: StoredResult, measures: Sequence[str] = (), runs: Sequence[str] = ()
) -> Rows[QuestionScore]:
    """Return the scores of each question, in the order of scores.jsonl.

    Args:
        result: the result to read.
        measures, runs: the names to return; empty: all.
    """
    lost, others = _count_missing(result), cache(_of_others)
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


def _count_missing(result: StoredResult) -> _Lost:
    """Count missing judgements by run and topic, then by reason and stage."""
    lost: dict[tuple[str | None, str | None], Counter[tuple[str, str]]] = {}
    for row in result.unjudged:
        counts = lost.setdefault((row.get("run_id"), row.get("topic_id")), Counter())
        counts[row.get("stage", ""), row["reason"]] += 1
    return lost


def _reasons(lost: _Lost, run_id: str, topic_id: str, but: Collection[str] = ()) -> dict[str, int]:
    """Count the reasons of a run and topic, or of the topic, without the stages in `but`."""
    reasons = Counter[str]()
    for key in ((run_id, topic_id), (None, topic_id)):
        for (stage, reason), n in lost.get(key, {}).items():
            if stage not in but:
                reasons[reason] += n
    return dict(reasons)


def _of_others(measure: str) -> frozenset[str]:
    """Return the stages of tasks that do not give a measure; none if no task lists it."""
    sides: tuple[set[str], set[str]] = set(), set()
    for program in programs():
        is_of = measure.partition("@")[0] in program.shown
        sides[is_of].update(program.stages or (program.name,))
    others, own = sides
    return frozenset(others - own) if own else frozenset()


def make_frame(
    result: StoredResult, measures: Sequence[str] = (), runs: Sequence[str] = ()
) -> pandas.DataFrame:
    """See `Result.frame`."""
    questions = _questions(result)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    scores = list_question_scores(result, measures, runs)
    names, lost = dict.fromkeys(score.measure for score in scores), _count_missing(result)
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
    frame: pandas.DataFrame = import_pandas().DataFrame(list(rows.values()), columns=columns)
    frame["judge"] = ", ".join(result.judged_by)
    return frame


def _questions(result: StoredResult) -> Mapping[str, str]:
    """Return the texts of topics by id; {} if their file no longer exists."""
    with suppress(InputError):
        path = find_inputs(result.folder).config.data.topics
        if path is not None:
            return {name: topic.text for name, topic in read_topics(path, Problems()).items()}
    return {}


GROUP = "nuggetjudge.results"  # entry points: report = "module:function"


def find_writer(name: str) -> Callable[..., Any]:
    """Return the installed function `report` or `figure`; docs/extending.md has their arguments.

    Args:
        name: "report" or "figure".

    Raises: ModuleNotFoundError if no package provides it.
    """
    for entry in entry_points(group=GROUP, name=name):
        return entry.load()  # type: ignore[no-any-return]
    raise ModuleNotFoundError(f"no installed package writes a {name}")


class Result(InTables, StoredResult):
    """A results folder, shown as leaderboards by a notebook and by `print`.

    Each task has a leaderboard: its first measure with an interval, the topics (answered / total),
    the judgements behind the score, and the missing judgements.

    Args:
        folder: a folder that `judge run` or `nuggetjudge.run` wrote. Files are read when they are
            needed; a later change of the working directory does not matter. For a stopped run,
            the object shows the judgements so far: `folder` is then a temporary folder, which is
            deleted with this object, and `manifest["partial"]` is true.

    Attributes:
        folder: the path of the folder.
        manifest: what the folder's manifest.json has: config, models, counts, hashes.
        is_temporary: True if the folder is deleted with this object, as after an evaluation
            without `out`.

    Raises: InputError if the folder is not a results folder, or if an input of a stopped run has
        changed.
    Warns: UserWarning for a stopped run.

    Example: nj.Result("results/demo").report()
    """

    is_temporary = False

    def __init__(self, folder: str | Path) -> None:
        self._named = Path(folder).absolute()
        self._stack = ExitStack()
        made = open_source(self._stack, self._named)
        super().__init__(made)
        if made != self._named:
            finalize(self, self._stack.close)

    __repr__ = StoredResult.__repr__

    def view(self) -> View:
        """Return the leaderboards."""
        return self._view

    @cached_property
    def _view(self) -> View:
        judges = name_judges(self.judged_by)
        boards = leaderboards(self.scores, self.folder)
        tables = [make_leaderboard_table(board, judges) for board in boards]
        if not tables:
            return View(tables=[Table(f"No scores in {self._named}", [], [])])
        verdict = write_leader_sentence(boards[0])
        notes = [note for note in tables[0].notes if note != verdict]
        tables[0] = replace(tables[0], notes=notes)
        tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, self._describe_run()])
        return View(f"{verdict}." if verdict else "", tables)

    def _describe_run(self) -> str:
        """Return judges, number of judgements, cost and time as text."""
        cost = "cost unknown" if self.cost is None else format_money(self.cost)
        time = [] if self.seconds is None else [format_seconds(self.seconds)]
        by = f"{self.n_judged:,} judgements by {', '.join(self.judged_by) or 'nobody'}"
        return ", ".join([by, cost, *time])

    def rows(
        self, measures: str | Sequence[str] = (), runs: str | Sequence[str] = ()
    ) -> Rows[QuestionScore]:
        """Return the score of each question, with the number of judgements behind it.

        Args:
            measures: one measure or several; (): all. Without `runs`, also runs.
            runs: one run or several; (): all.

        Returns: a list of `QuestionScore` in the order of scores.jsonl. It prints as a table.
        Raises: InputError for an unknown name.

        Example: result.rows("complete")
        """
        with InOneLine():
            return list_question_scores(self, *choose_rows(self, measures, runs))

    def frame(
        self, measures: str | Sequence[str] = (), runs: str | Sequence[str] = ()
    ) -> pandas.DataFrame:
        """Return the scores as a pandas frame: a row per run and question, a column per measure.

        The first columns are `run_id`, `topic_id` and `question`. The last columns are `n`
        (judgements behind the first measure), `n_unjudged` (missing judgements of the answer),
        `reasons` (why they are missing) and `judge`. NaN: not judged, or 0/0.

        Args:
            measures: one measure or several; (): all. Without `runs`, also runs.
            runs: one run or several; (): all.

        Returns: a pandas.DataFrame.
        Raises: ModuleNotFoundError without pandas, InputError for an unknown name.
        """
        with InOneLine():
            return make_frame(self, *choose_rows(self, measures, runs))

    def report(
        self,
        out: str | Path | None = None,
        *,
        labels: str | Path | Sequence[str | Path] = (),
        open: bool = True,
    ) -> Path:
        """Write the page of `judge report`, and open it.

        Args:
            out: the file to write; None: report.html in the results folder, or, if the results
                folder is temporary, in a new temporary folder that is not deleted.
            labels: a file of human labels of the judged items, or one file for each kind; (): no
                labels.
            open: show the page: as a link in a notebook, else in the web browser.

        Returns: the path of the page.
        Raises: InputError for labels that cannot be read.
        Warns: UserWarning if rows were left out.
        """
        problems = Problems()
        if out is None:
            folder = mkdtemp(prefix="nuggetjudge-report-") if self.is_temporary else self._named
            out = Path(folder) / "report.html"
        path = Path(out)
        files = [labels] if isinstance(labels, str | Path) else labels
        people = [Path(each) for each in files]
        find_writer("report")(self.folder, path, problems, labels=people, named=self._named)
        warn_about(problems)
        if open:
            _open(path)
        return path

    def figure(
        self,
        kind: str,
        out: str | Path,
        *,
        other: Source | None = None,
        measure: str | None = None,
        labels: str | Path | None = None,
        by: str | None = None,
        width: str = "column",
        levels: str | None = None,
        run_groups: str | Path | None = None,
    ) -> str:
        """Write the figure of `judge figure`, and return its caption.

        Args:
            kind: "leaderboard", "tau", "topics", "length", "groups", "labels" or "confusion".
            out: the file to write: .pdf, .svg or .png.
            other: the second result of "tau" and "confusion"; None: no second result.
            measure: the measure to draw; None: the first main measure.
            labels: a file of human labels: the other axis of "tau"; "leaderboard" shows scores
                corrected with the labels. None: no labels.
            by: how "groups" groups the topics: "domain", "category" or "documents".
            width: "column" (3.3 inches) or "page" (6.9 inches).
            levels: the points of "tau" and "length", as in `judge figure`; None: the default.
            run_groups: a file with the group of each run; None: no groups.

        Returns: the caption.
        Raises: InputError if this cannot be drawn, or if matplotlib is not installed.
        Warns: UserWarning if rows were left out.
        """
        problems = Problems()
        people = None if labels is None else Path(labels)
        with InOneLine(), ExitStack() as stack:
            results = [self.folder, *([open_source(stack, other)] if other is not None else [])]
            write = find_writer("figure")
            options: dict[str, Any] = {"measure": measure, "labels": people, "by": by}
            options |= {"levels": levels, "width": width}
            options["run_groups"] = None if run_groups is None else Path(run_groups)
            caption: str = write(kind, results, Path(out), problems, **options)
        warn_about(problems)
        return caption

    def show(
        self,
        run: str | None = None,
        topic: str | None = None,
        *,
        measure: str | None = None,
        labels: str | Path | None = None,
        passages: bool = False,
    ) -> Text:
        """Show an answer sentence by sentence, with its labels and what the judge says about each.

        Args:
            run, topic: the answer to show. Give only a run to see where it fails, only a topic to
                see what each run misses, neither to see what the folder has.
            measure: the measure that orders runs and topics; None: the first of the folder.
            labels: for an answer: human labels to show beside the judge's.
            passages: for an answer: also show the texts of cited passages.

        Returns: the text of `judge show`.
        Raises: InputError for an unknown run, topic or measure; ValueError for labels or passages
            without a run and a topic.
        Warns: UserWarning if rows were left out, or inputs have changed.

        Example: result.show("thin", "demo-bees")
        """
        problems = Problems()
        with InOneLine():
            if run is not None and topic is not None:
                people = None if labels is None else Path(labels)
                shown = show_answer(
                    self.folder, run, topic, problems, labels=people, passages=passages
                )
            elif labels is not None or passages:
                raise ValueError("labels and passages need one answer: give its run and topic")
            else:
                shown = show_summary(
                    self.folder, run, topic, problems, measure=measure, named=self._named
                )
        warn_about(problems)
        return Text(shown.text)

    def missing(self, run: str | None = None, topic: str | None = None) -> Text:
        """Return the facts that each answer misses or states only in part, vital facts first.

        Facts are nuggets, key points or sub-questions, depending on the task.

        Args:
            run: the run to show; None: all runs.
            topic: the topic to show; None: all topics.

        Returns: the facts as text, which prints unchanged.
        Raises: InputError for an unknown run or topic.

        Example: result.missing("thin", "demo-bees")
        """
        problems = Problems()
        with InOneLine():
            text = describe_missing(self.folder, problems, run, topic)
        warn_about(problems)
        return Text(text)

    def compare(
        self,
        other: Source | None = None,
        run: str | None = None,
        *,
        runs: Sequence[str] = (),
        measures: Sequence[str] = (),
        **options: Any,
    ) -> Comparison:
        """Test the runs against each other, or compare this result with another.

        Args:
            other: another result, folder or file; None: compare the runs of this result. If `run`
                is given, the name of a run.
            run: a second run, to compare with the run `other`.
            runs, measures: the names to compare; see `nuggetjudge.compare`.
            options: `way`, `kind`, `resamples`, `seed`, `level` of `nuggetjudge.compare`.

        Returns: the differences with intervals and p; see `nuggetjudge.compare`.
        Raises: InputError for an unknown run or measure.

        Example: result.compare("complete", "thin")
        """
        with InOneLine():
            if run is not None:
                if runs or not isinstance(other, str):
                    raise InputError("compare: wanted two run names, or runs=, not both")
                return compare(self, runs=(other, run), measures=measures, **options)
            if isinstance(other, str) and not Path(other).exists():
                there = dict.fromkeys(row.run_id for row in self.scores)
                if other in there:
                    raise InputError(f"compare: {other} is one run; name the other run too")
                what = f"neither a file or folder, nor a run here{did_you_mean(other, there)}"
                raise InputError(f"{other}: {what}")
            return compare(self, other, runs=runs, measures=measures, **options)

    def agree(
        self,
        labels: str | Path,
        *,
        where: Mapping[str, str | Sequence[str]] | None = None,
        **options: Any,
    ) -> Agreement:
        """Compare the labels of this result with human labels.

        Args:
            labels: a file of human labels.
            where: field -> value or values; only rows with these values are read. None: all rows.
            options: `kind`, `cut`, `measures`, `resamples`, `seed`, `level` of
                `nuggetjudge.agree`.

        Returns: the agreement with intervals; see `nuggetjudge.agree`.
        Raises: InputError if nothing can be compared, or if the labels have different scales.
        Warns: UserWarning if rows were left out.

        Example: result.agree("human.jsonl")
        """
        with InOneLine():
            return agree(labels, self, where=list_wanted_values(where), **options)


def _open(path: Path) -> None:
    """Show a page: as a link in a notebook, which may run elsewhere, or else in a browser."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if hasattr(shell, "kernel"):
        from IPython.display import FileLink, display  # type: ignore[import-not-found]

        display(FileLink(os.path.relpath(path)))
    else:
        webbrowser.open(path.absolute().as_uri())
