"""Every reader of files, and the real files that it is tried with: examples, pages, results."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from undigested import forget_digests

from nuggetjudge import records
from nuggetjudge.backends.batch.ledger import Ledger
from nuggetjudge.backends.offline import RecordedTransport
from nuggetjudge.calibration.session import calibrate
from nuggetjudge.judges.custom import read_custom_judge
from nuggetjudge.judges.fitted import read_judge_file
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.journal import Journal
from nuggetjudge.programs.engine.manifest import read_folder_config
from nuggetjudge.programs.run import judge_collection, load_data
from nuggetjudge.programs.scoring.human_labels import human_labels
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records import Problems
from nuggetjudge.records.labels import item_lines, read_items
from nuggetjudge.records.scores import COLUMNS, read_scores

from .world import jobs, write_world

ROOT = Path(__file__).resolve().parents[2]
VERIFIED = ROOT / "examples" / "long2rag" / "verified.csv"
N_TOPICS, INPUTS = 2, ("claim", "source")
MAX_BYTES = 60_000  # of a sample
SUFFIXES = (".jsonl", ".yaml", ".csv", ".tsv", ".txt", ".run")
DATA = ("topics", "passages", "runs", "candidates", "nuggets", "documents", "reference",
        "questions", "retrieval", "pool", "items")  # fmt: skip
LEDGER = [
    {"batch": "nj-1", "requests": ["a1", "b2"]}, {"batch": "nj-1", "file": "file-1"},
    {"batch": "nj-1", "asked": 1.5}, {"batch": "nj-1", "id": "batch-1"},
    {"batch": "nj-1", "taken": 0}, {"batch": "nj-2", "requests": ["c3"]},
    {"batch": "nj-2", "dropped": True},
]  # fmt: skip
RECORDING = [{"messages": [{"role": "user", "content": "a"}], "text": "b", "prompt_tokens": 3}]

Read = Callable[[Path, Problems], Any]


@dataclass(frozen=True)
class Target:
    """One thing to break: a file, and what reads it.

    Attributes:
        sample: the file, undamaged.
        place: where it stands broken, below the folder that a worker has to itself.
        read: reads what is there; given the path of `place`.
    """

    reader: str
    sample: Path
    place: str
    read: Read


def _file_readers() -> dict[str, Read]:
    with VERIFIED.open(encoding="utf-8", newline="") as stream:
        verified = {(row["topic_id"], row["key_point_id"]) for row in csv.DictReader(stream)}
    names = [name for name in records.__all__ if name.startswith("read_")]
    readers: dict[str, Read] = {name: getattr(records, name) for name in names}
    for layout in COLUMNS:
        readers[f"read_scores, {layout}"] = lambda path, problems, of=layout: read_scores(
            path, problems, of
        )
    readers["read_items"] = lambda path, problems: list(
        read_items(item_lines(path, problems), INPUTS, partly=True)
    )
    with suppress(ImportError):  # the core alone
        from nuggetjudge.plugins.collections.verification import read_verification

        readers["verification sheet"] = lambda path, problems: read_verification(
            [path], verified, problems
        )
    readers["judge file"] = lambda path, _: read_judge_file(path)
    readers["own judge"] = lambda path, _: read_custom_judge(path)
    readers["config"] = lambda path, _: load_config(path, {})
    readers["journal"] = lambda path, _: _journal(path)
    readers["ledger"] = lambda path, _: Ledger(path)
    readers["recording"] = lambda path, _: RecordedTransport(path)
    return readers


def _journal(path: Path) -> None:
    """All that a run may read of it."""
    raw = path.read_bytes()
    journal = Journal(path)
    try:
        for number, digest in enumerate(dict.fromkeys(re.findall(rb'"d":"([0-9a-f]{16})"', raw))):
            if journal.recall(number, int(digest, 16)):
                journal.outcome(number)
    finally:
        journal.close()


def write_samples(folder: Path, *, with_results: bool = True) -> None:
    """Real files to break: a world, results of all programs on it, a judge file, page examples."""
    write_world(folder, N_TOPICS)
    for name, rows in (("ledger", LEDGER), ("recording", RECORDING)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    pages = [ROOT / "docs" / name for name in ("formats.md", "reference/formats.md")]
    text = "".join(page.read_text("utf-8") for page in pages).replace("<TAB>", "\t")
    for number, block in enumerate(re.findall(r"^```\w*\n(.*?)^```$", text, re.DOTALL | re.M)):
        (folder / f"page-{number}.jsonl").write_text(block, encoding="utf-8")
    if with_results:
        _write_results(folder)


def _write_results(folder: Path) -> None:
    for number, job in enumerate(jobs()):
        config = json.dumps({**job.config, "models": {"default": {"model": "lexical"}}})
        path = folder / f"config-{number}.yaml"
        path.write_text(config, encoding="utf-8")
        judge_collection(load_config(path, {"run.out": folder / f"results-{number}"}))
        forget_digests(folder / f"results-{number}")  # which would refuse a file before it is read
    shown = ROOT / "tests" / "collection"
    given = (shown / "labels" / "grounded.jsonl", str(shown / "grounded.yaml"), "threshold")
    calibrate(*given, out=folder / "fitted.json", folds=2)


def targets(folder: Path, known: Collection[tuple[str, str]] = ()) -> list[Target]:
    """Each reader with every sample that it reads without an error.

    Args:
        known: `names` of what was found in a folder of the same files; (): to be tried.
    """
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".part"]
    files += [path for path in (ROOT / "examples").rglob("*") if path.suffix in SUFFIXES]
    files = [path for path in sorted(files) if 0 < path.stat().st_size < MAX_BYTES]
    of_files = [
        Target(name, path, f"broken{path.suffix}", read)
        for name, read in _file_readers().items()
        for path in files
        if (
            (name, _named(path, folder)) in known
            if known
            else _is_read(read, path, folder / f"broken{path.suffix}")
        )
    ]
    return [*of_files, *_of_folders(folder), *_of_collections(folder)]


def names(chosen: Iterable[Target], folder: Path) -> list[tuple[str, str]]:
    """Reader and sample of each, to be found again in a copy of the folder."""
    return [(target.reader, _named(target.sample, folder)) for target in chosen]


def _named(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _of_folders(folder: Path) -> Iterator[Target]:
    """Each file that a run left, broken in its place, and what scores or compares the folder."""
    reads: dict[str, Read] = {
        "judge score DIR": lambda path, problems: score_path(path.parent, problems),
        "config of DIR": lambda path, _: read_folder_config(path.parent),
    }
    for results in sorted(folder.glob("results-*")):
        for path in sorted(results.glob("*.json*")):
            place = str(path.relative_to(folder))
            for name, read in reads.items():
                if path.name == "manifest.json" or name == "judge score DIR":
                    yield Target(name, path, place, read)
        if results.name == "results-0":
            for name in ("support.jsonl", "assignments.jsonl"):
                yield Target(
                    "judge drift OLD NEW", results / name, f"{results.name}/{name}", _drift
                )
    kinds = {"results-0": ("support.jsonl", "assignments.jsonl"), "results-6": ("labels.jsonl",)}
    for name, files in kinds.items():
        for file in files if (folder / name).is_dir() else ():
            yield Target(
                "labels of people", folder / name / file, f"people-{file}", _labels_of(name)
            )


def _drift(path: Path, problems: Problems) -> None:
    from nuggetjudge.plugins.lab.drift import read_versions

    new = path.parent.with_name("results-7")
    kind = "nuggets" if path.name == "assignments.jsonl" else "support"
    read_versions(path.parent, new, None, problems, {}, kind)


def _labels_of(results: str) -> Read:
    def read(path: Path, problems: Problems) -> None:
        human_labels(path.parent / results, path, problems, {})

    return read


def _of_collections(folder: Path) -> Iterator[Target]:
    """Each input of each program, broken among the others."""
    for number, job in enumerate(jobs()):
        if not (folder / f"config-{number}.yaml").is_file():
            continue
        for name in DATA:
            given = job.config["data"].get(name, ())
            for file in [given] if isinstance(given, str) else given:
                yield Target("inputs of a run", folder / file, file, _inputs_of(number))


def _inputs_of(number: int) -> Read:
    def read(path: Path, problems: Problems) -> None:
        load_data(load_config(path.parent / f"config-{number}.yaml", {}))

    return read


def _is_read(read: Read, sample: Path, copy: Path) -> bool:
    problems = Problems()
    shutil.copyfile(sample, copy)  # journals cut off what is torn
    try:
        outcome = read(copy, problems)
        list(outcome) if isinstance(outcome, Iterable) else None
        problems.raise_errors()
    except Exception:
        return False
    finally:
        copy.unlink()
    return True
