"""Results as a Hugging Face dataset on disk: a split a file. Nothing is uploaded, no hub asked."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ..evaluation.sources import Source, opened
from ..records.reading.extras import need
from ..records.reading.problems import InputError
from ..records.writing.files import writing
from .tables import ResultsTable, check_elsewhere, tables_in

if TYPE_CHECKING:
    from datasets import Dataset

_MARK = "dataset_dict.json"  # what `datasets.load_from_disk` looks for


def write(result: Source, out: str | Path) -> dict[str, int]:
    """Write each results file as a split of a dataset that `datasets.load_from_disk` opens.

    Columns and types are those of the Parquet files. Each split can be opened by itself, as
    `OUT/scores`. Pushing it somewhere is left to whoever wants that.

    Args:
        result: a result or a results folder.
        out: a folder for it. An earlier dataset there is replaced, anything else is not.

    Returns: the number of rows by split, such as {"scores": 64}.
    Raises: InputError for a file that is none of ours, with its line, for a folder that holds
        something else, and where `datasets` is missing.

    Example: huggingface.write("results/demo", "dataset")
    """
    with ExitStack() as stack:
        return write_folder(opened(stack, result), Path(out))


def write_folder(folder: Path, out: Path) -> dict[str, int]:
    """As `write`, of a finished folder."""
    datasets = need("datasets", "huggingface")
    check_elsewhere(folder, out)
    if out.exists() and not (out / _MARK).is_file() and (out.is_file() or any(out.iterdir())):
        raise InputError(f"{out}: holds something that is no dataset; name another --out")
    tables = tables_in(folder)
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as work:
            splits = {table.name: _split(table, Path(work)) for table in tables}
            made = Path(work) / "made"
            datasets.disable_progress_bars()
            # An empty split without a file cannot be loaded again.
            files = {name: None if split.num_rows else 1 for name, split in splits.items()}
            datasets.DatasetDict(splits).save_to_disk(made, num_shards=files)
            if out.exists():
                shutil.rmtree(out)
            made.rename(out)
    return {name: split.num_rows for name, split in splits.items()}


def _split(table: ResultsTable, work: Path) -> Dataset:
    """A file as a dataset that is read from the disk as it is wanted."""
    import pyarrow
    from datasets import Dataset, DatasetInfo, Features

    path, schema = work / f"{table.name}.arrow", table.schema()
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_stream(sink, schema) as file:
        for batch in table.batches():
            file.write_batch(batch)
    details = "".join(f"{name}: {value}\n" for name, value in table.about.items())
    info = DatasetInfo(
        description=f"{table.path.name} of a results folder of nuggetjudge.\n{details}",
        features=Features.from_arrow_schema(schema),
    )
    return Dataset.from_file(str(path), info=info)
