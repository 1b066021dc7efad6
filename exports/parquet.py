"""Every results file as Parquet, for pandas, polars, DuckDB and whatever else reads columns."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path

from ..evaluation.sources import Source, opened
from ..programs.engine.results import MANIFEST
from ..records.reading.extras import need
from ..records.reading.problems import InputError
from ..records.writing.files import own_folder, remove, rename, write_file, writing
from .columns import COLUMNS
from .tables import ResultsTable, check_elsewhere, tables_in

_GROUP_BYTES = 32 * 2**20  # of rows in memory that make a row group
_GROUP_ROWS = 100_000
_ENDS = ("", ".part")  # what a kill leaves


def write(result: Source, out: str | Path) -> dict[str, int]:
    """Write each results file as `OUT/NAME.parquet`, and the manifest as JSON beside them.

    Columns are those of docs/formats.md and have the same types in every folder. A judgement that
    is missing is null, as in the files. Files that an earlier export left there are replaced.

    Args:
        result: a result or a results folder.
        out: a folder, made if it is not there; not the results folder itself.

    Returns: the number of rows by the name of the file, such as {"scores": 64}.
    Raises: InputError for a file that is none of ours, with its line, and where pyarrow is missing.

    Example: parquet.write("results/demo", "tables")
    """
    with ExitStack() as stack:
        return write_folder(opened(stack, result), Path(out))


def write_folder(folder: Path, out: Path) -> dict[str, int]:
    """As `write`, of a finished folder."""
    need("pyarrow.parquet", "parquet")
    check_elsewhere(folder, out)
    _check_ours(out)
    tables = tables_in(folder)
    own_folder(out)
    counts = {table.name: _write(table, out) for table in tables}
    for name in {Path(name).stem for name in COLUMNS} - counts.keys():
        remove(out / f"{name}.parquet")
    write_file(out / MANIFEST, (folder / MANIFEST).read_bytes())
    return counts


def _check_ours(out: Path) -> None:
    """Raise InputError for a folder with files that no export writes."""
    if not out.is_dir():
        return
    ours = {MANIFEST, *(f"{Path(name).stem}.parquet{end}" for name in COLUMNS for end in _ENDS)}
    if others := sorted(path.name for path in out.iterdir() if path.name not in ours):
        what = f"holds {others[0]}, which no export wrote"
        raise InputError(f"{out}: {what}; name another --out, or a folder of its own")


def _write(table: ResultsTable, out: Path) -> int:
    from pyarrow import RecordBatch, Table
    from pyarrow.parquet import ParquetWriter

    path, schema, n = out / f"{table.name}.parquet", table.schema(), 0
    part = path.with_name(f"{path.name}.part")
    remove(part)
    waiting: list[RecordBatch] = []
    try:
        with writing(part), ParquetWriter(part, schema, compression="zstd") as file:
            for batch in table.batches():
                n += batch.num_rows
                waiting.append(batch)
                if sum(each.nbytes for each in waiting) >= _GROUP_BYTES:
                    file.write_table(Table.from_batches(waiting, schema), _GROUP_ROWS)
                    waiting.clear()
            if waiting:
                file.write_table(Table.from_batches(waiting, schema), _GROUP_ROWS)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    rename(part, path)
    return n
