"""A results folder in Python: scores, judgements and quotes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records.reading.lines import json_lines
from ...records.reading.problems import Problems, did_you_mean
from ...records.rows import ScoreRow
from ...records.scores import read_scores
from ...views.rows import Rows, RowsByName
from ..engine.manifest import read_manifest
from ..engine.spending import cost_in_all, read_spending
from ..protocols.judgements import Judgement, TopicFiles
from ..protocols.program import Folder, Program
from ..protocols.table import choose, programs

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


class Result:
    """A results folder; its files are read when they are needed.

    Args:
        folder: the path of a results folder.

    Raises: InputError if the folder is not a results folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest: dict[str, Any] = read_manifest(self.folder)

    def __repr__(self) -> str:
        return f"Result({str(self.folder)!r}, n={self.n_judged:,}, n_unjudged={self.n_unjudged:,})"

    @cached_property
    def scores(self) -> Rows[ScoreRow]:
        """All rows of scores.jsonl. Rows with the topic "all" have the means."""
        problems = Problems()
        rows = read_scores(self.folder / "scores.jsonl", problems)
        problems.raise_errors()
        return Rows(rows)

    def score(self, run_id: str, measure: str, topic_id: str = "all") -> float | None:
        """Return one value.

        Args:
            run_id: the name of a run.
            measure: the name of a measure, such as V_strict.
            topic_id: the id of a topic; "all": the mean over topics.

        Returns: the value, in the unit of the measure; None: not judged, or 0/0.
        Raises: KeyError for an unknown name; it suggests the nearest name.

        Example: result.score("complete", "V_strict")
        """
        wanted = (run_id, topic_id, measure)
        for row in self.scores:
            if (row.run_id, row.topic_id, row.measure) == wanted:
                return row.value
        for kind, name in (("run", run_id), ("topic", topic_id), ("measure", measure)):
            there = {
                getattr(row, kind if kind == "measure" else f"{kind}_id") for row in self.scores
            }
            if name not in there:
                raise KeyError(f"no {kind} {name!r}{did_you_mean(name, sorted(there))}")
        raise KeyError(f"{run_id} has no {measure} on topic {topic_id}")

    @property
    def judgements(self) -> RowsByName[dict[str, Any]]:
        """The rows of each judgement file, by the name of the file without .jsonl."""
        files = dict.fromkeys(name for program in programs() for name in program.files)
        names = [name for name in files if (self.folder / name).is_file()]
        return RowsByName({n.removesuffix(".jsonl"): Rows(self._rows(n)) for n in names})

    @property
    def unjudged(self) -> Rows[dict[str, Any]]:
        """The missing judgements, with reasons and raw replies."""
        return Rows(self._rows("unjudged.jsonl"))

    @property
    def judged_by(self) -> list[str]:
        """The models that answered, as endpoints name them; `lexical` is word overlap."""
        return list(self.manifest.get("answered_by", ()))

    @property
    def cost(self) -> float | None:
        """The cost in dollars of all starts that wrote into the folder; None: unknown price."""
        return cost_in_all(read_spending(self.folder))

    @property
    def seconds(self) -> float | None:
        """The duration of the last start in seconds; None: unknown."""
        seconds: float | None = self.manifest.get("this_time", {}).get("seconds")
        return seconds

    @property
    def n_judged(self) -> int:
        """The number of judgements."""
        return sum(self.manifest["judged"].values())

    @property
    def n_unjudged(self) -> int:
        """The number of missing judgements."""
        return sum(self.manifest["unjudged"].values())

    @property
    def missing_points(self) -> list[str]:
        """Reference items that no topic has, such as `nuggets`, so that a task has no scores."""
        topics, notes = set(self.manifest["data"]["topic_ids"]), self.manifest
        names = (program.without for program in choose(notes["config"]["program"]))
        empty = (name for name in names if name and topics and topics <= set(notes.get(name, ())))
        return [name.removeprefix("topics_without_").replace("_", " ") for name in empty]

    @property
    def is_complete(self) -> bool:
        """True if missing judgements are within the config's limit and each task has scores."""
        if self.missing_points:
            return False
        allowed: float = self.manifest["config"]["run"]["allow_missing"]
        is_enough: bool = self.manifest["share_missing"] <= allowed
        return is_enough and not self.manifest["limit_reached"]

    def to_pandas(self) -> pandas.DataFrame:
        """Return the score rows as a pandas frame with the columns of scores.jsonl.

        Raises: ModuleNotFoundError without pandas.
        """
        import pandas

        return pandas.DataFrame([row.model_dump() for row in self.scores])

    def _rows(self, name: str) -> Iterator[dict[str, Any]]:
        problems = Problems()
        for _, row in json_lines(self.folder / name, problems):
            yield row
        problems.raise_errors()


def find_first_quoted(folder: Path) -> list[tuple[str, Judgement]]:
    """Yield the first judgement with a quote for each task of a results folder."""
    names = read_manifest(folder)["config"]["program"]
    found = ((one.name, next(find_quoted_judgements(folder, one), None)) for one in choose(names))
    return [(name, judgement) for name, judgement in found if judgement is not None]


def find_quoted_judgements(folder: Path, program: Program) -> Iterator[Judgement]:
    """Yield the judgements of a task with quotes."""
    problems = Problems()
    files = TopicFiles(Folder(folder, problems).file, problems)
    for topic in files.topics(program.judged):
        yield from (
            judgement for judgement in program.judgements(files.of(topic)) if judgement.quoted
        )
