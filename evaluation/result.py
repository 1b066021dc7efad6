"""What users of Python get of a run, and of any results folder: numbers, tables, pages."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

from ..programs.analysis.answers.showing import show_answer, show_summary
from ..programs.analysis.leaderboards import leaderboards
from ..programs.analysis.tables.leaderboards import leader_sentence, leaderboard_table, name_judges
from ..programs.scoring.result import Result as StoredResult
from ..records.reading.problems import InputError, Problems, did_you_mean
from ..views.rows import Rows
from ..views.table import Table, View
from .agreement import Agreement, agree
from .comparing import Comparison, compare
from .pages import find_writer
from .questions import QuestionScore, chosen, question_frame, question_scores
from .sources import InOneLine, Source, chosen_rows, opened, warn_of
from .tables import InTables, Text

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


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
        made = opened(self._stack, self._named)
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
        tables = [leaderboard_table(board, judges) for board in boards]
        if not tables:
            return View(tables=[Table(f"No scores in {self._named}", [], [])])
        verdict = leader_sentence(boards[0])
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
            return question_scores(self, *chosen(self, measures, runs))

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
            return question_frame(self, *chosen(self, measures, runs))

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
        warn_of(problems)
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
            results = [self.folder, *([opened(stack, other)] if other is not None else [])]
            write = find_writer("figure")
            caption: str = write(
                kind, results, Path(out), problems, measure=measure, labels=people, width=width
            )
        warn_of(problems)
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
        warn_of(problems)
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
            return agree(labels, self, where=chosen_rows(where), **options)


def _open(path: Path) -> None:
    """Show a page: as a link in a notebook, which may run on another machine, else in a browser."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if hasattr(shell, "kernel"):
        from IPython.display import FileLink, display  # type: ignore[import-not-found]

        display(FileLink(os.path.relpath(path)))
    else:
        webbrowser.open(path.absolute().as_uri())
