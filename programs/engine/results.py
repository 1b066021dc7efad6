"""A results folder while it is written: rows are written one by one; partial files are removed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ...records.judgements import Outcome, Reason, Unjudged
from ...records.reading.lines import FILES, hash_file
from ...records.reading.lines import MANIFEST as MANIFEST
from ...records.reading.problems import InputError, Problems
from ...records.traces import TRACE
from ...records.writing import Lock, NewFile, own_folder, remove, rename, write_file
from .spending import AgentWork

if TYPE_CHECKING:
    from ...agents import Limits

ALWAYS = ("scores.jsonl", "scores.eval.txt", "unjudged.jsonl", "problems.jsonl", MANIFEST)


def pretty(value: Any) -> bytes:
    """Return indented JSON with a final line break, in bytes."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


class RowWriter:
    """Writes one JSON object per line.

    Args:
        file: the open file.
    """

    def __init__(self, file: NewFile) -> None:
        self._file = file

    def write(self, row: Any) -> None:
        """Append one row.

        Args:
            row: an object that JSON can hold.
        """
        self._file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


class Results:
    """Files of a results folder, and the counts that its manifest shows.

    Files end in `.part` until `publish` gives all of them their names, the manifest last, so that
    a folder with a manifest holds one complete run. A run that fails leaves the files of the
    earlier run unchanged.

    Args:
        folder: the path of the results folder.
        names: all files that may be written here. Publishing replaces them and removes the other
            files of the earlier run.

    Attributes:
        notes: the notes of tasks for the manifest, which `Program.score` reads.

    Raises: InputError if the folder cannot be written, another process is writing it, or it has
        files of these names that no run has written.
    """

    def __init__(self, folder: Path, names: Collection[str]) -> None:
        self.folder = folder
        self._all = (*names, TRACE)
        _check_ours(folder, (*self._all, *ALWAYS))
        self._lock = _lock_folder(folder)
        self._before = list_published(folder)
        self._names: list[str] = []
        self.counts: Counter[str] = Counter()
        self.n_judged: Counter[str] = Counter()
        self.n_unjudged: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.n_calls: Counter[str] = Counter()
        self.tokens_by: defaultdict[str, Counter[str]] = defaultdict(Counter)  # by who answered
        self.labels: defaultdict[str, Counter[str]] = defaultdict(Counter)  # by judge, and members
        self.agents: dict[str, AgentWork] = {}  # by stage
        self.notes: dict[str, Any] = {}  # of programs, for the manifest
        self.missing: dict[str, tuple[str, Reason]] = {}  # by topic: the first that is not judged
        self._share_failed = 0.0
        self._unjudged = NewFile(self.part("unjudged.jsonl"))
        self._trace: NewFile | None = None

    def part(self, name: str) -> Path:
        """Return the path of a file until `publish` gives it its name.

        Args:
            name: the final name.
        """
        self._names.append(name)
        return self.folder / f"{name}.part"

    @contextmanager
    def open(self, name: str) -> Iterator[RowWriter]:
        """Open a file to write its rows: `with results.open(name) as rows: rows.write(row)`.

        Args:
            name: the name of the file.

        Returns: a context manager that gives a RowWriter.
        """
        with NewFile(self.part(name)) as file:
            yield RowWriter(file)

    def write(self, name: str, rows: Iterable[Any]) -> None:
        """Write a whole file, one row per line.

        Args:
            name: the name of the file.
            rows: objects that JSON can hold.
        """
        with self.open(name) as writer:
            for row in rows:
                writer.write(row)

    def publish(self, manifest: Mapping[str, Any]) -> None:
        """Give all files their names, and remove files of an earlier run that this run lacks.

        The manifest of a run gets the SHA-256 of each file. The manifest of a build does not,
        because its files may be edited.

        Args:
            manifest: the content of manifest.json.
        """
        self._unjudged.close()
        if self._trace is not None:
            self._trace.close()
        if "program" not in manifest:
            digests = {
                name: hash_file(self.folder / f"{name}.part") for name in sorted(self._names)
            }
            manifest = {**manifest, FILES: digests}
        write_file(self.part(MANIFEST), pretty(manifest))
        for name in (MANIFEST, *({*self._all, *self._before} - {*self._names})):
            remove(self.folder / name)
        while self._names:
            name = self._names[0]
            rename(self.folder / f"{name}.part", self.folder / name)
            del self._names[0]

    def count_outcome(
        self, stage: str, ids: Mapping[str, Any], outcome: Outcome, *, n: int = 1
    ) -> None:
        """Count an outcome; write a failed one to unjudged.jsonl.

        Args:
            stage: the name of the stage.
            ids: the ids of the item.
            outcome: its judgement, or why it failed.
            n: the number of judgements that the outcome has, >= 1.
        """
        self.n_calls[stage] += len(outcome.provenance)
        for call in outcome.provenance:
            tokens = self.tokens_by[call.model]
            tokens["prompt"] += call.prompt_tokens
            tokens["cached"] += call.cached_tokens
            tokens["completion"] += call.completion_tokens
        if not isinstance(outcome, Unjudged):
            self.n_judged[stage] += n
            return
        self.n_unjudged[stage] += n
        self.reasons[outcome.reason.value] += n
        if isinstance(topic := ids.get("topic_id"), str):
            self.missing.setdefault(topic, (stage, outcome.reason))
        why = {"reason": outcome.reason, "detail": outcome.detail, "raw": outcome.raw}
        row = {"stage": stage, **ids, "n": n, **why}
        self._unjudged.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))

    def trace(
        self, stage: str, agent: str, ids: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]
    ) -> None:
        """Write the steps of one item to trace.jsonl.

        Args:
            stage: the name of the stage.
            agent: the fingerprint of the stage's judges and settings.
            ids: the ids of the item.
            steps: the steps of the agent.
        """
        if self._trace is None:
            self._trace = NewFile(self.part(TRACE))
        for step in steps:
            where: dict[str, Any] = {"stage": stage, "item": dict(ids)}
            if step["path"] == "0":
                where["agent"] = agent
            self._trace.write(orjson.dumps({**where, **step}, option=orjson.OPT_APPEND_NEWLINE))

    def count_work(
        self, stage: str, limits: Limits, reply_limit: int, steps: Iterable[Mapping[str, Any]]
    ) -> None:
        """Count the work of an agent on one item, see `AgentWork`.

        Args:
            stage: the name of the stage.
            limits: the limits of the agent.
            reply_limit: the largest number of tokens of a reply; 0: unknown.
            steps: the steps of the agent.
        """
        self.agents.setdefault(stage, AgentWork(limits, reply_limit)).add(steps)

    def count_failed(
        self, what: str, lost: Sequence[tuple[Mapping[str, str], Reason]], n_made: int
    ) -> None:
        """Count texts to judge that nuggetjudge itself failed to make.

        Args:
            what: the name of the texts, such as `answers`.
            lost: the ids of each missing text, and the reason.
            n_made: the number of texts that were made, >= 0.
        """
        for ids, reason in lost:
            detail = f"one of the {what} to judge, which could not be made; make it again"
            self.count_outcome(what, ids, Unjudged(reason, detail))
        if lost:
            share = len(lost) / (len(lost) + n_made)
            self._share_failed = max(self._share_failed, share)

    def count(self, what: str, n: int = 1) -> None:
        """Count a fact that the manifest shows, such as a wrong quote.

        Args:
            what: the fact, in words.
            n: the number to add.
        """
        self.counts[what] += n

    @property
    def tokens(self) -> Counter[str]:
        """Return the tokens of all calls to all models."""
        tokens: Counter[str] = Counter()
        for each in self.tokens_by.values():
            tokens.update(each)
        return tokens

    @property
    def share_missing(self) -> float:
        """Return the share of judgements that failed, in [0, 1]; 0 without judgements.

        If a larger share of the texts to judge could not be made, return that share, because all
        judgements of such a text are missing.
        """
        missing, judged = self.n_unjudged.total(), self.n_judged.total()
        return max(missing / (missing + judged) if missing else 0.0, self._share_failed)

    def figures(self, problems: Problems) -> dict[str, Any]:
        """Return the counts for a manifest.

        Args:
            problems: the problems of the input files.
        """
        return {
            "problems": problems.counts(),
            "counts": dict(sorted(self.counts.items())),
            "judged": dict(self.n_judged),
            "unjudged": dict(self.n_unjudged),
            "unjudged_by_reason": dict(self.reasons),
            "labels": {name: dict(counts) for name, counts in sorted(self.labels.items())},
            "share_missing": self.share_missing,
        }

    def list_problems(self, problems: Problems) -> None:
        """Write problems.jsonl: what the readers left out, or used despite a doubt.

        Args:
            problems: the problems of the input files.
        """
        self.write(
            "problems.jsonl",
            (
                {"kind": p.kind, "action": p.action, "at": f"{p.file}:{p.line}", "what": p.what}
                for p in problems
            ),
        )

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *ended: object) -> None:
        try:
            self._unjudged.close()
            if self._trace is not None:
                self._trace.close()
        finally:
            for name in self._names:  # none is left after publish()
                (self.folder / f"{name}.part").unlink(missing_ok=True)
            self._lock.close()


def list_published(folder: Path) -> list[str]:
    """List the files that the finished run in a folder wrote, from its manifest.

    Args:
        folder: the path of the folder.

    Returns: the names; [] if the folder has no finished run, or a build wrote it.
    """
    try:
        files = orjson.loads((folder / MANIFEST).read_bytes())[FILES]
    except (OSError, ValueError, LookupError, TypeError):
        return []
    names = files if isinstance(files, dict) else ()
    return [name for name in names if name == Path(name).name]


def check_free(folder: Path, names: Collection[str]) -> None:
    """Check, without writing, that `Results` can write to a folder.

    Args:
        folder: the path of the folder.
        names: the files that will be written.

    Raises: InputError if `Results` would raise it.
    """
    _check_ours(folder, (*names, TRACE))
    if (folder / "journal" / "lock").exists():
        _lock_folder(folder).close()


def _lock_folder(folder: Path) -> Lock:
    return Lock(own_folder(folder / "journal") / "lock", f"{folder}: another run is writing there")


def _check_ours(folder: Path, names: Collection[str]) -> None:
    """Refuse a folder with files that a run would replace, such as the folder of the data."""
    ours = list_published(folder)
    if not ours and ((folder / "journal").is_dir() or (folder / MANIFEST).is_file()):
        return
    for name in names:
        if name not in (*ours, MANIFEST) and (folder / name).exists():
            raise InputError(f"{folder}: has a {name} that no run wrote; name another folder")
