"""Kept replies as a text file: an object a line, each with what shows that it was changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import orjson

from ...records.reading.lines import json_lines
from ...records.reading.problems import Problems
from ...records.writing import write_file
from ..cache import ReplyCache

_DIGITS = 16  # of a reply's SHA-256


class StoredReplies(ReplyCache):
    """Replies of one endpoint by their keys, in memory; nothing of it is on the disk.

    Attributes:
        used: the keys that were asked for and are there. missed: those that are not.
    """

    def __init__(self, lines: Mapping[bytes, bytes] | None = None) -> None:
        self.lines: dict[bytes, bytes] = dict(lines or {})
        self.used: set[bytes] = set()
        self.missed: set[bytes] = set()

    def get(self, key: bytes) -> bytes | None:
        """The reply filed under this key, or None."""
        line = self.lines.get(key)
        (self.missed if line is None else self.used).add(key)
        return line

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        """File a reply."""
        self.lines[key] = value

    def settle(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""


def write_replies(path: Path, replies: StoredReplies) -> None:
    """Write them in the order of their keys: `key` in hex, `sha256` (16 digits), `reply`.

    `reply` has, in this order: text, finish reason, refusal, model, tokens of the prompt, of it
    from the endpoint's cache, of the reply, and tokens with log-probabilities.
    """
    rows = (
        {"key": key.hex(), "sha256": _digest(line), "reply": orjson.loads(line)}
        for key, line in sorted(replies.lines.items())
    )
    write_file(path, b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))


def read_replies(path: Path, problems: Problems) -> StoredReplies:
    """The replies of a file. One that is not what was written is used, and reported.

    Errors reported: no key, a key twice, a reply that is not the one that was written (`changed`).
    """
    lines: dict[bytes, bytes] = {}
    for number, row in json_lines(path, problems):
        try:
            key = bytes.fromhex(row["key"])
            line = orjson.dumps(row["reply"])
            written = row["sha256"]
        except (KeyError, TypeError, ValueError) as error:
            what = f"not a held reply ({error}), wanted key, sha256 and reply"
            problems.error(path, number, "no_reply", what)
            continue
        if written != _digest(line):
            what = f"the reply is not what was written: its SHA-256 is {_digest(line)}"
            problems.error(path, number, "changed", f"{what}, wanted {written}")
        if key in lines:
            problems.error(path, number, "duplicate", "a second reply of this key, wanted one")
        lines[key] = line
    return StoredReplies(lines)


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:_DIGITS]
