"""The text of a reply: its one JSON object, loops, and copies of the judged text."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

import orjson

# Tags of thoughts; the first may be missing if a chat template has written it.
THINK = "<think>"
_TAG = re.compile(r"<(/?)(?:think(?:ing)?|thoughts?|reasoning)>|\[(/?)THINK\]", re.IGNORECASE)
# The start of an object, valid or not; other braces are prose, such as {x} or \frac{1}{2}.
_START = re.compile(r"\{\s*(?:[\"'“‘`}]|\w+\s*:)")
_FENCE = "```"
_QUOTES, _OPEN, _CLOSE = "\"'“”‘’«»„", "([{\\", ")]}"
_DECORATION = " \t`*_"


class NoObjectError(ValueError):
    """Why the reply has no single object; the first argument may quote it, `complaint` does not."""

    def __init__(self, detail: str, complaint: str) -> None:
        super().__init__(detail)
        self.complaint = complaint


class Written(NamedTuple):
    """The JSON object of a reply as written; `is_alone`: with nothing but a fence around it."""

    body: str
    row: dict[str, Any]
    is_alone: bool


class _Object(NamedTuple):
    start: int
    end: int
    row: dict[str, Any]


def read_object(text: str) -> Written:
    """Find the one JSON object of a reply: alone, in a code fence, after thoughts, or amid prose.

    Amid prose it must be separate: for example at the start of a line or after a colon, and
    not in quotation marks, brackets or the middle of a sentence. It may occur twice if both are
    equal; two different objects, or a broken one, count as none. Thoughts are not read, so
    an object in them does not count.

    Raises: NoObjectError.
    """
    body = _without_fence(text)
    if body.startswith("{"):
        try:
            row = orjson.loads(body)
        except (ValueError, RecursionError):
            pass  # there may be more than the object
        else:
            _check_keys(body, row)
            return Written(body, row, is_alone=True)
    return _amid(text)


def drop_thoughts(text: str) -> str:
    """Return the text after the last thought of a reply."""
    ends = [tag.end() for tag in _TAG.finditer(text) if _closes(tag)]
    text = text[ends[-1] :] if ends else text
    opening = _TAG.search(text)
    return (text[: opening.start()] if opening else text).strip()


def _amid(text: str) -> Written:
    if not text.strip():
        raise NoObjectError("the reply is empty", "it was empty")
    tags = list(_TAG.finditer(text))
    ends = [tag.end() for tag in tags if _closes(tag)]
    # Thoughts may quote an end of thoughts: after the first one nothing is skipped.
    begin, free = (ends[0], ends[-1]) if ends else (0, 0)
    is_thinking = [tag.start() for tag in tags if not _closes(tag) and tag.start() >= free]
    stop = is_thinking[0] if is_thinking else len(text)
    objects = list(_objects(text, begin))
    spoken = [each for each in objects if free <= each.start < stop]
    if not spoken:
        if tags:
            detail = "there is nothing after the model's thoughts"
            raise NoObjectError(detail, "it ended with your reasoning and had no answer")
        raise NoObjectError("wanted one JSON object, got other text", "it contained no JSON object")
    if len({orjson.dumps(each.row, option=orjson.OPT_SORT_KEYS) for each in objects}) > 1:
        detail = f"{len(objects)} different JSON objects"
        raise NoObjectError(detail, "it contained several different JSON objects")
    for each in objects:
        if not _stands_free(text, each):
            detail = "the JSON object is part of a sentence, a quotation or a larger text"
            raise NoObjectError(
                detail, "its JSON object was part of a sentence or of a larger text"
            )
    first = spoken[0]
    return Written(text[first.start : first.end], first.row, is_alone=False)


def _objects(text: str, begin: int) -> Iterator[_Object]:
    """Outermost objects in turn. Raises: NoObjectError at the first broken one."""
    while (start := _START.search(text, begin)) is not None:
        row, begin = _decode_object(text, start.start())
        yield _Object(start.start(), begin, row)


def _decode_object(text: str, start: int) -> tuple[dict[str, Any], int]:
    try:
        _, end = _DECODER.raw_decode(text, start)
        return orjson.loads(text[start:end]), end
    except (ValueError, RecursionError) as error:
        raise _broken(error) from None


def _check_keys(body: str, row: dict[str, Any]) -> None:
    try:
        if body.count(":") != _n_keys(row):  # a colon within a string, or a repeated key
            _DECODER.decode(body)
    except (ValueError, RecursionError) as error:
        raise _broken(error) from None


def _broken(error: Exception) -> NoObjectError:
    is_twice = isinstance(error, _TwiceError)
    return NoObjectError(
        f"broken JSON ({error})",
        "its JSON had the same key twice" if is_twice else "its JSON was not valid",
    )


def _stands_free(text: str, candidate: _Object) -> bool:
    head, tail = text[: candidate.start], text[candidate.end :]
    line = head[head.rfind("\n") + 1 :].rstrip(_DECORATION)
    if line and (line[-1].isalnum() or line[-1] in _QUOTES + ","):
        return False
    if head.rstrip().endswith(tuple(_OPEN)):
        return False
    rest = tail.partition("\n")[0].lstrip(_DECORATION)
    return not (rest.startswith((*_QUOTES, ",")) or tail.lstrip().startswith(tuple(_CLOSE)))


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag[1] or tag[2])


def _without_fence(text: str) -> str:
    stripped = text.strip()
    if len(stripped) > 6 and stripped.startswith(_FENCE) and stripped.endswith(_FENCE):
        stripped = stripped[3:-3].removeprefix("json").removeprefix("JSON").strip()
    return stripped


def _n_keys(value: Any) -> int:
    is_map = isinstance(value, dict)
    n = len(value) if is_map else 0
    for part in value.values() if is_map else value:
        if part.__class__ in (dict, list):
            n += _n_keys(part)
    return n


class _TwiceError(ValueError):
    pass


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(f"key {next(k for k in keys if keys.count(k) > 1)!r} twice")
    return row


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct)

_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_OBJECT = re.compile(r"\{\s*[\"']")
# Quotation of a reply, and allowed differences of labels, do not make another reply.
_QUOTES = "\"'`“”„‘’«»"
_DROPPED = str.maketrans("", "", _QUOTES + "\\_-.\u00ad\u200b\u200c\u200d\u2060\ufeff")
_AS_JSON = str.maketrans(dict.fromkeys("'“”„‘’", '"'))
_LENIENT = json.JSONDecoder(strict=False)


def is_copy(written: Written, values: Iterable[Any], deciding: Set[str] | None = None) -> bool:
    """Whether one of a question's texts holds the object of a reply.

    White space, quotation marks, case, escapes and the order of keys do not matter, nor do the
    braces if the reply holds more than the object.

    Args:
        deciding: the fields of the reply that decide, such as its labels: an object of its fields
            with the same values in them is a copy, whatever its other fields say. None: all.
    """
    texts = _texts(values)
    if not _may_hold("\n".join(texts), written.is_alone):  # almost always
        return False
    plain, comparable = _plain(written.body), _comparable(written.row)
    keys = comparable.keys() if deciding is None else {*map(_plain, deciding)}
    if not written.is_alone:
        plain = plain.strip("{}")
    return any(plain in _plain(text) or _holds(text, written, comparable, keys) for text in texts)


def holds(words: str, values: Iterable[Any]) -> bool:
    """Whether one of a question's texts holds these words, however they are written."""
    plain = _plain(words)
    return any(plain in _plain(text) for text in _texts(values))


def _may_hold(text: str, is_alone: bool) -> bool:
    # Finding one character is much faster than finding two.
    if "{" in text or "｛" in text or ("\\" in text and "\\u" in text):
        return True
    return ("&" in text and "&#" in text) or (not is_alone and (":" in text or "：" in text))


def _holds(text: str, written: Written, comparable: Mapping[str, Any], keys: Set[str]) -> bool:
    """Whether an object of the text has the same compared values and no other fields."""
    wanted = {key: comparable[key] for key in comparable if key in keys}
    longest = 12 * len(written.body) + 200  # escapes take six characters, white space is removed
    for read in (_unescape(text).translate(_AS_JSON), text):
        dense = "".join(read.split())
        for start in _OBJECT.finditer(dense):
            at = start.start()
            try:
                row, _ = _LENIENT.raw_decode(dense[at : at + longest])
            except (ValueError, RecursionError):
                continue
            other = _comparable(row)
            if other.keys() <= comparable.keys() and wanted == {
                k: other[k] for k in other if k in keys
            }:
                return True
    return False


def _comparable(value: Any) -> Any:
    """A value in its form for comparison: keys and texts in plain form."""
    if isinstance(value, dict):
        return {_plain(key): _comparable(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_comparable(part) for part in value]
    return _plain(str(value))


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", _unescape(text)).casefold()
    return "".join(text.translate(_DROPPED).split()).replace(",}", "}")


def _unescape(text: str) -> str:
    """The text with HTML and JSON escapes decoded."""
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text).replace('\\"', '"')
    return text


def _texts(values: Iterable[Any]) -> list[str]:
    texts: list[str] = []
    for value in values:
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            texts += _texts(value.values())
        elif isinstance(value, list | tuple | Mapping):
            texts += _texts(value.values() if isinstance(value, Mapping) else value)
    return texts


LOOKED_AT = 2_000  # characters of the end of a reply
LONGEST_LOOP = 400
MIN_REPEATED, MIN_TIMES = 60, 3  # characters in total, and repetitions


def find_loop(text: str) -> str:
    """Find the text that a reply repeats at its end; "" if there is none.

    >>> find_loop('{"nuggets": ["Bees dance.", ' + '"Bees eat.", ' * 9 + '"Be')
    'Bees eat.'
    >>> find_loop('{"nuggets": ["Bees dance.", "Bees eat."]}')
    ''
    """
    end = text[-LOOKED_AT:]
    for n in range(1, min(LONGEST_LOOP, len(end) // MIN_TIMES) + 1):
        least = max(MIN_REPEATED, n * MIN_TIMES)
        if least <= len(end) and end[-least:-n] == end[n - least :]:
            return _trim_loop(end[-n:])
    return ""


def _trim_loop(loop: str) -> str:
    """The loop from the start of an entry of a list, if it has one."""
    if not loop.strip():
        return "white space"
    twice = loop * 2
    start = twice.find(' "') + 2 if ' "' in twice else 0
    return twice[start : start + len(loop)].strip(' ",[]{}')
