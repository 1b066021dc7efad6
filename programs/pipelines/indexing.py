"""`judge index`: build and open the indexes of passages, and the encoders that pipelines share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import orjson

from ...backends.budget import Usage
from ...records.reading.lines import first_line, hash_file, is_gzip
from ...records.reading.problems import InputError, Problems
from ...records.rows import Passage
from ...records.writing import rename, write_file
from ...retrieval.corpus import stream_passages
from ...retrieval.encoders import CachedEncoder, SentenceEncoder
from ...retrieval.scored import Encoder, Retriever
from ...retrieval.splade import Splade, SpladeEncoder
from ..config.pipelines import Bm25Step, DenseStep, FirstStage, LuceneStep, SpladeStep
from ..engine.folders import check_writable_folder
from ..engine.session import ProgressBar
from .segments import Segments, write_segments


class Encoders:
    """Opens each encoder once; keeps vectors on disk, so that nothing is encoded twice.

    Args:
        cache: `run.cache` of a config: a folder for vectors; True: the user's cache; False: keep
            no vectors.
    """

    def __init__(self, cache: bool | Path) -> None:
        self._cache = cache
        self._dense: dict[tuple[str, str, str, bool], Encoder] = {}
        self._sparse: dict[str, SpladeEncoder] = {}

    def dense(
        self,
        model: str,
        query_prefix: str = "",
        passage_prefix: str = "",
        normalise: bool = True,
    ) -> Encoder:
        """Return a sentence-transformers model. Raises: InputError if it cannot be opened."""
        key = (model, query_prefix, passage_prefix, normalise)
        if key not in self._dense:
            encoder: Encoder = SentenceEncoder(
                model,
                query_prefix=query_prefix,
                passage_prefix=passage_prefix,
                normalise=normalise,
            )
            if self._cache is not False:
                folder = self._cache if isinstance(self._cache, Path) else None
                encoder = CachedEncoder(encoder, folder)
            self._dense[key] = encoder
        return self._dense[key]

    def of(self, step: DenseStep) -> Encoder:
        """Return the encoder of a dense step."""
        return self.dense(step.model, step.query_prefix, step.passage_prefix, step.normalise)

    def sparse(self, model: str) -> SpladeEncoder:
        """Return a sparse encoder of sentence-transformers. Raises: InputError as `dense`."""
        if model not in self._sparse:
            self._sparse[model] = SpladeEncoder(model)
        return self._sparse[model]

    def close(self) -> None:
        """Close the files of vectors."""
        for encoder in self._dense.values():
            if isinstance(encoder, CachedEncoder):
                encoder.close()


PASSAGES = "passages.jsonl"  # passages cut from documents
COLLECTION = "collection.json"  # names the passages behind the indexes of a folder
Indexed = Bm25Step | DenseStep | SpladeStep | LuceneStep

# Settings that the index of a step depends on; other settings only affect searches.
_MADE_WITH: dict[type[FirstStage], tuple[str, ...]] = {
    Bm25Step: ("k1", "b"),
    DenseStep: ("model", "query_prefix", "passage_prefix", "normalise", "faiss"),
    SpladeStep: ("model",),
    LuceneStep: (),
}


class Indexes:
    """The indexes of one collection of passages; each is opened once.

    Args:
        passages: passage files; may be empty if all indexes are in `folder`.
        folder: the output of `judge index`; None: indexes are made in `work` and not kept.
        work: a folder for temporary files.
        encoders: the encoders of steps.
    """

    def __init__(
        self,
        passages: Sequence[Path],
        folder: Path | None,
        work: Path,
        problems: Problems,
        encoders: Encoders,
        *,
        quiet: bool,
    ) -> None:
        self._passages = passages
        self._folder = folder
        self._work = work
        self._problems = problems
        self._quiet = quiet
        self._opened: dict[Indexed, Retriever] = {}
        self.encoders = encoders
        if folder is not None and passages:
            _check_collection(folder, passages)

    def open(self, step: Indexed) -> Retriever:
        """Return the searcher of a step. Raises: InputError if it cannot be made or opened."""
        key = step.model_copy(update={"hits": 1})  # a setting of searches
        if key not in self._opened:
            self._opened[key] = self._open(step)
        return self._opened[key]

    def _open(self, step: Indexed) -> Retriever:
        if isinstance(step, LuceneStep) and step.index is not None:
            path = Path(step.index)
            return _open_lucene(step, path if path.exists() else step.index)
        name = name_of_index(step)
        if self._folder is not None:
            return _open(step, self._folder / name, self.encoders)
        if not self._passages:
            raise InputError("no passages: add passage files (data.passages, --passages)")
        if not (self._work / name).exists():
            self._build(step, self._work / name)
        return _open(step, self._work / name, self.encoders)

    def _build(self, step: Indexed, folder: Path) -> None:
        build_problems = Problems()
        build_index(step, self._passages, folder, build_problems, self.encoders, quiet=self._quiet)
        self._problems.take(build_problems)


def make_indexes(
    steps: Sequence[FirstStage],
    passages: Sequence[Path],
    folder: Path,
    *,
    cache: bool | Path = True,
    segments: Segments | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    """Make the index of each step in `folder`; replace existing ones.

    Args:
        cache: the cache of vectors; see Encoders.
        segments: how to cut documents into passages, which are written to `passages.jsonl` there;
            None: each document is a passage.

    Returns: the number of passages, the names of indexes, the problems of passage files, and the
        numbers of `documents` and `near_duplicates`.
    Raises: InputError for bad passages, a folder with indexes of other passages, or a missing
        extra.
    """
    indexed = [step for step in steps if isinstance(step, Indexed)]
    if not indexed:
        wanted = ", ".join(each.__name__.removesuffix("Step").lower() for each in _MADE_WITH)
        raise InputError(f"no step of the pipeline has an index: wanted one of {wanted}")
    check_writable_folder(folder)
    problems, about = Problems(), {}
    if segments is not None:
        passages, about = [folder / PASSAGES], _cut(passages, folder, segments, problems)
    hashes = list(map(hash_file, passages))
    if _holds_indexes(folder):
        _check_collection(folder, passages)
    write_file(folder / COLLECTION, orjson.dumps({"passages": hashes}))
    n = 0
    counts = problems.counts()
    by_name = {name_of_index(step): step for step in indexed}
    with closing(Encoders(cache)) as encoders:
        for name, step in by_name.items():
            problems = Problems()
            n = build_index(step, passages, folder / name, problems, encoders, quiet=quiet)
    counts = {**problems.counts(), **counts}
    return {"passages": n, "indexes": list(by_name), "problems": counts, **about}


def _cut(
    documents: Sequence[Path], folder: Path, how: Segments, problems: Problems
) -> dict[str, int]:
    """Write the passages of documents to the folder, unless it has indexes of other passages."""
    part = folder / f".{PASSAGES}.part"
    try:
        cut = write_segments(documents, part, how, problems)
        if _holds_indexes(folder):
            _check_collection(folder, [part])
        rename(part, folder / PASSAGES)
    finally:
        with suppress(OSError):
            part.unlink()
    return {"documents": cut.n_documents, "near_duplicates": cut.n_near_duplicates}


def build_index(
    step: Indexed,
    passages: Sequence[Path],
    folder: Path,
    problems: Problems,
    encoders: Encoders,
    *,
    quiet: bool,
) -> int:
    """Make an index; return its number of passages."""
    for path in passages:
        if not first_line(path):
            raise InputError(f"{path}:1: the file is empty, wanted passages")
    n = 0

    def count_passages(stream: Iterable[Passage], bar: ProgressBar) -> Iterator[Passage]:
        nonlocal n
        for passage in stream:
            n += 1
            bar.step()
            yield passage

    total = sum(map(_n_lines, passages))
    with ProgressBar(f"index {step.step}", total, Usage(), quiet=quiet) as bar:
        _build(step, count_passages(stream_passages(passages, problems), bar), folder, encoders)
    return n


def name_of_index(step: Indexed) -> str:
    """Return the folder name of a step's index: its kind and a hash of its settings."""
    settings = [getattr(step, name) for name in _MADE_WITH[type(step)]]
    digest = hashlib.sha256(orjson.dumps(settings)).hexdigest()[:8]
    return f"{step.step}-{digest}"


def _build(step: Indexed, passages: Iterable[Passage], folder: Path, encoders: Encoders) -> None:
    if isinstance(step, Bm25Step):
        from ...retrieval.bm25 import Bm25

        Bm25.build(passages, k1=step.k1, b=step.b).save(folder)
    elif isinstance(step, DenseStep):
        from ...retrieval.dense import Dense

        Dense.build(passages, encoders.of(step), folder, faiss=step.faiss)
    elif isinstance(step, SpladeStep):
        Splade.build(passages, encoders.sparse(step.model), folder)
    else:
        from ...retrieval.lucene import build_lucene

        build_lucene(passages, folder)


def _open(step: Indexed, folder: Path, encoders: Encoders) -> Retriever:
    if isinstance(step, Bm25Step):
        from ...retrieval.bm25 import Bm25

        return Bm25.open(folder)
    if isinstance(step, DenseStep):
        from ...retrieval.dense import Dense

        return Dense.open(folder, encoders.of(step))
    if isinstance(step, SpladeStep):
        return Splade.open(folder, encoders.sparse(step.model))
    return _open_lucene(step, folder)


def _open_lucene(step: LuceneStep, index: Path | str) -> Retriever:
    """Open an index by its path, or a prebuilt index by its name, given as text."""
    from ...retrieval.lucene import Lucene

    return Lucene(index, k1=step.k1, b=step.b, rm3=step.rm3, rocchio=step.rocchio)


def _holds_indexes(folder: Path) -> bool:
    """Return whether a folder has more than the remains of a failed build."""
    if not folder.exists():
        return False
    ours = (COLLECTION, PASSAGES)
    return any(p.name not in ours and not p.name.startswith(".") for p in folder.iterdir())


def _check_collection(folder: Path, passages: Sequence[Path]) -> None:
    """Raise InputError unless the indexes of a folder belong to these passages."""
    try:
        made_from = orjson.loads((folder / COLLECTION).read_bytes())["passages"]
    except (OSError, ValueError, TypeError, KeyError):
        what = (
            f"{COLLECTION} is missing or broken; name another folder, or create it with judge index"
        )
        raise InputError(f"{folder}: not a folder of indexes, {what}") from None
    if made_from != list(map(hash_file, passages)):
        what = "the indexes there were made from other passages"
        raise InputError(f"{folder}: {what}; create them in another folder (judge index)")


def _n_lines(path: Path) -> int:
    """Estimate the passages of a file, for the progress bar; 0 for a compressed file."""
    with suppress(OSError), path.open("rb") as stream:
        if is_gzip(path):
            return 0
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
    return 0
