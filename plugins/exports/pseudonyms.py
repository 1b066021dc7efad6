"""Pseudonyms for runs and teams, by a secret that stands in a file apart."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from ...records.reading.fields import as_id
from ...records.reading.lines import json_lines, parse_json, text_lines
from ...records.reading.problems import InputError, Problems
from ...records.reading.settings import read_json_file
from ...records.writing import write_file

_DIGITS = 8
_OF_NAMES = ("run_id", "team_id")  # fields that hold some
_COLUMNS = re.compile(r"[\s,]+")
_FORMAT = "nuggetjudge.pseudonyms/1"
# What of an answer is about its topic, its task or its text, and not about who made it.
_KEPT = frozenset(
    ("topic_id", "narrative_id", "request_id", "narrative", "title", "topic", "task", "type",
     "collection_ids", "limit", "word_limit", "answer", "responses", "references",
     "response_length", "documents", "ranking", "failed", "metadata")
)  # fmt: skip


class _Key(BaseModel):
    """A key file: who is behind each pseudonym."""

    model_config = ConfigDict(extra="forbid")
    format: str = _FORMAT
    secret: str = Field(min_length=16)
    runs: dict[str, str] = {}
    teams: dict[str, str] = {}


@dataclass
class Pseudonyms:
    """Names and their pseudonyms, which follow from the secret and the name alone.

    So two exports with one key file give a run one pseudonym, and a run added later changes no
    other's.

    Attributes:
        runs, teams: real name -> pseudonym.
        dropped: fields of metadata that were left out, with how often.
    """

    secret: str
    runs: dict[str, str] = field(default_factory=dict)
    teams: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> Pseudonyms:
        """That of a key file; where there is none, one with a secret drawn by the system.

        Raises: InputError for any other file.
        """
        if not path.exists():
            return cls(secrets.token_hex(16))
        key = read_json_file(path, _Key, _FORMAT, "a key file of judge export --pseudonyms")
        runs, teams = ({name: to for to, name in of.items()} for of in (key.runs, key.teams))
        return cls(key.secret, runs, teams)

    def write(self, path: Path) -> None:
        """The key: who is behind each pseudonym; for its owner's eyes alone (mode 0600)."""
        runs, teams = (
            {to: name for name, to in sorted(of.items(), key=lambda one: one[1])}
            for of in (self.runs, self.teams)
        )
        key = _Key(secret=self.secret, runs=runs, teams=teams)
        write_file(path, key.model_dump_json(indent=2) + "\n")
        os.chmod(path, 0o600)

    def run(self, name: str) -> str:
        """The pseudonym of a run, `run-` and 8 hex digits."""
        return self._of("run", self.runs, name)

    def team(self, name: str) -> str:
        """The pseudonym of a team."""
        return self._of("team", self.teams, name)

    def _of(self, kind: str, pseudonyms: dict[str, str], name: str) -> str:
        if name not in pseudonyms:
            digest = hmac.new(self.secret.encode(), f"{kind} {name}".encode(), hashlib.sha256)
            pseudonym = f"{kind}-{digest.hexdigest()[:_DIGITS]}"
            if pseudonym in pseudonyms.values():
                raise InputError(f"{kind} {name!r}: its pseudonym is taken; take another secret")
            pseudonyms[name] = pseudonym
        return pseudonyms[name]

    def answers(self, path: Path, run_id: str) -> bytes:
        """A run file under pseudonyms, a line for each of its answers.

        What says who answered is left out. Texts stay as they are: they were judged.

        Args:
            run_id: that of answers that name none.
        """
        problems, lines = Problems(), []
        for _, row in json_lines(path, problems):
            inner = row.get("metadata")
            holder = inner if isinstance(inner, dict) else row
            named = {"run_id": self.run(as_id(holder.get("run_id")) or run_id)}
            if (team := as_id(holder.get("team_id"))) is not None:
                named["team_id"] = self.team(team)
            renamed = {**self._without_names(row), **({} if isinstance(inner, dict) else named)}
            if isinstance(inner, dict):
                renamed["metadata"] = {**named, **self._without_names(inner)}
            lines.append(orjson.dumps(renamed, option=orjson.OPT_APPEND_NEWLINE))
        problems.raise_errors()
        return b"".join(lines)

    def _without_names(self, row: Mapping[str, Any]) -> dict[str, Any]:
        for name in row.keys() - _KEPT - {"run_id", "team_id"}:
            self.dropped[name] = self.dropped.get(name, 0) + 1
        return {name: value for name, value in row.items() if name in _KEPT}

    def rankings(self, path: Path) -> bytes:
        """A TREC run file with the pseudonym of its tag, the sixth column."""
        lines = []
        for number, line in text_lines(path):
            columns = line.split()
            if len(columns) != 6:
                raise InputError(f"{path}:{number}: {len(columns)} columns, wanted 6")
            lines.append("\t".join([*columns[:5], self.run(columns[5])]) + "\n")
        return "".join(lines).encode()

    def check(self, path: Path) -> None:
        """Raise InputError for another input that names runs, known ones or in fields of theirs."""
        names = {*self.runs, *self.teams, *_OF_NAMES}
        for number, line in text_lines(path):
            if name := next((value for value in _values(line) if value in names), None):
                what = f"has {name!r}, and names in such a file cannot be put under pseudonyms"
                raise InputError(f"{path}:{number}: {what}")

    def is_in(self, text: str) -> bool:
        """Whether the name of a run or a team stands in a text, in letters of any case."""
        return any(name.lower() in text.lower() for name in (*self.runs, *self.teams))

    def leaks(self, files: Mapping[str, Path]) -> list[str]:
        """`name:line` of each line of these files where a name is a whole value."""
        names = {*self.runs, *self.teams}
        return [
            f"{name}:{number}"
            for name, path in files.items()
            for number, line in text_lines(path)
            if not names.isdisjoint(_values(line))
        ]


def _values(line: str) -> Iterator[str]:
    """Texts of a line of JSON, names of fields among them; else its columns."""
    try:
        value = parse_json(line)
    except ValueError:
        yield from filter(None, _COLUMNS.split(line))
        return
    yield from _texts(value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value
