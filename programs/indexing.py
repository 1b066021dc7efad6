"""`judge index`: the indexes that first stages search, made from passages once and opened again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from ..backends.budget import Usage
from ..records.judgements import Judged
from ..records.lines import first_line
from ..records.problems import InputError, Problems
from ..records.rows import Passage
from ..retrieval.corpus import stream_passages
from ..retrieval.embeddings import CachedEncoder
from ..retrieval.encoders import SentenceEncoder
from ..retrieval.scored import Encoder, Retriever
from .pipeline import Bm25Step, DenseStep, FirstStage, ImpactStep, LuceneStep, SpladeStep
from .progress import ProgressBar
from .writing import check_writable

COLLECTION = "collection.json"  # which passages the indexes of a folder were made from
Indexed = Bm25Step | DenseStep | SpladeStep | LuceneStep | ImpactStep

# The settings of a step that its index depends on; the others are those of a search.
_MADE_WITH: dict[type[FirstStage], tuple[str, ...]] = {
    Bm25Step: ("k1", "b"),
    DenseStep: ("model", "query_prefix", "passage_prefix", "normalise", "faiss"),
    SpladeStep: ("model",),
    LuceneStep: (),
    ImpactStep: ("model",),
}


class Indexes:
    """The indexes of one collection of passages.

    Args:
        passages: passage files; may be empty where all indexes are in `folder`.
        folder: where `judge index` put them; None: they are made in `work` and not kept.
        work: a folder for what is made on the way.
    """

    def __init__(
        self,
        passages: Sequence[Path],
        folder: Path | None,
        work: Path,
        problems: Problems,
        *,
        quiet: bool,
    ) -> None:
        self._passages = passages
        self._folder = folder
        self._work = work
        self._problems = problems
        self._quiet = quiet
        self._opened: dict[str, Retriever] = {}
        if folder is not None and passages:
            _check_collection(folder, passages)

    def open(self, step: Indexed) -> Retriever:
        """What searches for a step. Raises: InputError if it cannot be made or opened."""
        if isinstance(step, LuceneStep | ImpactStep) and step.index is not None:
            path = Path(step.index)
            return _open_lucene(step, path if path.exists() else step.index)
        name = name_of_index(step)
        if self._folder is not None:
            return _open(step, self._folder / name)
        if not self._passages:
            raise InputError("no passages: name files of them (data.passages, --passages)")
        if not (self._work / name).exists():
            self._build(step, self._work / name)
        return _open(step, self._work / name)

    def _build(self, step: Indexed, folder: Path) -> None:
        build_index(step, self._passages, folder, self._problems, quiet=self._quiet)


def make_indexes(
    steps: Sequence[FirstStage], passages: Sequence[Path], folder: Path, *, quiet: bool = True
) -> dict[str, Any]:
    """Make the index of each step in `folder`; one that stands there is made again.

    Returns: the number of passages, the names of the indexes, the problems of the passage files.
    Raises: InputError for bad passages, a folder of other passages' indexes, or a missing extra.
    """
    indexed = [step for step in steps if isinstance(step, Indexed)]
    if not indexed:
        wanted = ", ".join(each.__name__.removesuffix("Step").lower() for each in _MADE_WITH)
        raise InputError(f"no step of the pipeline has an index: wanted one of {wanted}")
    check_writable(folder)
    hashes = _hashes(passages)
    if folder.exists() and any(folder.iterdir()):
        _check_collection(folder, passages)
    folder.mkdir(parents=True, exist_ok=True)
    problems = Problems()
    (folder / COLLECTION).write_bytes(orjson.dumps({"passages": hashes}))
    n = 0
    for step in indexed:
        problems = Problems()
        where = folder / name_of_index(step)
        n = build_index(step, passages, where, problems, quiet=quiet)
    names = list(dict.fromkeys(map(name_of_index, indexed)))
    return {"passages": n, "indexes": names, "problems": problems.counts()}


def build_index(
    step: Indexed, passages: Sequence[Path], folder: Path, problems: Problems, *, quiet: bool
) -> int:
    """Make one index; the number of passages in it."""
    for path in passages:
        if not first_line(path):
            raise InputError(f"{path}:1: the file is empty, wanted passages")
    n = 0

    def counted(found: Iterable[Passage], bar: ProgressBar) -> Iterator[Passage]:
        nonlocal n
        done = Judged({})
        for passage in found:
            n += 1
            bar.advance(done)
            yield passage

    total = sum(map(_n_lines, passages))
    with ProgressBar(f"index {step.step}", total, Usage(), quiet=quiet) as bar:
        _build(step, counted(stream_passages(passages, problems), bar), folder)
    return n


def name_of_index(step: Indexed) -> str:
    """The folder of a step's index: its kind, and a hash of the settings it is made with."""
    settings = [getattr(step, name) for name in _MADE_WITH[type(step)]]
    digest = hashlib.sha256(orjson.dumps(settings)).hexdigest()[:8]
    return f"{step.step}-{digest}"


def encoder_of(model: str, **settings: Any) -> Encoder:
    """A sentence-transformers model whose vectors are kept on disk."""
    return CachedEncoder(SentenceEncoder(model, **settings), None)


def _encoder(step: DenseStep) -> Encoder:
    return encoder_of(
        step.model,
        query_prefix=step.query_prefix,
        passage_prefix=step.passage_prefix,
        normalise=step.normalise,
    )


def _build(step: Indexed, passages: Iterable[Passage], folder: Path) -> None:
    if isinstance(step, Bm25Step):
        from ..retrieval.bm25 import Bm25

        Bm25.build(passages, k1=step.k1, b=step.b).save(folder)
    elif isinstance(step, DenseStep):
        from ..retrieval.dense import Dense

        Dense.build(passages, _encoder(step), folder, faiss=step.faiss)
    elif isinstance(step, SpladeStep):
        from ..retrieval.splade import Splade, SpladeEncoder

        Splade.build(passages, SpladeEncoder(step.model), folder)
    elif isinstance(step, LuceneStep):
        from ..retrieval.lucene import build_lucene

        build_lucene(passages, folder)
    else:
        from ..retrieval.lucene_impact import build_impact
        from ..retrieval.splade import SpladeEncoder

        build_impact(passages, SpladeEncoder(step.model), folder)


def _open(step: Indexed, folder: Path) -> Retriever:
    if isinstance(step, Bm25Step):
        from ..retrieval.bm25 import Bm25

        return Bm25.open(folder)
    if isinstance(step, DenseStep):
        from ..retrieval.dense import Dense

        return Dense.open(folder, _encoder(step), faiss_search=step.faiss_search)
    if isinstance(step, SpladeStep):
        from ..retrieval.splade import Splade, SpladeEncoder

        return Splade.open(folder, SpladeEncoder(step.model))
    return _open_lucene(step, folder)


def _open_lucene(step: LuceneStep | ImpactStep, index: Path | str) -> Retriever:
    """An index of ours by its path; a text is the path or the name of a prebuilt one."""
    if isinstance(step, LuceneStep):
        from ..retrieval.lucene import Lucene

        return Lucene(index, k1=step.k1, b=step.b, rm3=step.rm3, rocchio=step.rocchio)
    from ..retrieval.lucene_impact import LuceneImpact
    from ..retrieval.splade import SpladeEncoder

    return LuceneImpact(index, SpladeEncoder(step.model))


def _check_collection(folder: Path, passages: Sequence[Path]) -> None:
    """Raise InputError unless the indexes of a folder are of these passages."""
    try:
        made_from = orjson.loads((folder / COLLECTION).read_bytes())["passages"]
    except (OSError, ValueError, TypeError, KeyError):
        what = f"{COLLECTION} is missing or broken; name another folder, or make it by judge index"
        raise InputError(f"{folder}: no folder of indexes, {what}") from None
    if made_from != _hashes(passages):
        what = "the indexes there were made from other passages"
        raise InputError(f"{folder}: {what}; make them again in another folder (judge index)")


def _hashes(passages: Sequence[Path]) -> list[str]:
    found = []
    for path in passages:
        try:
            with path.open("rb") as stream:
                found.append(hashlib.file_digest(stream, "sha256").hexdigest())
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    return found


def _n_lines(path: Path) -> int:
    """About how many passages a file has, for the progress bar; 0 for a compressed one."""
    if path.suffix == ".gz":
        return 0
    with suppress(OSError), path.open("rb") as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
    return 0
