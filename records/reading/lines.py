"""Numbered lines of a text file, and the SHA-256 of a file.

Files are plain or gzip, in UTF-8, with JSON or other text.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import zlib
from array import array
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, TextIO, cast

import orjson

from .problems import InputError, Problems, check_no_pipe, unreadable


def is_gzip(path: Path) -> bool:
    """Whether the content of a file is gzip, whatever its name.

    Raises: OSError if it does not exist; InputError if it is a pipe.
    """
    check_no_pipe(path)
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def open_bytes(path: Path) -> IO[bytes]:
    """Open for reading, decompressing gzip.

    Raises: InputError if the file is missing, cannot be read, or is an edited result file.
    """
    check_digest(path)
    try:
        return cast(IO[bytes], gzip.open(path, "rb")) if is_gzip(path) else path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None


def open_text(path: Path) -> TextIO:
    """Open for reading as UTF-8 (a byte order mark is dropped), decompressing gzip.

    Raises: see `open_bytes`.
    """
    return io.TextIOWrapper(cast(Any, open_bytes(path)), encoding="utf-8-sig", newline="\n")


def raw_lines(path: Path) -> Generator[tuple[int, str], None, None]:
    """Yield (line number from 1, line with its end) for every line.

    Raises: InputError naming the line where the file stops being UTF-8 or gzip.
    """
    number = 0
    with open_text(path) as stream:
        try:
            # Decoded line by line, so that the number of the undecodable line is known.
            for number, raw in enumerate(stream.buffer, 1):
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}:{number}: not UTF-8 text ({error}); save it as UTF-8"
            ) from None
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path}:{number + 1}: cannot be read ({error})") from None


def text_lines(path: Path) -> Generator[tuple[int, str], None, None]:
    """Yield (line number from 1, line without its end) for each line that is not blank.

    Raises: see `raw_lines`.
    """
    for number, line in raw_lines(path):
        if line.strip():
            yield number, line.rstrip("\r\n")


def first_line(path: Path) -> str:
    """The first non-blank line, without surrounding white space; "" if there is none."""
    with closing(text_lines(path)) as lines:
        return next((line.strip() for _, line in lines), "")


def is_json(path: Path) -> bool:
    """Whether the file starts like JSON: with an object or an array."""
    return first_line(path).startswith(("{", "["))


def has_lines(path: Path) -> bool:
    """Whether each line of a file is separate JSON, readable at its byte offset."""
    try:
        return not is_gzip(path) and is_json(path) and not _is_document(path)
    except InputError:  # a workbook, or another encoding
        return False


def line_starts(path: Path) -> array[int]:
    """The byte offset of each line of an uncompressed file, and the end of the last.

    Raises: OSError if the file cannot be read.
    """
    with path.open("rb") as stream:
        return array("q", accumulate(map(len, stream), initial=0))


def json_lines(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) for each line; a line that is not a JSON object is an error.

    `NaN`, which JSON does not allow but real files contain, is read as null.
    """
    for number, line in text_lines(path):
        try:
            row = parse_json(line)
        except ValueError as error:
            problems.error(path, number, "bad_json", f"not JSON ({error}), wanted an object")
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            got = type(row).__name__
            problems.error(path, number, "bad_json", f"JSON {got}, wanted an object")


def json_records(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Like `json_lines`, but a file that starts with an array, or a bare brace, is one document.

    Such a document is read whole, must be an object or an array of objects, and counts as
    line 1.
    """
    if not _is_document(path):
        yield from json_lines(path, problems)
        return
    try:
        document = parse_json("\n".join(line for _, line in text_lines(path)))
    except ValueError as error:
        wanted = "wanted one object a line, one object, or an array of objects"
        problems.error(path, 1, "bad_json", f"not JSON ({error}), {wanted}")
        return
    for index, row in enumerate(document if isinstance(document, list) else [document]):
        if isinstance(row, dict):
            yield 1, row
        else:
            got = f"item {index} of the array is JSON {type(row).__name__}"
            problems.error(path, 1, "bad_json", f"{got}, wanted an object")


def parse_json(text: str | bytes) -> Any:
    """Parse JSON, with NaN as null; ValueError if it is invalid, or holds half a character."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        line = f"line {error.lineno} " if error.lineno > 1 else ""  # of a document: a line has one
        try:
            value = json.loads(text, parse_constant=lambda _: None)
            orjson.dumps(value)  # rejects lone surrogates, which json.loads accepts
        except (ValueError, TypeError, RecursionError):
            raise ValueError(f"{error.msg} at {line}column {error.colno}") from None
        return value


def _is_document(path: Path) -> bool:
    """Whether a JSON file is one array or one object instead of one object per line."""
    first = first_line(path)
    return first.startswith("[") or first == "{"


MANIFEST = "manifest.json"
FILES = "files"  # field of a manifest: the SHA-256 of each file of the run, by name
_State = tuple[int, ...]  # of a file: it differs after each change


def hash_file(path: Path) -> str:
    """SHA-256 of a file. Raises: InputError if it cannot be read."""
    check_no_pipe(path)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None


def check_digest(path: Path) -> None:
    """Raise InputError for a result file that was edited after its run wrote it.

    A process hashes a file once, and again if it changes. Files of earlier versions have no digest
    in their manifest, and pass.
    """
    manifest = path.parent / MANIFEST
    if (state := _state(manifest)) is None or (own := _state(path)) is None:
        return
    wanted = _digests(manifest, state).get(path.name)
    if wanted is not None and wanted != _hash(path, own):
        what = "was edited after the run wrote it (its SHA-256 is not the one in manifest.json)"
        todo = "restore it, or start the run again; edit a copy in another folder"
        raise InputError(f"{path}: {what}; {todo}")


def _state(path: Path) -> _State | None:
    try:
        at = os.stat(path)
    except OSError:
        return None
    return at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns


@lru_cache(maxsize=256)
def _digests(manifest: Path, state: _State) -> Mapping[str, str]:
    """The digests in one of our manifests; empty for another file, or a broken one."""
    try:
        row = orjson.loads(manifest.read_bytes())
    except (OSError, ValueError):
        return {}
    files = row.get(FILES) if isinstance(row, dict) and "fingerprint" in row else None
    return files if isinstance(files, dict) else {}


@lru_cache(maxsize=4096)
def _hash(path: Path, state: _State) -> str:
    return hash_file(path)
