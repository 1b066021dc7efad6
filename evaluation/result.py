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
    list_wanted_values,
    open_source,
    warn_about,
)

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


def choose_rows(
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


def list_question_scores(
    result: StoredResult, measures: Sequence[str] = (), runs: Sequence[str] = ()
) -> Rows[QuestionScore]:
    """The scores of each question, in the order of scores.jsonl.

    Args:
        measures, runs: which; empty: all.
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


def make_frame(
    result: StoredResult, measures: Sequence[str] = (), runs: Sequence[str] = ()
) -> pandas.DataFrame:
    """See `Result.frame`."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError("a frame needs pandas: pip install pandas") from None
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
    frame = pandas.DataFrame(list(rows.values()), columns=columns)
    frame["judge"] = ", ".join(result.judged_by)
    return frame


def _questions(result: StoredResult) -> Mapping[str, str]:
    """The texts of the topics, by id; {} where their file is not there any more."""
    with suppress(InputError):
        path = find_inputs(result.folder).config.data.topics
        if path is not None:
            return {name: topic.text for name, topic in read_topics(path, Problems()).items()}
    return {}


GROUP = "nuggetjudge.results"  # of entry points: report = "module:function"


def find_writer(name: str) -> Callable[..., Any]:
    """The installed function `report` or `figure`; docs/extending.md has their arguments.

    Raises: ModuleNotFoundError if no package brings one.
    """
    for entry in entry_points(group=GROUP, name=name):
        return entry.load()  # type: ignore[no-any-return]
    raise ModuleNotFoundError(f"no installed package writes a {name}")


class Result(InTables, StoredResult):
    """A results folder, which shows itself as leaderboards: in a notebook, and by `print`.

    Each leaderboard is of one program: the first measure with its interval by topic, the topics
    answered of those asked, judgements that carry the score, and those that are missing.

    Args:
        folder: what `judge run` or `nuggetjudge.run` wrote. Everything is read when it is asked
            for; a later change of the working directory does not matter. Of a run that was
            stopped it is what was judged by now: `folder` is a temporary one, which goes with
            this object, and `manifest["partial"]` is true.

    Attributes:
        is_temporary: the folder goes with this object, as that of an evaluation without `out` does.

    Raises: InputError if the folder is not one, or an input of a stopped run is not as it was.
    Warns: UserWarning of a run that was stopped.

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
        """The leaderboards."""
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
        return View(
            f"{verdict}." if verdict else "", [replace(tables[0], notes=notes), *tables[1:]]
        )

    def rows(
        self, measures: str | Sequence[str] = (), runs: str | Sequence[str] = ()
    ) -> Rows[QuestionScore]:
        """The score of each question, with what it rests on; all measures and runs.

        Args:
            measures, runs: only these, or this one. A run may be named first.

        Raises: InputError for one that is not there.

        Example: result.rows("complete")
        """
        with InOneLine():
            return list_question_scores(self, *choose_rows(self, measures, runs))

    def frame(
        self, measures: str | Sequence[str] = (), runs: str | Sequence[str] = ()
    ) -> pandas.DataFrame:
        """The scores by question: a row a run and question, a column a measure; needs pandas.

        Before the measures stand `run_id`, `topic_id` and `question`, behind them `n`, judgements
        that carry the first of them, `n_unjudged`, judgements of the answer that are missing,
        `reasons`, why, and `judge`, who judged. NaN: not judged, or 0/0.

        Args:
            measures, runs: only these, or this one. A run may be named first.

        Raises: ModuleNotFoundError without pandas, InputError for one that is not there.
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
        """Write the page that `judge report` writes, and open it.

        Args:
            out: the file; by default report.html in the results folder, or, if that is temporary,
                in a temporary folder of its own, which stays.
            labels: a file of people's labels of what was judged, or one for each kind.
            open: show it: in a notebook as a link, else in the web browser.

        Returns: the file.
        Raises: InputError for labels that cannot be read.
        Warns: UserWarning of rows that were left out.
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
        width: str = "column",
    ) -> str:
        """Write the figure that `judge figure` writes, and return its caption.

        Args:
            kind: "leaderboard", "tau", "topics" or "length".
            out: the file, .pdf, .svg or .png.
            other: the second results of "tau".
            measure: what to draw; None: the first main measure.
            labels: people's labels: the other side of "tau"; a "leaderboard" gets the scores
                corrected with them.
            width: "column" (3.3 inches) or "page" (6.9 inches).

        Raises: InputError for what cannot be drawn, or if matplotlib is not installed.
        Warns: UserWarning of rows that were left out.
        """
        problems = Problems()
        people = None if labels is None else Path(labels)
        with InOneLine(), ExitStack() as stack:
            results = [self.folder, *([open_source(stack, other)] if other is not None else [])]
            write = find_writer("figure")
            caption: str = write(
                kind, results, Path(out), problems, measure=measure, labels=people, width=width
            )
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
        """Show an answer by its sentences, with its labels, what was quoted for them, and why.

        Args:
            run, topic: of the answer. A run alone: where it loses; a topic alone: what each run
                misses; neither: what is in the folder.
            measure: what runs and topics are ordered by; None: the first of the folder.
            labels: of an answer, people's labels, shown beside the judge's.
            passages: of an answer, with the texts of the passages that it cites.

        Returns: what `judge show` prints, as a text that shows itself.
        Raises: InputError for a run, topic or measure that is not there; ValueError for labels or
            passages without a run and a topic.
        Warns: UserWarning of rows that were left out, and of inputs that changed.

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
                raise ValueError("labels and passages are of one answer: name its run and topic")
            else:
                shown = show_summary(
                    self.folder, run, topic, problems, measure=measure, named=self._named
                )
        warn_about(problems)
        return Text(shown.text)

    def compare(
        self,
        other: Source | None = None,
        run: str | None = None,
        *,
        runs: Sequence[str] = (),
        measures: Sequence[str] = (),
        **options: Any,
    ) -> Comparison:
        """Test its runs against each other, or compare it with another result.

        Args:
            other: another result, folder or file; None: the runs of this one are compared.
            run: with it `other` is a run too, and these two are compared.
            runs, measures: which; see `nuggetjudge.compare`.
            options: `way`, `kind`, `resamples`, `seed`, `level` of `nuggetjudge.compare`.

        Raises: InputError for a run or measure that is not there.

        Example: result.compare("complete", "thin")
        """
        with InOneLine():
            if run is not None:
                if runs or not isinstance(other, str):
                    raise InputError("compare: wanted two runs by name, or runs=, once")
                return compare(self, runs=(other, run), measures=measures, **options)
            if isinstance(other, str) and not Path(other).exists():
                there = dict.fromkeys(row.run_id for row in self.scores)
                if other in there:
                    raise InputError(f"compare: {other} is one run; name the other one too")
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
        """Hold its labels against people's.

        Args:
            labels: a file of people's labels. where: only rows with these values of its fields.
            options: `kind`, `cut`, `measures`, `resamples`, `seed`, `level` of
                `nuggetjudge.agree`.
        """
        with InOneLine():
            return agree(labels, self, where=list_wanted_values(where), **options)


def _open(path: Path) -> None:
    """Show a page: as a link in a notebook, which may run on another machine, else in a browser."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if hasattr(shell, "kernel"):
        from IPython.display import FileLink, display  # type: ignore[import-not-found]

        display(FileLink(os.path.relpath(path)))
    else:
        webbrowser.open(path.absolute().as_uri())
