"""The base class of tasks: everything that running, scoring and labelling need to know."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...metrics.answer_scores import Value
from ...records.kinds import Cell, find_kind
from ...records.reading.fields import Line, Where, read_lines
from ...records.reading.problems import InputError, Problems
from ...views.table import Table
from ..config.base import JudgeName
from ..config.sections import Config
from ..engine.manifest import describe_data, read_manifest
from ..engine.results import Results
from ..inputs import Collection, load_collection
from .judged_items import ItemScale, JudgedItems
from .judgements import (
    Answers,
    CellTexts,
    FileLines,
    Judgement,
    Texts,
    Words,
    by_answer,
    read_plain_judgements,
    row_texts,
)
from .scoreboard import Meaning, Meanings, Scoreboard, declare

if TYPE_CHECKING:
    from ...agents import Corpus
    from ..config.pipelines import AnyStep
    from ..engine.judge_set import JudgeSet
    from ..engine.session import Session

__all__ = [
    "CellTexts",
    "Folder",
    "Meaning",
    "Meanings",
    "Program",
    "Run",
    "Scoreboard",
    "Texts",
    "need_answers",
]


def _no_passages(steps: Sequence[AnyStep]) -> Corpus:
    """Refuse to search.

    Args:
        steps: the search steps, which are not used.

    Raises: InputError, always.
    """
    raise InputError("there are no passages for the agent to search")


@dataclass
class Run:
    """A run: its judges, its data, and where it writes files.

    Attributes:
        session: the session that asks the judges and keeps the journal.
        collection: the topics, answers and passages to judge.
        results: the results folder that the run writes.
        grades: the grades of the candidates by topic and passage, once a judge has given them;
            None: not judged.
        corpus: a function from search steps to the passages of the run, for agents. It raises
            InputError if there are no passages.
    """

    session: Session
    collection: Collection
    results: Results
    grades: Mapping[str, Mapping[str, int | None]] | None = None
    corpus: Callable[[Sequence[AnyStep]], Corpus] = _no_passages

    @property
    def config(self) -> Config:
        """Return the config of the run."""
        return self.session.config

    @property
    def judge_set(self) -> JudgeSet:
        """Return the judges of the run."""
        return self.session.judge_set

    def notes(self) -> dict[str, Any]:
        """Return the notes of the manifest for scoring."""
        config = self.config.model_dump(mode="json", by_alias=True)
        return {"config": config, "data": describe_data(self.collection), **self.results.notes}


class Folder:
    """Judgements to score: a results folder, also while it is written, or one file.

    Args:
        path: the folder or file.
        problems: receives errors and warnings about rows.
        topics: the topics that every run must answer; None: topics that any run answered.
        where: for one file: field -> values; only rows with one of these values are read.
        notes: the notes of the manifest: `config`, `data` and the notes of its tasks; None: read
            from the folder, {} for a file.
        is_written: False while the files of the folder end in .part.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as name:
    ...     _ = Path(name, "support.jsonl").write_text("")
    ...     folder = Folder(Path(name), Problems(), notes={"data": {"topic_ids": ["t1"]}})
    ...     folder.need("support.jsonl").name, folder.file("nuggets.jsonl"), folder.topics
    ('support.jsonl', None, ['t1'])
    """

    def __init__(
        self,
        path: Path,
        problems: Problems,
        *,
        topics: list[str] | None = None,
        where: Where | None = None,
        notes: Mapping[str, Any] | None = None,
        is_written: bool = True,
    ) -> None:
        self.path = path
        self.problems = problems
        self.where = where or {}
        self._is_written = is_written
        if notes is None:
            notes = read_manifest(path) if path.is_dir() else {}
        self.notes = notes
        self.topics = topics if topics is not None else self.data.get("topic_ids")

    @property
    def data(self) -> Mapping[str, Any]:
        """Return the manifest's notes about the data."""
        about: Mapping[str, Any] = self.notes.get("data", {})
        return about

    @property
    def failed(self) -> list[tuple[str, str]]:
        """Return the (run, topic) of answers that are missing because nuggetjudge itself failed.

        No task judges these answers.
        """
        return [(run_id, topic_id) for run_id, topic_id, _ in self.data.get("failed", ())]

    @cached_property
    def programs(self) -> list[str]:
        """Return the names of the tasks that ran."""
        return list(self.notes.get("config", {}).get("program", ()))

    def setting(self, section: str, name: str) -> Any:
        """Return a setting of the run; None for a file.

        Args:
            section: the section of the config, such as support.
            name: the name of the setting.
        """
        return self.notes.get("config", {}).get(section, {}).get(name)

    def list_counted(self, seen: Iterable[str], without: str = "") -> list[str]:
        """Return the topics of means: the topics of the run, or else `seen`, sorted.

        Args:
            seen: the topics that have judgements.
            without: the note that lists topics to exclude; "": exclude none.
        """
        every = sorted({*seen}) if self.topics is None else self.topics
        return [topic for topic in every if topic not in self.notes.get(without, ())]

    def file(self, name: str) -> Path | None:
        """Return the path of a file; None if it is missing.

        Args:
            name: the name of the file. If the folder is a single file, every name is this file.
        """
        if self.path.is_file():
            return self.path
        path = self.path / (name if self._is_written else f"{name}.part")
        return path if path.is_file() else None

    def need(self, name: str) -> Path:
        """Return the path of a file as `file` does.

        Args:
            name: the name of the file.

        Raises: InputError if the file is missing.
        """
        if (path := self.file(name)) is None:
            raise InputError(f"{self.path}: {name} is missing")
        return path


class Program(ABC):
    """A task, such as nuggets. To add one, write a subclass.

    Attributes:
        name: its name in a config and on the command line.
        judges: the judges that it may ask.
        kind: the kind of its label files.
        judged: the file with its judgements.
        files: all files of judgements that it writes.
        derived: files that are computed from the judgements.
        stages: the stages of its judgements, and stages that lead to them; (): one with its name.
        needs: files of `data:`, of which it needs at least one, with the fields of samples for
            them; () if it can read any.
        makes: data that it makes if missing: name in `data:` -> the file that it writes.
        notes: keys of the manifest that scores need, with their defaults.
        shown: its measures in the order of leaderboards; `NAME@k` without the cut-off.
        n_official: how many of `shown` are the official measures of its track or paper.
        meanings: the meaning of each measure and its better direction; `NAME@k` without cut-off.
        reads: the texts that a person needs to judge an item, in order; see `texts`.
        may_lack: texts in `reads` that help but are not necessary.
        file_kind: the kind of `judged` as a single file, see `file_kind`; "": none.
        is_scored_alone: whether `score` can read that file without its folder.
        tools: other tools for which `export` writes: name -> a sentence, the help of
            `judge export TOOL`. For `ragdoll`, a part of RAGDoll's files.
        without: the note that lists topics without reference items, such as nuggets; "": none.
        of_points: the measures that are undefined on these topics.
        words: the words of people for its labels and items; None: `Words.plain`.
        verb: what an answer does with a reference item, in present and past tense.
        besides: what it judges beside reference items, such as claims; "": the name of the task.
        matrix: how the report draws its labels: "points": reference items by run; "sentences":
            sentences of each answer; "": not at all.
        judges_answers: whether it judges texts that systems wrote.
        judges_citations: whether it judges citations.
        paper: title and arXiv id of its source.

    >>> from tempfile import TemporaryDirectory
    >>> class Length(Program):
    ...     name, judges, kind = "length", (), "length"
    ...     judged, files, shown = "lengths.jsonl", ("lengths.jsonl",), ("brevity",)
    ...     async def judge(self, run):
    ...         with run.results.open(self.judged) as rows:
    ...             for answer in run.collection.answers():
    ...                 is_brief = len(answer.text.split()) < 200
    ...                 ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
    ...                 rows.write({**ids, "brevity": float(is_brief)})
    ...     def score(self, folder, board):
    ...         for line in read_lines(folder.need(self.judged), folder.problems):
    ...             brevity = line.row["brevity"]
    ...             value = Value(brevity, n=1, n_unjudged=0, low=brevity, high=brevity)
    ...             board.add(line.row["run_id"], line.row["topic_id"], {"brevity": value})
    >>> board = Scoreboard(["t1", "t2"])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "lengths.jsonl")
    ...     _ = path.write_text('{"topic_id": "t1", "run_id": "a", "brevity": 1.0}')
    ...     Length().score(Folder(path, Problems()), board)
    >>> [(row.topic_id, row.value) for row in board.rows()]  # without an answer, t2 counts 0
    [('t1', 1.0), ('all', 0.5)]
    """

    name: ClassVar[str]
    judges: ClassVar[tuple[JudgeName, ...]]
    kind: ClassVar[str]
    judged: ClassVar[str]
    files: ClassVar[tuple[str, ...]]
    derived: ClassVar[tuple[str, ...]] = ()
    stages: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[tuple[str, ...], str]] = ((), "")
    makes: ClassVar[Mapping[str, str]] = {}
    notes: ClassVar[Mapping[str, Any]] = {}
    shown: ClassVar[tuple[str, ...]] = ()
    n_official: ClassVar[int] = 1
    meanings: ClassVar[Meanings] = {}
    reads: ClassVar[tuple[str, ...]] = ()
    may_lack: ClassVar[tuple[str, ...]] = ()
    file_kind: ClassVar[str] = ""
    is_scored_alone: ClassVar[bool] = False
    tools: ClassVar[Mapping[str, str]] = {}
    without: ClassVar[str] = ""
    of_points: ClassVar[tuple[str, ...]] = ()
    words: ClassVar[Words | None] = None
    verb: ClassVar[tuple[str, str]] = ("state", "stated")
    besides: ClassVar[str] = ""
    matrix: ClassVar[Literal["points", "sentences", ""]] = ""
    judges_answers: ClassVar[bool] = False
    judges_citations: ClassVar[bool] = False
    paper: ClassVar[tuple[str, str] | None] = None

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        declare(cls.meanings)

    def list_judges(self, config: Config) -> tuple[JudgeName, ...]:
        """Return the judges that a run with this config may ask.

        Args:
            config: the config of the run.
        """
        return self.judges

    def measures(self, config: Config) -> Names[str] | None:
        """Return all measures that a run with this config may have, the first shown first.

        Measures of probabilities are included, although an endpoint may not return any. None:
        the measures are not known before the run.

        Args:
            config: the config of the run.
        """
        return None

    def has_agents(self, config: Config) -> bool:
        """Return True if a run with this config has agents; their cost is estimated first.

        Args:
            config: the config of the run.
        """
        return False

    def load(self, config: Config) -> Collection:
        """Load and return the data to judge.

        Args:
            config: the config of the run.

        Returns: the topics, answers and passages.
        Raises: InputError with all errors.
        """
        coverage = config.coverage if "coverage" in config.program else None
        named = config.reads_named_passages
        return load_collection(config.data, config.run.limit, coverage, named=named)

    def check(self, config: Config, collection: Collection) -> None:
        """Check the data before a model is asked.

        Args:
            config: the config of the run.
            collection: the data to judge; its problems receive the data that will be left out.

        Raises: InputError if the data cannot be judged.
        """
        return

    @abstractmethod
    async def judge(self, run: Run) -> None:
        """Judge everything; write the files and notes that `score` reads.

        Args:
            run: judges, data and results folder.
        """

    @abstractmethod
    def score(self, folder: Folder, board: Scoreboard) -> None:
        """Add the values of all answers to the board, from files and notes only.

        Args:
            folder: the judgements.
            board: receives the values by run and topic.
        """

    def export(self, tool: str, folder: Path, out: Path, problems: Problems) -> Mapping[str, int]:
        """Write the judgements for one of its `tools`.

        Args:
            tool: one of `tools`.
            folder: the results, with the file `judged`.
            out: an existing folder.
            problems: receives values that the tool would read differently.

        Returns: the number of rows by file, and `failed`: the number of missing judgements.
        """
        raise NotImplementedError(self.name)

    def relabel(self, path: Path, labels: Mapping[Cell, str], board: Scoreboard) -> bool:
        """Add the scores of its file with other labels to the board.

        Args:
            path: a file of its `file_kind`.
            labels: item key -> label, for the topics that count; other items are not judged.
            board: receives the values by run and topic.

        Returns: False if labels alone do not decide the scores.
        """
        topics, quiet = {cell[0] for cell in labels}, Problems()
        answers = by_answer(
            judgement._replace(label=labels.get(judgement.cell)) if judgement.cell else judgement
            for judgement in self.judgements(
                lambda name: read_lines(path, quiet) if name == self.judged else iter(())
            )
            if judgement.topic_id in topics
        )
        values = self.values(answers)
        for (run, topic), of_answer in (values or {}).items():
            board.add(run, topic, of_answer)
        return values is not None

    def values(self, answers: Answers) -> Mapping[tuple[str, str], dict[str, Value]] | None:
        """Compute the values of answers from labels.

        Args:
            answers: the judgements of each answer.

        Returns: (run, topic) -> measure -> value; None if the labels are not enough.
        """
        return None

    def tables(self, path: Path) -> Sequence[Table]:
        """Return the tables above the leaderboards.

        Args:
            path: a results folder, or one of its files.
        """
        return ()

    def excluded(self, measure: str, folder: Folder) -> Names[str]:
        """Return the topics on which a measure is undefined for every run.

        Args:
            measure: the name of the measure.
            folder: the judgements.
        """
        names: Names[str] = folder.notes.get(self.without, ()) if measure in self.of_points else ()
        return names

    def is_by_own_topics(self, measure: str, folder: Folder) -> bool:
        """Return True if a run's mean of this measure covers only topics with values.

        Otherwise an unanswered topic counts 0, except in measures such as `length`.

        Args:
            measure: the name of the measure.
            folder: the judgements.
        """
        return False

    def scale(self, folder: Path) -> ItemScale | None:
        """Return the scale of its labels in a results folder; None: the scale of its `kind`.

        Args:
            folder: the path of the results folder.
        """
        return None

    def labels(self, folder: Path) -> tuple[str, ...]:
        """Return its labels in a results folder, worst to best.

        Args:
            folder: the path of the results folder.
        """
        scale, kind = self.scale(folder), find_kind(self.kind)
        return scale.labels if scale is not None else kind.labels if kind is not None else ()

    def items(self, folder: Folder) -> JudgedItems | None:
        """Return all judged items with their weights in each measure.

        None: all items of an answer have the same weight.

        Args:
            folder: the judgements.
        """
        return None

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield its judgements, answer by answer, with explanations of judges.

        Args:
            lines: reads its files by name, for one topic.
        """
        return read_plain_judgements(lines(self.judged))

    def read_stored_texts(self, lines: Iterable[Line]) -> CellTexts:
        """Yield the texts in rows of `judged`, such as the nugget of a judgement.

        Args:
            lines: the rows of the file, with their places.
        """
        return row_texts(lines)

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """Yield the texts that a person needs to judge these items, from the input files.

        Args:
            config: the config of the run.
            folder: the path of the results folder.
            wanted: the keys of the items.

        Raises: InputError if a file no longer exists.
        """
        return iter(())


def need_answers(collection: Collection) -> None:
    """Check that there are answers.

    Args:
        collection: the data of a run.

    Raises: InputError if there are no answers.

    >>> need_answers(Collection(topics={}, run_files=[], n_answers=3))  # raises no error
    """
    if not (collection.n_answers or collection.failed):
        raise InputError("no answers: add the runs to judge (data.runs, --runs)")
