"""Reads replies to custom prompts strictly: a label, a list, or no judgement."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...backends.errors import JudgeOutputError
from ...backends.replies.text import drop_thoughts
from ...records.judgements import Reason
from .files import ReplyForm

_FENCED = re.compile(r"(?:```\w*\s|```)(.*)```", re.DOTALL)
_ITEM = re.compile(
    r"""\s*(?:"((?:[^"\\\n]|\\.)*+)"|'((?:[^'\\\n]|\\.)*+)'|(-?\d++(?:\.\d++)?))\s*"""
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"} | {c: c for c in "\"'\\/"}
_GAP = re.compile(r"[\s_-]+")
_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_OPENS, _CLOSES = r"[\s\"'*(\[{`]*", r"[\"'*)\]}`]*"
# A label ends its statement: "no doubt" does not count as "no", nor "2 of 3" or "2-3" as "2".
_ENDS = _CLOSES + r"(?![.,/:-]\d)(?:[ \t]*(?:$|[.,;:()|#\r\n])|[ \t]+[-–—])"


class Labels:
    """The words that a reply may use, and the label that each means.

    Words that differ only in case, white space, `_` and `-` are equal. Numbers compare by value.

    Raises: ValueError for two words without another difference that mean different labels.
    """

    def __init__(self, spellings: Mapping[str, str], *, are_numbers: bool = False) -> None:
        self._read = _value if are_numbers else plain
        self._known: dict[Any, str] = {}
        for word, label in spellings.items():
            if (key := self._read(word)) is None:
                raise ValueError(f"{word!r} is not a number")
            if self._known.setdefault(key, label) != label:
                raise ValueError(f"{word!r} means both {self._known[key]} and {label}")
        if not are_numbers:  # the longest first: not_support before not
            words = sorted(map(str, self._known), key=len, reverse=True)
            one_of = "|".join(r"[\s_-]+".join(map(re.escape, word.split())) for word in words)
        self._shape = _NUMBER if are_numbers else f"(?:{one_of})"

    @property
    def shape(self) -> str:
        """A regular expression that all known words match."""
        return self._shape

    def of(self, word: str) -> str:
        """The label of a word. Raises: ValueError."""
        label = self._known.get(self._read(word))
        if label is None:
            raise ValueError(f"{word[:80]!r} is not one of {', '.join(map(str, self._known))}")
        return label


def plain(word: str) -> str:
    """Reduce a word to the part that counts: no case, `_`, `-` or extra white space.

    >>> plain(" Partial-Support ")
    'partial support'
    """
    return _GAP.sub(" ", word.strip().casefold())


def _value(word: str) -> float | None:
    return float(word) if re.fullmatch(_NUMBER, word.strip()) else None


class ReplyReader:
    """Reads replies of one form.

    Args:
        labels: the judge's labels; None: the words of the reply are texts.
    """

    def __init__(self, form: ReplyForm, labels: Labels | None) -> None:
        self._form = form
        self._labels = labels
        self._marked: list[re.Pattern[str]] = []
        if labels is not None and form.form in ("label", "number"):
            label = f"{_OPENS}({labels.shape}){_ENDS}"
            self._marked = [_after(marker, label) for marker in form.after]
            self._alone = re.compile(f"{_OPENS}({labels.shape}){_CLOSES}[.]?\\s*", re.IGNORECASE)

    def read(self, text: str) -> tuple[Any, list[str]]:
        """Read a reply: a label, a list of labels or texts, or a map of labels by key. Also returns
        the words of the reply behind each, except for a single label.

        Raises: JudgeOutputError, incomplete for a missing field, otherwise unparseable.
        """
        body = drop_thoughts(text)
        if (fenced := _FENCED.fullmatch(body)) is not None:
            body = fenced[1].strip()
        try:
            if not body:
                raise ValueError("the reply is empty")
            match self._form.form:
                case "json":
                    return self._in_field(body, text), [body]
                case "list":
                    return self._each(read_items(body)), [body]
            return self._label(body)
        except ValueError as error:
            raise JudgeOutputError(Reason.UNPARSEABLE, str(error), text) from None

    def _each(self, words: Iterable[str]) -> list[str]:
        return [word if self._labels is None else self._labels.of(word) for word in words]

    def _in_field(self, body: str, text: str) -> Any:
        row = _object(body)
        wanted = {plain(name) for name in self._form.field}
        labels = [self._find_labels(value) for name, value in row.items() if plain(name) in wanted]
        if not labels:
            detail = f"field {' or '.join(map(repr, self._form.field))} is missing"
            raise JudgeOutputError(Reason.INCOMPLETE, detail, text)
        if any(value != labels[0] for value in labels):
            raise ValueError(f"fields disagree: {labels[0]} and {labels[1]}")
        return labels[0]

    def _find_labels(self, value: Any) -> Any:
        if isinstance(value, dict):
            return dict(zip(value, self._each(map(_word, value.values())), strict=True))
        if isinstance(value, list):
            return self._each(map(_word, value))
        return self._each([_word(value)])[0]

    def _label(self, body: str) -> tuple[str, list[str]]:
        labels = self._labels
        assert labels is not None  # judges without labels cannot have this form
        matches = [hit for marked in self._marked for hit in marked.finditer(body)]
        if matches:
            if lost := next((hit for hit in matches if hit[2] is None), None):
                raise ValueError(f"no label after {lost[1]!r}")
            named = [labels.of(hit[2]) for hit in matches]
            if len(set(named)) > 1:
                raise ValueError(f"it gives {' and '.join(dict.fromkeys(named))}")
            return named[0], [hit[0] for hit in matches]
        if self._marked and not self._form.last_line:
            raise ValueError(f"it contains none of {', '.join(map(repr, self._form.after))}")
        line = body.splitlines()[-1] if self._form.last_line else body
        if (alone := self._alone.fullmatch(line)) is None:
            where = "the last line" if self._form.last_line else "the reply"
            raise ValueError(f"{where} is not a single label: {line[:80]!r}")
        return labels.of(alone[1]), []


def _after(marker: str, label: str) -> re.Pattern[str]:
    """The marker, and in group 2 the label if one follows; any white space fits in markers."""
    words = re.findall(r"\w+|[^\w\s]", marker)
    shape = r"\s*".join(map(re.escape, words))
    begins = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    ends = r"(?!\w)" if re.match(r"\w", words[-1]) else ""
    return re.compile(f"{begins}({shape}){ends}(?:{label})?", re.IGNORECASE | re.MULTILINE)


def read_items(body: str) -> list[str]:
    """Read the texts and numbers of one flat list, in JSON or Python syntax.

    Raises: ValueError for anything else.

    >>> read_items('["it\\'s red", \\'so\\', 3,]')
    ["it's red", 'so', '3']
    """
    return list(_items(body))


def _items(body: str) -> Iterator[str]:
    if not body.startswith("["):
        raise ValueError(f"wanted one list, got {body[:80]!r}")
    at = 1
    while (match := _ITEM.match(body, at)) is not None:
        double, single, number = match.groups()
        yield number if number is not None else _unescape(single if double is None else double)
        at = match.end()
        if body[at : at + 1] != ",":
            break
        at += 1
    if body[at:].strip() != "]":
        raise ValueError(f"wanted one list of texts, stopped at {body[at : at + 40]!r}")


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    unescaped = _ESCAPE.sub(_escape, text)
    return unescaped.encode("utf-16", "surrogatepass").decode(
        "utf-16"
    )  # raises for half a surrogate pair


def _escape(match: re.Match[str]) -> str:
    if code := match[1] or match[2]:
        return chr(int(code, 16))
    return _ESCAPED.get(match[3], match[0])


def _object(body: str) -> dict[str, Any]:
    try:
        row = json.loads(body, object_pairs_hook=_distinct)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("wanted one JSON object, got other JSON")
    return row


def _distinct(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field occurs twice")
    return fields


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise ValueError(f"wanted a label, got {str(value)[:80]!r}")
