"""Does a reply stand in the judged text? Then it is the text's as well as the model's."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Set
from typing import Any

from .objects import Written

_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_OBJECT = re.compile(r"\{\s*[\"']")
# Neither how a reply is quoted nor what labels may differ in makes it another one.
_QUOTES = "\"'`“”„‘’«»"
_DROPPED = str.maketrans("", "", _QUOTES + "\\_-.\u00ad\u200b\u200c\u200d\u2060\ufeff")
_AS_JSON = str.maketrans(dict.fromkeys("'“”„‘’", '"'))
_DECODER = json.JSONDecoder(strict=False)


def is_copy(written: Written, values: Iterable[Any], deciding: Set[str] | None = None) -> bool:
    """Whether one of a question's texts holds the object of a reply.

    In other white space, quotation marks, case or escapes, or with its keys in another order, it
    is the same; without its braces too, where the reply holds more than the object.

    Args:
        deciding: the fields of the reply that decide, such as its labels: an object of its fields
            that says the same in these is a copy, whatever it says in the others. None: all.
    """
    texts = _texts(values)
    if not _may_hold("\n".join(texts), written.is_alone):  # as good as always
        return False
    plain, comparable = _plain(written.body), _comparable(written.row)
    keys = comparable.keys() if deciding is None else {*map(_plain, deciding)}
    if not written.is_alone:
        plain = plain.strip("{}")
    return any(plain in _plain(text) or _holds(text, written, comparable, keys) for text in texts)


def holds(words: str, values: Iterable[Any]) -> bool:
    """Whether one of a question's texts holds these words, however they are written there."""
    plain = _plain(words)
    return any(plain in _plain(text) for text in _texts(values))


def _may_hold(text: str, is_alone: bool) -> bool:
    # One character is found much faster than two.
    if "{" in text or "｛" in text or ("\\" in text and "\\u" in text):
        return True
    return ("&" in text and "&#" in text) or (not is_alone and (":" in text or "：" in text))


def _holds(text: str, written: Written, comparable: Mapping[str, Any], keys: Set[str]) -> bool:
    """Whether an object of the text says the same in what is asked, and has no other fields."""
    wanted = {key: comparable[key] for key in comparable if key in keys}
    longest = 12 * len(written.body) + 200  # escapes take six characters, white space is gone
    for read in (_unescaped(text).translate(_AS_JSON), text):
        dense = "".join(read.split())
        for start in _OBJECT.finditer(dense):
            at = start.start()
            try:
                row, _ = _DECODER.raw_decode(dense[at : at + longest])
            except (ValueError, RecursionError):
                continue
            other = _comparable(row)
            if other.keys() <= comparable.keys() and wanted == {
                k: other[k] for k in other if k in keys
            }:
                return True
    return False


def _comparable(value: Any) -> Any:
    """A value as it is compared: keys and texts in plain form."""
    if isinstance(value, dict):
        return {_plain(key): _comparable(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_comparable(part) for part in value]
    return _plain(str(value))


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", _unescaped(text)).casefold()
    return "".join(text.translate(_DROPPED).split()).replace(",}", "}")


def _unescaped(text: str) -> str:
    """The text with what HTML and JSON escape written out."""
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
