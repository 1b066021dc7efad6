"""Lucene's indexes: written and opened through the Anserini that Pyserini ships."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import orjson

from ...records.reading.problems import InputError, need
from ..index_files import ABOUT, new_index, open_index
from ..scored import Ranked, Scored
from .java import EXTRA, run_java, start_java

BUFFER_MB = 256  # of the indexer; its own default is 4096, more than many machines' Java may use


def write_index(
    rows: Iterable[Mapping[str, Any] | None],
    folder: Path,
    kind: str,
    settings: Mapping[str, Any],
    *flags: str,
) -> None:
    """Index rows of Anserini's JSON formats, streamed: memory does not grow with their number.

    Args:
        rows: one per passage; None for a passage that nothing can find.
        flags: of io.anserini.index.IndexCollection, `-collection` among them.

    Raises: InputError if it fails or leaves rows out; as index_files.new_index.
    """
    with new_index(folder, kind, settings) as draft:
        source = draft.path / "source"
        source.mkdir()
        n_written = 0
        with (source / "passages.jsonl").open("wb") as file:
            for draft.n_passages, row in enumerate(rows, 1):
                if row is not None:
                    file.write(orjson.dumps(row) + b"\n")
                    n_written += 1
        paths = ("-input", source, "-index", draft.path, "-memoryBuffer", str(BUFFER_MB))
        run_java("io.anserini.index.IndexCollection", *paths, *flags, "-threads", "1", "-quiet")
        shutil.rmtree(source)
        if draft.n_passages and (n := _count(draft.path)) != n_written:
            raise InputError(f"{folder}: Lucene indexed {n} passages, wanted {n_written}")


def open_searcher(
    name: str, index: Path | str, kind: str, settings: Mapping[str, Any] | None = None
) -> tuple[Any, Path, Mapping[str, Any]]:
    """Open an index with a searcher class of io.anserini.search.

    Args:
        index: a folder; or, as text, the name of an index that Pyserini downloads.
        kind, settings: checked where the index is one of ours (index_files.open_index).

    Returns: the Java object, the folder of the index, and the settings that it was made with.
    Raises: InputError as java.start_java and index_files.open_index, and if Lucene finds no index.
    """
    jnius = start_java()
    folder = _downloaded(index) if isinstance(index, str) else index
    made_with: Mapping[str, Any] = {}
    is_foreign = not (folder / ABOUT).exists() and any(folder.glob("segments_*"))
    if not is_foreign:
        made_with = open_index(folder, kind, settings).settings
    with java_errors(folder):
        return jnius.autoclass(f"io.anserini.search.{name}")(str(folder)), folder, made_with


def ranked_hits(hits: Iterable[Any]) -> Ranked:
    """What a searcher found, best first."""
    return [Scored(hit.docid, hit.score) for hit in hits]


@contextmanager
def java_errors(folder: Path) -> Iterator[None]:
    """Turn what Java throws into an InputError that names the index."""
    try:
        yield
    except start_java().JavaException as error:
        why = error.innermessage or error.classname
        again = "make it again with `judge index`"
        raise InputError(f"{folder}: Lucene cannot use this index ({why}); {again}") from None


def _count(folder: Path) -> int:
    """Documents of an index."""
    with java_errors(folder):
        searcher = start_java().autoclass("io.anserini.search.SimpleSearcher")(str(folder))
        n: int = searcher.get_total_num_docs()
        searcher.close()
    return n


def _downloaded(name: str) -> Path:
    """The folder of a prebuilt index, downloaded unless Pyserini has it already."""
    pyserini = need("pyserini.util", EXTRA)
    if name not in pyserini.TF_INDEX_INFO | pyserini.IMPACT_INDEX_INFO:
        raise InputError(f"{name!r} is no prebuilt Lucene index that Pyserini knows, nor a folder")
    try:
        with redirect_stdout(sys.stderr):
            return Path(pyserini.download_prebuilt_index(name))
    except (ValueError, OSError) as error:
        what = f"prebuilt index {name!r} cannot be downloaded ({error})"
        raise InputError(
            f"{what}: it needs a network, or make your own with `judge index`"
        ) from None
