"""Results files as Arrow: a schema each, and batches of rows that fit it, a few rows in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..programs.engine.folders.spending import SPEND
from ..programs.engine.manifest import read_manifest
from ..programs.engine.results import ALWAYS
from ..programs.protocols.table import program_files
from ..records.agentic.traces import TRACE
from ..records.reading.lines import json_lines
from ..records.reading.problems import InputError, Problems
from .columns import COLUMNS, Kind, Named, Pairs
from .fitting import MisfitError, fitted, kind_of_value

if TYPE_CHECKING:
    import pyarrow

ROWS = 2_000  # of a batch
_ABOUT = "nuggetjudge."  # what the names in a schema's metadata begin with


@dataclass(frozen=True)
class ResultsTable:
    """A file of JSON lines in a results folder.

    Attributes:
        name: of the file, without its ending. kinds: the type of each column, in order; first
            those that every such file has, then what else stands in this one, such as the ids of
            items.
        about: of the run, for the schema: version of nuggetjudge, fingerprint, whether partial.
    """

    path: Path
    kinds: Mapping[str, Kind]
    about: Mapping[str, str]

    @property
    def name(self) -> str:
        """Of the file, without its ending."""
        return self.path.stem

    def schema(self) -> pyarrow.Schema:
        """Its columns as Arrow types; all may be null."""
        import pyarrow

        fields = [pyarrow.field(name, _arrow(kind)) for name, kind in self.kinds.items()]
        metadata = {f"{_ABOUT}{name}": value for name, value in self.about.items()}
        return pyarrow.schema(fields, {**metadata, f"{_ABOUT}file": self.path.name})

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Its rows, in order. Raises: InputError with the line of one that does not fit."""
        import pyarrow

        schema, rows = self.schema(), self._rows()
        while batch := list(islice(rows, ROWS)):
            yield pyarrow.RecordBatch.from_pylist(batch, schema)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for number, row in _lines(self.path):
            try:
                yield {name: fitted(row[name], self.kinds[name], name) for name in row}
            except MisfitError as error:
                raise InputError(f"{self.path}:{number}: {error}") from None


def tables_in(folder: Path) -> list[ResultsTable]:
    """Every file of JSON lines that a run wrote into a folder. Raises: InputError if it is none."""
    manifest = read_manifest(folder)
    about = {"version": str(manifest.get("versions", {}).get("nuggetjudge", ""))}
    about["fingerprint"] = manifest["fingerprint"]
    if manifest.get("partial"):
        about["partial"] = "true"
    names = dict.fromkeys((*ALWAYS, *program_files(), TRACE, SPEND))
    paths = [folder / name for name in names if name.endswith(".jsonl")]
    return [ResultsTable(path, _kinds(path), about) for path in paths if path.is_file()]


def check_elsewhere(folder: Path, out: Path) -> None:
    """Raise InputError if an export would be written among the results that it is of."""
    if out.resolve() == folder.resolve():
        raise InputError(f"{out}: is the results folder; name another --out")


def _kinds(path: Path) -> dict[str, Kind]:
    """The columns of a file: the known ones, and by their values those that are not."""
    described = COLUMNS.get(path.name, {})
    further: dict[str, Kind | None] = {}
    for _, row in _lines(path):
        for name in row.keys() - described.keys():
            further[name] = kind_of_value(row[name], further.get(name))
    return {**described, **{name: further[name] or "text" for name in sorted(further)}}


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    problems = Problems()
    for number, row in json_lines(path, problems):
        problems.raise_errors()
        yield number, row
    problems.raise_errors()


def _arrow(kind: Kind) -> pyarrow.DataType:
    import pyarrow

    if isinstance(kind, str):
        return {
            "int": pyarrow.int64(),
            "rating": pyarrow.int64(),
            "float": pyarrow.float64(),
            "bool": pyarrow.bool_(),
        }.get(kind, pyarrow.string())
    if isinstance(kind, list):
        return pyarrow.list_(_arrow(kind[0]))
    if isinstance(kind, Pairs):
        pair = [("key", pyarrow.string()), ("value", _arrow(kind.value))]
        return pyarrow.list_(pyarrow.struct(pair))
    fields = kind.fields if isinstance(kind, Named) else kind
    return pyarrow.struct([(name, _arrow(each)) for name, each in fields.items()])
