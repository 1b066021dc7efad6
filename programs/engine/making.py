"""The shared parts of every `judge build`: stages that make texts, and its own folder."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ...backends.budget import Budget
from ...records.reading.problems import InputError, Problems
from ...records.writing import write_file
from ..config.base import JudgeName
from ..config.sections import Config
from .judge_set import JudgeSet
from .manifest import (
    check_not_input,
    input_hashes,
    is_finished,
    make_fingerprint,
    make_manifest,
    read_manifest,
)
from .results import MANIFEST, Results, pretty
from .session import Session, run_session
from .stage import Item, Maker, makes

STATISTICS, DATASHEET = "statistics.json", "DATASHEET.md"


class Excluded(NamedTuple):
    """A topic that is not in the collection, and the judgement that it lacks."""

    topic_id: str
    stage: str
    reason: str


class Build(ABC):
    """One build: `make` judges and writes the files, the rest is the same for all.

    A topic that lacks a judgement is left out whole: `list_excluded` says why.

    Attributes:
        program: what the manifest calls it. judges: those that it may ask.
        files: all that it may write.
        source: what the collection is made from.
    """

    program: ClassVar[str]
    judges: ClassVar[tuple[JudgeName, ...]]
    files: ClassVar[tuple[str, ...]]

    def __init__(
        self, source: Any, session: Session, inputs: Mapping[str, str], problems: Problems
    ) -> None:
        self.source = source
        self.session = session
        self.config = session.config
        self.judge_set = session.judge_set
        self.problems = problems
        self.excluded: dict[str, Excluded] = {}
        self._inputs = inputs
        self._before = replace(session.budget.usage)

    @abstractmethod
    async def make(self, results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write all its files. Returns the statistics, and the manifest's notes about the data."""

    @abstractmethod
    def datasheet(self, manifest: Mapping[str, Any]) -> str:
        """Return the text of DATASHEET.md."""

    async def build(self) -> dict[str, Any] | None:
        """Build everything; the folder is complete when this returns the manifest.

        None: the build must run once more, see `Session.starts_again`.
        """
        began = time.monotonic()
        with Results(self.config.run.out, self.names()) as results:
            statistics, data = await self.make(results)
            if await self.session.starts_again():
                return None
            write_file(results.part(STATISTICS), pretty(statistics))
            common = make_manifest(
                self.session,
                results,
                self._inputs,
                data,
                self.problems,
                began=began,
                before=self._before,
            )
            excluded = [row._asdict() for row in self.excluded.values()]
            manifest = {"program": self.program, **common, "statistics": statistics}
            manifest |= {"excluded": excluded}
            write_file(results.part(DATASHEET), self.datasheet(manifest))
            results.publish(manifest)
            return manifest

    async def make_each(
        self,
        judge: JudgeName,
        name: str,
        make: Maker,
        items: Iterable[Item],
        results: Results,
        kind: Any,
    ) -> dict[tuple[str, ...], Any]:
        """What a judge made of each item, by its ids; topics that lack something are left out.

        Args:
            kind: the type of it; see `makes`.
        """
        chosen = list(items)
        stage = makes(name, (judge,), make, lambda: iter(chosen), made=kind, total=len(chosen))
        rows = await self.session.make_stage(stage, results)
        self.leave_out_missing(results)
        return {tuple(ids.values()): made for ids, made in rows if made is not None}

    def leave_out_missing(self, results: Results) -> None:
        """Exclude the topics that lack a judgement so far."""
        for topic_id, (stage, reason) in results.missing.items():
            self.exclude(topic_id, stage, str(reason))

    def exclude(self, topic_id: str, stage: str, reason: str) -> None:
        """Note the first judgement that a topic lacks."""
        self.excluded.setdefault(topic_id, Excluded(topic_id, stage, reason))

    def names(self) -> Sequence[str]:
        """Return all files of this build and of earlier builds, which this one replaces."""
        return self.files


def run_build(
    kind: type[Build],
    load: Callable[[Problems], Any],
    config: Config,
    *,
    quiet: bool,
    budget: Budget | None = None,
    judge_set: JudgeSet | None = None,
) -> dict[str, Any]:
    """Open what a build needs and run it; the manifest that was written.

    A finished build that is started again asks for what is missing; a killed one goes on.

    Args:
        load: reads what the collection is made from.
        budget: shared with other programs; None: that of the config.
        judge_set: judges that are open already; None: those of the config.
    """
    inputs = input_hashes(config)  # before they are read
    problems = Problems()
    source = load(problems)
    retry = is_finished(config.run.out, make_fingerprint(config, inputs), kind.program)

    async def build(session: Session) -> dict[str, Any]:
        n_problems = len(problems)
        while (manifest := await kind(source, session, inputs, problems).build()) is None:
            del problems.rows[n_problems:]  # which are found once more
        return manifest

    return run_session(
        config, kind.judges, build, retry=retry, quiet=quiet, budget=budget, judge_set=judge_set
    )


def check_build_folder(config: Config, program: str, files: Sequence[str]) -> None:
    """Raise InputError if a build would replace one of its inputs, or files that none wrote."""
    folder = config.run.out
    check_not_input(config, files)
    if (folder / MANIFEST).is_file():
        read_manifest(folder, program)
    elif not (folder / "journal").is_dir():
        for name in files:
            if (folder / name).exists():
                raise InputError(f"{folder}: has a {name} that no build wrote; name another --out")


_LICENCE = (
    "Not stated by the program. The texts keep the terms of their sources, and what was",
    "generated may be bound by those of its model. The maker has to state both.",
)


def datasheet(title: str, about: str, parts: Mapping[str, Iterable[str]]) -> str:
    """The text of a datasheet: lines under headings, the licence last, which nobody here knows.

    Holds no time, cost or address.
    """
    lines = [f"# {title}", "", about]
    for heading, part in {**parts, "Licence": _LICENCE}.items():
        lines += ["", f"## {heading}", *part]
    return "\n".join(lines) + "\n"


def sources(hashes: Mapping[str, str]) -> Iterator[str]:
    """List files by their names, with their hashes."""
    for path, digest in hashes.items():
        yield f"- `{plain(Path(path).name)}`, SHA-256 `{digest}`"


def describe_generated(manifest: Mapping[str, Any], made: Mapping[str, str]) -> Iterator[str]:
    """A table of what was made, by judge, and which models answered."""
    rows = [["what", "judge", "version", "prompts", "model"]]
    for name, what in made.items():
        if judge := manifest["judges"].get(name):
            prompts = ", ".join(judge["prompts"].values())
            model = plain(judge["model"]["model"])
            rows.append([what, judge["judge"], judge["version"], prompts, model])
    yield from table(rows)
    yield ""
    if answered := [name for name in manifest["answered_by"] if name != "lexical"]:
        yield f"The models gave their names as {', '.join(map(plain, answered))}."
    if any("lexical" in row["model"]["model"] for row in manifest["judges"].values()):
        yield "`lexical` counts shared words and is no language model: good for trying the tools."


def list_excluded(manifest: Mapping[str, Any]) -> list[str]:
    """List topics, lines of files and others that are not in the collection."""
    return [
        *(
            f"- topic `{plain(row['topic_id'])}`: {row['stage']} not made ({row['reason']})"
            for row in manifest["excluded"]
        ),
        *(f"- {n:,} {kind} (problems.jsonl)" for kind, n in manifest["problems"].items()),
        *(f"- {n:,} {what}" for what, n in manifest["counts"].items()),
    ]


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Write a Markdown table; the first row is the header."""
    header, *body = rows
    yield f"| {' | '.join(header)} |"
    yield "|" + "---|" * len(header)
    for row in body:
        yield f"| {' | '.join(row)} |"


def plain(text: str) -> str:
    """Write a name for Markdown, with odd characters replaced."""
    return "".join(c if c.isprintable() and c not in "|`<>" else "?" for c in text)
