"""What a program is: all that a run, a score, a label and a command line need to know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...metrics.answer_scores import Value
from ...records.kinds import Cell, FileKind, find_kind
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
from .tool_files import ToolFiles

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
    """What a program judges with, and where its files go.

    Attributes:
        grades: of the candidates, by topic and passage, once a judge has given them; None in
            them: not judged.
        corpus: opens the passages of the run for agents, to be searched by these steps. Raises:
            InputError where there are none.
    """

    session: Session
    collection: Collection
    results: Results
    grades: Mapping[str, Mapping[str, int | None]] | None = None
    corpus: Callable[[Sequence[AnyStep]], Corpus] = _no_passages

    @property
    def config(self) -> Config:
        """That of the run."""
        return self.session.config

    @property
    def judge_set(self) -> JudgeSet:
        """The judges."""
        return self.session.judge_set

    def notes(self) -> dict[str, Any]:
        """What the manifest will say that scores are made from."""
        config = self.config.model_dump(mode="json", by_alias=True)
        return {"config": config, "data": describe_data(self.collection), **self.results.notes}


class Folder:
    """Judgements to make scores of: a results folder, one that is being written, or one file.

    Attributes:
        path: the folder or file.
        notes: of its manifest: `config`, `data` and the notes of its programs; {} of a file.
        topics: those that every run must answer; None: those that any run answered.
        where: of one file, the rows to read: fields, and the values of which a row must have one.
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
        """What the manifest says of the data."""
        about: Mapping[str, Any] = self.notes.get("data", {})
        return about

    @property
    def not_made(self) -> list[tuple[str, str]]:
        """(run, topic) of the answers that could not be made, by no doing of the system.

        They are not judged in any program.
        """
        return [(run_id, topic_id) for run_id, topic_id, _ in self.data.get("not_made", ())]

    @cached_property
    def programs(self) -> list[str]:
        """Names of the programs that ran."""
        return list(self.notes.get("config", {}).get("program", ()))

    def setting(self, section: str, name: str) -> Any:
        """A setting of the run; None of a file."""
        return self.notes.get("config", {}).get(section, {}).get(name)

    def list_counted(self, seen: Iterable[str], without: str = "") -> list[str]:
        """The topics that scores are means over: those of the run, or else those seen, sorted.

        Args:
            without: the note that lists topics which are left out.
        """
        every = sorted({*seen}) if self.topics is None else self.topics
        return [topic for topic in every if topic not in self.notes.get(without, ())]

    def file(self, name: str) -> Path | None:
        """Where a file of this name is; a single file has any name. None: there is none."""
        if self.path.is_file():
            return self.path
        path = self.path / (name if self._is_written else f"{name}.part")
        return path if path.is_file() else None

    def need(self, name: str) -> Path:
        """As `file`. Raises: InputError if there is none."""
        if (path := self.file(name)) is None:
            raise InputError(f"{self.path}: has no {name}")
        return path


class Program(ABC):
    """One evaluation. A subclass is all there is to add for another one.

    Attributes:
        name: in a config and on the command line.
        judges: those that it may ask.
        kind: of label files that are about the same things; judged: the file with its judgements.
        files: all files of judgements that it writes. derived: those that follow from them.
        stages: those whose items are its judgements, or what they are made of; (): one of its
            name.
        needs: the files of `data:` of which it needs one, and the fields of samples that give them;
            () where it reads any.
        makes: what it makes where none is given, by its name in `data:`: the file that it writes.
        notes: keys of the manifest that scores need, with what stands there if nothing does.
        shown: its measures, as a leaderboard shows them; of `NAME@k` without the cut-off.
        n_official: so many of `shown` are the official measures of its track or paper.
        meanings: what each measure says, and which way it is better; of `NAME@k` without cut-off.
        reads: the texts by which a person judges one of its cells, in order; see `texts`.
        file_kind: of `judged` where it comes alone, see `file_kind`; "": none of its own.
        takes: the kind of another tool's files that it can write as its own; "": none.
        takes_with: kinds of files that it reads beside those.
        is_scored_alone: whether `score` can read that file without its folder.
        tools: what `export` writes for other tools, by the name of the tool: a sentence, which is
            the help of `judge export TOOL`. Of `ragdoll` it is part of what RAGDoll gets.
        without: the note that lists topics without points, such as nuggets; "": none does.
        of_points: the measures that mean nothing on those.
        words: how people read what it judged; None: `Words.plain`.
        verb: what an answer does to one of its points, and did. besides: what it judges that is no
            point, such as claims; "": named as the program.
        matrix: how the report draws its labels: of points, which all answers to a topic are
            compared with, by run; of the sentences of each answer; "": not at all.
        judges_answers: whether what it judges is written by systems.
        judges_citations: whether it judges what answers cite.
        paper: title and arXiv id of what it comes from.
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
    file_kind: ClassVar[str] = ""
    takes: ClassVar[FileKind | Literal[""]] = ""
    takes_with: ClassVar[tuple[str, ...]] = ()
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
        """The judges that a run with this config may ask."""
        return self.judges

    def measures(self, config: Config) -> Names[str] | None:
        """All that a run with this config may score, the first shown first; None: not known before.

        Those by probabilities among them, which depend on what the endpoint gives.
        """
        return None

    def has_agents(self, config: Config) -> bool:
        """Whether agents work in a run with this config, whose cost is forecast beforehand."""
        return False

    def load(self, config: Config) -> Collection:
        """The data that is judged. Raises: InputError with all that is wrong with it."""
        coverage = config.coverage if "coverage" in config.program else None
        named = config.reads_named_passages
        return load_collection(config.data, config.run.limit, coverage, named=named)

    def check(self, config: Config, collection: Collection) -> None:
        """Note what will be left out. Raises: InputError if this data cannot be judged."""
        return

    @abstractmethod
    async def judge(self, run: Run) -> None:
        """Judge everything, and write the files and notes that `score` reads."""

    @abstractmethod
    def score(self, folder: Folder, board: Scoreboard) -> None:
        """Put the values of all answers on the board, from files and notes alone."""

    def take(self, theirs: ToolFiles) -> None:
        """Write its files from another tool's that it `takes`, and keep what was judged.

        A label that their file has not is unjudged, whatever their tool counts it as.
        """
        raise NotImplementedError(self.name)

    def missing(self, theirs: ToolFiles) -> Mapping[str, Any]:
        """Notes on what such files have not, whether it takes any or not."""
        return {}

    def export(self, tool: str, folder: Path, out: Path, problems: Problems) -> Mapping[str, int]:
        """Write what it judged as one of its `tools` has it.

        Args:
            folder: its results, with its file `judged`. out: a folder that is there.
            problems: gets what the tool would read otherwise.

        Returns: rows by file, and `failed`: judgements that are not there.
        """
        raise NotImplementedError(self.name)

    def relabel(self, path: Path, labels: Mapping[Cell, str], board: Scoreboard) -> bool:
        """Put on the board what its file would score under other labels; False: it cannot.

        Args:
            path: a file of its `file_kind`.
            labels: by cell, those of the topics that count; a cell without one is not judged.
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
        """What answers score by the labels of their judgements; None: it cannot tell."""
        return None

    def tables(self, path: Path) -> Sequence[Table]:
        """Tables that stand above the leaderboards of a results folder, or of a file of its own."""
        return ()

    def left_out(self, measure: str, folder: Folder) -> Names[str]:
        """The topics on which one of its measures means nothing for any run."""
        names: Names[str] = folder.notes.get(self.without, ()) if measure in self.of_points else ()
        return names

    def is_by_own_topics(self, measure: str, folder: Folder) -> bool:
        """Whether a run's mean of one of its measures is over the topics that it has values of.

        Otherwise a topic that a run did not answer counts 0, but in measures such as `length`.
        """
        return False

    def scale(self, folder: Path) -> ItemScale | None:
        """What its labels in a results folder mean; None: what labels of its `kind` mean."""
        return None

    def labels(self, folder: Path) -> tuple[str, ...]:
        """Its labels in a results folder, worst to best."""
        scale, kind = self.scale(folder), find_kind(self.kind)
        return scale.labels if scale is not None else kind.labels if kind is not None else ()

    def items(self, folder: Folder) -> JudgedItems | None:
        """Everything that was judged, with its weight in each measure; None: it cannot tell."""
        return None

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """All that it judged, answer by answer, with the reasons of its judges.

        Args:
            lines: of its files, each by its name: of one topic.
        """
        return read_plain_judgements(lines(self.judged))

    def read_stored_texts(self, lines: Iterable[Line]) -> CellTexts:
        """The texts that rows of `judged` have beside their labels, by `TEXTS` and `REMARKS`."""
        return row_texts(lines)

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """What a person has to read to judge these cells, from the files that were judged.

        Raises: InputError if a file is not there any more.
        """
        return iter(())


def need_answers(collection: Collection) -> None:
    """Raise InputError if there is nothing that systems wrote."""
    if not (collection.n_answers or collection.not_made):
        raise InputError("no answers: name the runs to judge (data.runs, --runs)")
