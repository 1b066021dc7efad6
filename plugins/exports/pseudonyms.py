"""Pseudonyms for runs and teams, from a secret in a separate file."""

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
_OF_NAMES = ("run_id", "team_id")  # fields with names
_COLUMNS = re.compile(r"[\s,]+")
_FORMAT = "nuggetjudge.pseudonyms/1"
# Fields of an answer about its topic, task or text, not about its author.
_KEPT = frozenset(
    ("topic_id", "narrative_id", "request_id", "narrative", "title", "topic", "task", "type",
     "collection_ids", "limit", "word_limit", "answer", "responses", "references",
     "response_length", "documents", "ranking", "failed", "metadata")
)  # fmt: skip


class _Key(BaseModel):
    """A key file: the name behind each pseudonym."""

    model_config = ConfigDict(extra="forbid")
    format: str = _FORMAT
    secret: str = Field(min_length=16)
    runs: dict[str, str] = {}
    teams: dict[str, str] = {}


@dataclass
class Pseudonyms:
    """Names and their pseudonyms, which depend only on the secret and the name.

    So two exports with the same key file give a run the same pseudonym, and a later run does not
    change the others.

    Attributes:
        runs, teams: real name -> pseudonym.
        dropped: fields of metadata that were left out, with their counts.
    """

    secret: str
    runs: dict[str, str] = field(default_factory=dict)
    teams: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> Pseudonyms:
        """Read a key file, or draw a new secret if the file is missing.

        Raises: InputError for any other file.
        """
        if not path.exists():
            return cls(secrets.token_hex(16))
        key = read_json_file(path, _Key, _FORMAT, "a key file of judge export --pseudonyms")
        runs, teams = ({name: to for to, name in of.items()} for of in (key.runs, key.teams))
        return cls(key.secret, runs, teams)

    def write(self, path: Path) -> None:
        """Write the key, which only its owner may read (mode 0600)."""
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
                raise InputError(f"{kind} {name!r}: its pseudonym is taken; use another key file")
            pseudonyms[name] = pseudonym
        return pseudonyms[name]

    def answers(self, path: Path, run_id: str) -> bytes:
        """A run file with pseudonyms, a line for each answer.

        Fields that identify the author are left out. Judged texts stay unchanged.

        Args:
            run_id: the run of answers that do not name one.
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
        """A TREC run file with a pseudonym as its tag, the sixth column."""
        lines = []
        for number, line in text_lines(path):
            columns = line.split()
            if len(columns) != 6:
                raise InputError(f"{path}:{number}: {len(columns)} columns, wanted 6")
            lines.append("\t".join([*columns[:5], self.run(columns[5])]) + "\n")
        return "".join(lines).encode()

    def check(self, path: Path) -> None:
        """Raise InputError for another input with names of runs, or with fields for them."""
        names = {*self.runs, *self.teams, *_OF_NAMES}
        for number, line in text_lines(path):
            if name := next((value for value in _values(line) if value in names), None):
                what = f"has {name!r}, and names in such a file cannot be replaced"
                raise InputError(f"{path}:{number}: {what}")

    def is_in(self, text: str) -> bool:
        """Whether a text contains the name of a run or a team, in upper or lower case."""
        return any(name.lower() in text.lower() for name in (*self.runs, *self.teams))

    def leaks(self, files: Mapping[str, Path]) -> list[str]:
        """`name:line` of every line of these files in which a name is a whole value."""
        names = {*self.runs, *self.teams}
        return [
            f"{name}:{number}"
            for name, path in files.items()
            for number, line in text_lines(path)
            if not names.isdisjoint(_values(line))
        ]


def _values(line: str) -> Iterator[str]:
    """The texts of a line of JSON, with its field names; otherwise the columns of the line."""
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
