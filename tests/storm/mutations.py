"""Files broken in one to three places: fields of their JSON, their lines, their bytes."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable
from typing import Any

MAX_BYTES = 200_000  # of a mutated file
RAW = (  # values as JSON writes them, some of which it does not allow
    "null", "true", "0", "-1", "1", "2.5", "1e400", "-1e400", "NaN", "-Infinity", "900000000",
    "9" * 400, "1" + "0" * 30, '""', '" "', '"a"', '"0"', '"-1"', '"1e9"', '"nan"', '"\\ud83d"',
    '"\\u0000"', '"\\u001b[31m"', '"\u202e"', '"é"', '"ａ"', '"\\n"', '"all"', "[]", "{}", "[null]",
    '["a", 1]', '{"a": 1}', '[[["a"]]]', "[" * 2000 + "]" * 2000,
    '{"a": ' * 3000 + "1" + "}" * 3000,
    '"' + "long " * 4000 + '"',
)  # fmt: skip
BYTES = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\x85", b"\xe2\x80\xa8", b"\t", b" ",
    b"\xc3", b"\xed\xa0\xbd", b"\x1b[2J", b'"', b"'", b"{", b"}", b"[", b"]", b",", b":", b"#",
    b"\\",
    b"- ", b"&a ", b"*a", b"!!python/object:os.system ", b"<<: ", b"? ", b"|", b">", b"%YAML 1.2\n",
    b"---\n", b"...\n", b"=", b"~", b"1e999", b"0x1F", b"012", b"2026-99-99", b"..", b"/", b"$HOME",
)  # fmt: skip
_NUMBER, _WORD = re.compile(rb"-?\d+(\.\d+)?"), re.compile(rb"[A-Za-z_][\w.]*")

Change = Callable[[bytes, random.Random], bytes]


def mutated(raw: bytes, chance: random.Random) -> bytes:
    """The file with one to three things wrong."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        raw = chance.choice(CHANGES)(raw, chance)[:MAX_BYTES]
    return raw


def _field(raw: bytes, chance: random.Random) -> bytes:
    """One place in one line of JSON, at any depth, becomes something else."""
    lines = raw.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        row = json.loads(lines[at])
    except (ValueError, RecursionError):
        try:
            at, lines, row = 0, [raw], json.loads(raw)
        except (ValueError, RecursionError):
            return _token(raw, chance)
    mark = f"mark{chance.random()}"
    text = json.dumps(_spoilt(row, chance, mark), ensure_ascii=False)
    value = chance.choice(RAW)
    for quoted in (f'"{mark}"', mark):
        text = text.replace(quoted, value)
    lines[at] = text.encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _spoilt(value: Any, chance: random.Random, mark: str) -> Any:
    if isinstance(value, dict | list) and value and chance.random() < 0.8:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key, copy = chance.choice(keys), value.copy()
        match chance.randrange(8):
            case 0:
                del copy[key]
            case 1 if isinstance(copy, dict):
                copy[mark + "x"] = copy.pop(key)
            case 1:
                copy.insert(key, copy[key])
            case 2:
                copy[key] = copy[chance.choice(keys)]
            case 3:
                copy[key] = [copy[key]]
            case 4:
                copy[key] = {"a": copy[key]}
            case 5:
                copy[key] = str(copy[key])
            case _:
                copy[key] = _spoilt(copy[key], chance, mark)
        return copy
    return mark


def _token(raw: bytes, chance: random.Random) -> bytes:
    """One number or word becomes another value."""
    matches = list((_NUMBER if chance.random() < 0.5 else _WORD).finditer(raw[:20_000]))
    if not matches:
        return _bytes(raw, chance)
    match = chance.choice(matches)
    new = chance.choice(RAW).encode("utf-8", "surrogatepass")
    return raw[: match.start()] + new + raw[match.end() :]


def _bytes(raw: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(raw) + 1)
    return raw[:at] + chance.choice(BYTES) + raw[at + chance.choice((0, 0, 1, 3)) :]


def _flip(raw: bytes, chance: random.Random) -> bytes:
    if not raw:
        return b"\x00"
    at = chance.randrange(len(raw))
    return raw[:at] + bytes([raw[at] ^ 1 << chance.randrange(8)]) + raw[at + 1 :]


def _lines(raw: bytes, chance: random.Random) -> bytes:
    lines = raw.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case _:
            lines[one] = lines[one] + lines[other]
    return b"\n".join(lines)


def _cut(raw: bytes, chance: random.Random) -> bytes:
    return raw[: chance.randrange(len(raw) + 1)]


def _separators(raw: bytes, chance: random.Random) -> bytes:
    one, other = chance.sample((b"\t", b" ", b",", b"\n", b":", b'"', b";"), 2)
    return raw.replace(one, other, chance.choice((1, 3, -1)))


def _whole(raw: bytes, chance: random.Random) -> bytes:
    """Something of the whole file."""
    match chance.randrange(9):
        case 0:
            return b""
        case 1:
            return b" \n\t\n"
        case 2:
            return gzip.compress(raw, mtime=0)[: chance.choice((10, 10**9))]
        case 3:
            return raw.decode("utf-8", "replace").encode("utf-16")
        case 4:
            return raw.replace(b"\n", b"\r\n")
        case 5:
            return raw + raw
        case 6:
            return b"[" + raw.replace(b"\n", b",") + b"]"
        case 7:
            return b"," * 50_000 + raw
        case _:
            return raw.replace(b"{", b'{"a":', 1)


CHANGES: tuple[Change, ...] = (
    *[_field] * 6, _token, _token, _bytes, _bytes, _flip, _lines, _cut, _separators, _whole,
)  # fmt: skip
