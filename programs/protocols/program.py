"""The base class of tasks: what running, scoring and labelling need to know about one."""

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
    "Texts",
    "need_answers",
]


def _no_passages(steps: Sequence[AnyStep]) -> Corpus:
    raise InputError("there are no passages here for an agent to search")


@dataclass
class Run:
    """What a program judges with, and where it writes its files.

    Attributes:
        grades: grades of the candidates, by topic and passage, after a judge has given them; a
            grade of None: not judged.
        corpus: opens the passages of the run for agents, which search them by these steps. Raises:
            InputError if there are no passages.
    """

    session: Session
    collection: Collection
    results: Results
    grades: Mapping[str, Mapping[str, int | None]] | None = None
    corpus: Callable[[Sequence[AnyStep]], Corpus] = _no_passages

    @property
    def config(self) -> Config:
        """The config of the run."""
        return self.session.config

    @property
    def judge_set(self) -> JudgeSet:
        """The judges."""
        return self.session.judge_set

    def notes(self) -> dict[str, Any]:
        """Return what the manifest keeps for scoring."""
        config = self.config.model_dump(mode="json", by_alias=True)
        return {"config": config, "data": describe_data(self.collection), **self.results.notes}


class Folder:
    """Judgements to score: a results folder, one that is being written, or one file.

    Attributes:
        path: the folder or file.
        notes: from its manifest: `config`, `data` and the notes of its programs; {} for a file.
        topics: the topics that every run must answer; None: those that any run answered.
        where: for one file: field -> values; only rows with one of the values of each are read.
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
        """What the manifest says about the data."""
        about: Mapping[str, Any] = self.notes.get("data", {})
        return about

    @property
    def failed(self) -> list[tuple[str, str]]:
        """(run, topic) of the answers that are missing through a failure of nuggetjudge itself.

        No program judges them.
        """
        return [(run_id, topic_id) for run_id, topic_id, _ in self.data.get("failed", ())]

    @cached_property
    def programs(self) -> list[str]:
        """Names of the programs that ran."""
        return list(self.notes.get("config", {}).get("program", ()))

    def setting(self, section: str, name: str) -> Any:
        """Return a setting of the run; None for a file."""
        return self.notes.get("config", {}).get(section, {}).get(name)

    def list_counted(self, seen: Iterable[str], without: str = "") -> list[str]:
        """Return the topics of the means: those of the run, or else those seen, sorted.

        Args:
            without: the note that lists topics to leave out.
        """
        every = sorted({*seen}) if self.topics is None else self.topics
        return [topic for topic in every if topic not in self.notes.get(without, ())]

    def file(self, name: str) -> Path | None:
        """Return where a file of this name is; None: there is none. A single file has any name."""
        if self.path.is_file():
            return self.path
        path = self.path / (name if self._is_written else f"{name}.part")
        return path if path.is_file() else None

    def need(self, name: str) -> Path:
        """Return the path as `file` does. Raises: InputError if there is none."""
        if (path := self.file(name)) is None:
            raise InputError(f"{self.path}: has no {name}")
        return path


class Program(ABC):
    """A task, such as nuggets. To add one, write a subclass.

    Attributes:
        name: in a config and on the command line.
        judges: the judges that it may ask.
        kind: the kind of its label files. judged: the file with its judgements.
        files: all files of judgements that it writes. derived: files that are computed from them.
        stages: the stages whose items are its judgements, or lead to them; (): one of its name.
        needs: the files of `data:` of which it needs one, and the fields of samples that give them;
            () if it reads any.
        makes: what it makes if it is not given: its name in `data:` -> the file that it writes.
        notes: keys of the manifest that scores need, with their default values.
        shown: its measures, as a leaderboard shows them; `NAME@k` without the cut-off.
        n_official: how many of `shown` are the official measures of its track or paper.
        meanings: the meaning of each measure, and which way is better; `NAME@k` without cut-off.
        reads: the texts by which a person judges one of its items, in order; see `texts`.
        may_lack: those of `reads` that help, and that an item can be judged without.
        file_kind: the kind of `judged` if it comes alone, see `file_kind`; "": none.
        is_scored_alone: whether `score` can read that file without its folder.
        tools: other tools for which `export` writes: name -> a sentence, the help of
            `judge export TOOL`. For `ragdoll` it is a part of what RAGDoll gets.
        without: the note that lists topics without reference items, such as nuggets; "": none.
        of_points: the measures that are undefined on those topics.
        words: what people call its labels and items; None: `Words.plain`.
        verb: what an answer does with a reference item, in the present and the past tense.
        besides: what it judges beside reference items, such as claims; "": the name of the program.
        matrix: how the report draws its labels: "points": reference items by run; "sentences": the
            sentences of each answer; "": not at all.
        judges_answers: whether systems wrote what it judges.
        judges_citations: whether it judges what answers cite.
        paper: title and arXiv id of its source.
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
        """Return the judges that a run with this config may ask."""
        return self.judges

    def measures(self, config: Config) -> Names[str] | None:
        """Return all measures that a run with this config may have, the first shown first.

        They include measures of probabilities, which depend on what the endpoint returns. None:
        they are not known before the run.
        """
        return None

    def has_agents(self, config: Config) -> bool:
        """Whether agents work in a run with this config; their cost is estimated before it."""
        return False

    def load(self, config: Config) -> Collection:
        """Load the data to judge. Raises: InputError with everything that is wrong with it."""
        coverage = config.coverage if "coverage" in config.program else None
        named = config.reads_named_passages
        return load_collection(config.data, config.run.limit, coverage, named=named)

    def check(self, config: Config, collection: Collection) -> None:
        """List what will be left out. Raises: InputError if this data cannot be judged."""
        return

    @abstractmethod
    async def judge(self, run: Run) -> None:
        """Judge everything, and write the files and notes that `score` reads."""

    @abstractmethod
    def score(self, folder: Folder, board: Scoreboard) -> None:
        """Put the values of all answers on the board, from files and notes only."""

    def export(self, tool: str, folder: Path, out: Path, problems: Problems) -> Mapping[str, int]:
        """Write the judgements as one of its `tools` reads them.

        Args:
            folder: the results, with the file `judged`.
            out: a folder that exists.
            problems: gets what the tool would read differently.

        Returns: rows by file, and `failed`: the number of missing judgements.
        """
        raise NotImplementedError(self.name)

    def relabel(self, path: Path, labels: Mapping[Cell, str], board: Scoreboard) -> bool:
        """Put the scores of its file under other labels on the board; return False if it cannot.

        Args:
            path: a file of its `file_kind`.
            labels: cell -> label, for the topics that count; other cells are not judged.
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
        """Compute the values of answers from labels; None: these labels are not enough."""
        return None

    def tables(self, path: Path) -> Sequence[Table]:
        """Return the tables above the leaderboards, for a results folder or a file of its own."""
        return ()

    def excluded(self, measure: str, folder: Folder) -> Names[str]:
        """Return the topics on which a measure is undefined for every run."""
        names: Names[str] = folder.notes.get(self.without, ()) if measure in self.of_points else ()
        return names

    def is_by_own_topics(self, measure: str, folder: Folder) -> bool:
        """Whether a run's mean of this measure is over the topics for which it has values.

        Otherwise a topic that a run did not answer counts 0, except in measures such as `length`.
        """
        return False

    def scale(self, folder: Path) -> ItemScale | None:
        """Return what its labels in a results folder mean; None: what labels of its `kind` mean."""
        return None

    def labels(self, folder: Path) -> tuple[str, ...]:
        """Return its labels in a results folder, worst to best."""
        scale, kind = self.scale(folder), find_kind(self.kind)
        return scale.labels if scale is not None else kind.labels if kind is not None else ()

    def items(self, folder: Folder) -> JudgedItems | None:
        """Return everything that was judged, with its weight in each measure.

        None: each item counts the same in its answer.
        """
        return None

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield its judgements, answer by answer, with the reasons of its judges.

        Args:
            lines: reads its files by name, for one topic.
        """
        return read_plain_judgements(lines(self.judged))

    def read_stored_texts(self, lines: Iterable[Line]) -> CellTexts:
        """Yield the texts beside the labels in rows of `judged`, by `TEXTS` and `REMARKS`."""
        return row_texts(lines)

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """Yield the texts by which a person judges these cells, from the input files.

        Raises: InputError if a file no longer exists.
        """
        return iter(())


def need_answers(collection: Collection) -> None:
    """Raise InputError if there are no answers."""
    if not (collection.n_answers or collection.failed):
        raise InputError("no answers: name the runs to judge (data.runs, --runs)")
