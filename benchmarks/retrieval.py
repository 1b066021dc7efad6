"""BM25 over made-up passages: time, memory and size of an index, and searches per second.

The passages are read from a JSONL file, as `judge index` reads them. Their words follow Zipf's law;
the most frequent are stop words. A passage has 100 words on average. To use more passages:
`python -m benchmarks.retrieval --passages 500000`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from .processes import measure, peak_mb
from .tables import Bound, Report

N_PASSAGES, N_SMOKE, N_FEW = 100_000, 10_000, 1_000
N_WORDS = 500_000  # different ones that may occur
N_QUERIES, HITS = 500, 100
QUERY_WORDS = 8  # in a row from one passage, stop words among them
MAX_BYTES, MAX_BYTES_SMOKE = 3_500, 6_000  # of few passages nearly every word is a new one
_PASSAGES, _INDEX = "passages.jsonl", "bm25"
_LETTERS = "etaoinshrdlucmfw"  # a word for every number: a letter for each four bits
_CHUNK = 1_000


def bench(is_smoke: bool) -> Report:
    """Index and search, each in a process of its own."""
    return bench_with(N_SMOKE if is_smoke else N_PASSAGES)


def bench_with(n_passages: int) -> Report:
    """The same with any number of passages, more than N_FEW."""
    with tempfile.TemporaryDirectory() as folder:
        measure("retrieval", step="write", folder=folder, n=n_passages)
        few = measure("retrieval", step="index", folder=folder, n=N_FEW)
        made = measure("retrieval", step="index", folder=folder, n=n_passages)
        used = measure("retrieval", step="search", folder=folder, n=n_passages)
    growth = (made["peak_mb"] - few["peak_mb"]) * 1e6 / (n_passages - N_FEW)
    most = MAX_BYTES if n_passages >= N_PASSAGES else MAX_BYTES_SMOKE
    size = made["disk_mb"] * 1e6 / n_passages
    return Report(
        f"BM25 over {n_passages:,} passages of 100 words, the best {HITS} each",
        [
            ("step", "seconds", "a second", "peak MB"),
            _row("index passages and save", made, "index", n_passages),
            _row("open", used, "open", 1),
            _row(f"search {N_QUERIES} queries", used, "search", N_QUERIES),
        ],
        [Bound("memory of indexing", growth, most, "bytes a passage")],
        [f"index on disk: {made['disk_mb']:.0f} MB, {size:.0f} bytes a passage"],
    )


def main(step: str, folder: str, n: int) -> dict[str, float]:
    """Take one step in this process: write n passages, index the first n, or search them."""
    return {"write": _write, "index": _index, "search": _search}[step](Path(folder), n)


def _row(name: str, figures: dict[str, float], step: str, n: int) -> tuple[str, ...]:
    seconds, peak = figures[f"{step}_s"], figures.get(f"{step}_mb", figures["peak_mb"])
    return (name, f"{seconds:.2f}", f"{n / seconds:,.0f}", f"{peak:.0f}")


def _write(folder: Path, n: int) -> dict[str, float]:
    import numpy as np
    import orjson

    from nuggetjudge.retrieval.english import STOP_WORDS

    rng = np.random.default_rng(0)
    words = sorted(STOP_WORDS) + [_word(number) for number in range(N_WORDS)]
    shares = np.cumsum((np.arange(len(words)) + 2.7) ** -1.1)  # Mandelbrot's form of the law
    with (folder / _PASSAGES).open("wb") as stream:
        for first in range(0, n, _CHUNK):
            lengths = rng.integers(60, 141, size=min(_CHUNK, n - first))
            drawn = np.searchsorted(shares, rng.random(lengths.sum()) * shares[-1])
            ends = np.cumsum(lengths)
            for number, (length, end) in enumerate(zip(lengths, ends, strict=True), first):
                text = " ".join(words[i] for i in drawn[end - length : end])
                stream.write(orjson.dumps({"docid": f"p{number}", "text": text}) + b"\n")
    return {}


def _word(number: int) -> str:
    letters = []
    while number:
        number, digit = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[digit])
    return "q" + "".join(letters)


def _index(folder: Path, n: int) -> dict[str, float]:
    from nuggetjudge.records import Problems
    from nuggetjudge.retrieval.bm25 import Bm25
    from nuggetjudge.retrieval.corpus import stream_passages

    began = time.perf_counter()
    passages = stream_passages([folder / _PASSAGES], Problems())
    Bm25.build(islice(passages, n)).save(folder / _INDEX)
    index_s = time.perf_counter() - began
    disk = sum(path.stat().st_size for path in (folder / _INDEX).iterdir())
    return {"index_s": index_s, "peak_mb": peak_mb(), "disk_mb": disk / 1e6}


def _search(folder: Path, n: int) -> dict[str, float]:
    import orjson

    from nuggetjudge.retrieval.bm25 import Bm25

    with (folder / _PASSAGES).open("rb") as stream:
        rows = map(orjson.loads, islice(stream, 0, None, max(1, n // N_QUERIES)))
        texts = [row["text"] for row in islice(rows, N_QUERIES)]
    queries = [" ".join(text.split()[:QUERY_WORDS]) for text in texts]
    began = time.perf_counter()
    bm25 = Bm25.open(folder / _INDEX)
    open_s, open_mb, began = time.perf_counter() - began, peak_mb(), time.perf_counter()
    rankings = bm25.search(queries, HITS)
    search_s = time.perf_counter() - began
    if not all(rankings):
        raise AssertionError("a query made of a passage's words found nothing")
    return {"open_s": open_s, "open_mb": open_mb, "search_s": search_s, "peak_mb": peak_mb()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    parser.add_argument("--passages", type=int, default=N_PASSAGES, metavar="N")
    report = bench_with(parser.parse_args().passages)
    sys.stdout.write(f"{report.text()}\n")
    sys.exit(0 if report.is_within else 1)
