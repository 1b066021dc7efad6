"""Sentences of an answer and the citation marks in them.

Citations are `[1]`, `[1, 3]`, `[1-3]`, `[1 and 2]`, `[1][2]`, `[^1]`, `[[1]]`, `[1](link)`,
`[Source 1]`, `(Document 2)`, `[1]` in East Asian brackets, and the id of a context in brackets.
The first context is 1. It is 0 in an answer with `[0]` at the end of a clause, if all numbers are
below the number of contexts.

`(1)` and superscripts are citations only in an answer without other marks, if each has the number
of a context and ends a clause. `(2020)`, `three (3)`, `Eq. (1)` and `km²` are text.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import orjson

from ...judges.lexical.segments import sentences
from ...records.reading.fields import shorten
from ...records.reading.problems import InputError

_NOTHING = ("NAType", "NaTType")  # missing values of pandas, without importing it


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or a missing value of a frame."""
    if value is None or type(value).__name__ in _NOTHING:
        return True
    return isinstance(value, float) and value != value


def as_plain(value: Any) -> Any:
    """Return tuples and arrays as lists; everything else unchanged."""
    if isinstance(value, tuple):
        return list(value)
    if hasattr(value, "tolist") and not isinstance(value, str | bytes):  # numpy, pyarrow
        return value.tolist()
    if hasattr(value, "to_list"):  # a polars Series
        return value.to_list()
    return value


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and anything else as a list of one."""
    cell = as_plain(value)
    return cell if isinstance(cell, list) else [cell]


def parse_list(text: str) -> list[Any] | None:
    """Return the list in a text, such as a frame's column in a CSV file; None: not a list.

    >>> parse_list("['a', 'b']"), parse_list("['a' 'b']"), parse_list("[1] says so")
    (['a', 'b'], ['a', 'b'], None)
    """
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    for read in (orjson.loads, _literals):
        try:
            items = read(text)
        except (ValueError, SyntaxError, tokenize.TokenError, MemoryError, RecursionError):
            continue
        if isinstance(items, list) and all(isinstance(item, str | Mapping) for item in items):
            return items
    return None


def _literals(text: str) -> Any:
    """Parse text as Python or NumPy prints it (without commas). Raises: ValueError and others."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    marks = (tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER)
    inner = [token for token in tokens if token.type not in marks][1:-1]
    if all(token.type == tokenize.STRING or token.string == "," for token in inner):
        return [ast.literal_eval(token.string) for token in inner if token.string != ","]
    return ast.literal_eval(text)


def check_writable(value: Any, at: str) -> None:
    """Raise InputError naming the part of a value that cannot be written as JSON.

    Args:
        value: text, a number, or a mapping, a list or a dataclass of them.
    """
    try:
        orjson.dumps(value)
    except TypeError as error:
        if is_dataclass(value):
            value = {each.name: getattr(value, each.name) for each in fields(value)}
        if isinstance(value, Mapping):
            for name, part in value.items():
                check_writable(part, f"{at}.{name}")
        elif isinstance(value, list | tuple):
            for index, part in enumerate(value):
                check_writable(part, f"{at}[{index}]")
        elif isinstance(value, str):
            index = next(i for i, char in enumerate(value) if "\ud800" <= char <= "\udfff")
            what = f"character {index} is {value[index]!r}, half of a surrogate pair"
            hint = "use text.encode('utf-8', 'replace').decode()"
            raise InputError(f"{at}: {what}; wanted whole characters: {hint}") from None
        raise InputError(f"{at}: is {shorten(repr(value), 60)}: {error}") from None


MAX_INDEX = 999  # the largest index; [2024] is a year

_LABEL = (
    r"(?:search\s+results?|sources?|src|docs?|documents?|contexts?|ctx|passages?|refs?|references?"
    r"|citations?|cite|chunks?|snippets?|excerpts?|results?|articles?|evidence|footnotes?|notes?)"
)
MARK = r"\[[^\[\]\n]{1,200}\](?:\([^()\s]*\))?"  # with an optional Markdown link
MARKS = re.compile(rf"(?<![ \t])[ \t]*+{MARK}")
_NUMBERS = re.compile(
    rf"(?P<label>{_LABEL}[\s:._#-]*)?(?P<low>\d{{1,4}})(?:\s*[-–]\s*(?P<high>\d{{1,4}}))?", re.I
)
_OTHER_BRACKETS = re.compile(
    r"【(?P<lens>[^【】\n]{1,200})】|［(?P<wide>[^［］\n]{1,200})］|\[\[(?P<two>[^\[\]\n]{1,200})\]\]"
    rf"|<sup>\s*\[(?P<sup>[^\[\]\n]{{1,200}})\]\s*</sup>|\((?P<round>{_LABEL}[^()\n]{{1,200}})\)",
    re.I,
)
_SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_TO_DIGITS = str.maketrans({"˒": ","} | dict(zip(_SMALL, "0123456789", strict=True)))
_TO_SMALL = str.maketrans("0123456789", _SMALL)
_HTML_SMALL = re.compile(r"<sup>\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*</sup>", re.I)
_SUPERSCRIPT = re.compile(rf"(?<!\s)[{_SMALL}]+(?:[,;˒–-][{_SMALL}]+)*(?![\w⁺⁻])")
_EXPONENT = re.compile(  # the text before an exponent
    r"(?:^|[\s\d₀-₉+*/^(|)⁻−-]|(?<!\w)(?:[a-zµμ]|[cdkmnµμ]m|ft|in|mi|yd|inch|feet|foot|sec|rad"
    r"|sin|cos|tan|log|exp))$",
    re.I,
)
_ROUND = re.compile(r"\(\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\)")
_COUNTED = re.compile(  # the text before a number in round brackets that does not cite
    r"(?:^[\W\d_]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|equations?|eqs?"
    r"|figures?|figs?|tables?|sections?|secs?|steps?|items?|points?|options?|parts?|numbers?|nos?"
    r"|types?|phases?|stages?|levels?|grades?|class|chapters?|versions?|rules?|questions?)\.?\s*)$",
    re.I,
)
_CLAUSE_END = re.compile(r"\s*(?:$|[.,;:!?…)\]\"'”’\n|]|[\[(]\s*\d)")
_STOPPED = re.compile(r"[.!?…][\"'”’)]*\s*$")
_LIKE_A_MARK = re.compile(
    rf"\[[^\[\]\n]{{1,30}}\]|【[^【】\n]{{1,30}}】|\(\d{{1,3}}\)|<sup>[^<]{{1,20}}</sup>|[{_SMALL}]+"
)


class Marks:
    """The citation marks of one answer.

    Args:
        answer: the text.
        by_id: indices of contexts with ids; None: there are no contexts, so no text is a mark.
        n: number of contexts.

    Attributes:
        text: the answer, with each mark in square brackets.
        first: number of the first context.
    """

    def __init__(self, answer: str, by_id: Mapping[str, tuple[int, ...]] | None, n: int) -> None:
        self._by_id, self._n = by_id, n
        self.first, self._has_zero = 1, False
        self.text = answer
        if by_id is None:
            return
        self._find_first(self._plain_brackets(answer))
        self.text = self._plain_brackets(answer)
        if not self.find_cited(self.text):
            self.text = self._plain_small(self._plain_round(self.text))

    def find_cited(self, text: str) -> list[int]:
        """Return the indices that the marks in a text cite, in order; contexts may be missing."""
        return [index for mark in MARKS.findall(text) for index in self._indices(mark)]

    def remove_from(self, text: str) -> str:
        """Return the text without marks."""
        return MARKS.sub(lambda mark: "" if self._indices(mark[0]) else mark[0], text).strip()

    def _find_first(self, text: str) -> None:
        """Find out whether numbers count from 0, from all marks of the answer."""
        self._has_zero = any(
            (number := _NUMBERS.fullmatch(_inner(mark[0]))) is not None
            and int(number["low"]) == 0
            and (number["label"] or _ends_clause(text, mark.start(), mark.end()))
            for mark in MARKS.finditer(text)
            if _inner(mark[0]) not in (self._by_id or ())
        )
        if self._has_zero:
            self.first = 0
            if max(self.find_cited(text), default=0) >= self._n:
                self.first = 1

    def _plain_brackets(self, text: str) -> str:
        def as_plain(match: re.Match[str]) -> str:
            inner = next(filter(None, match.groups())).partition("†")[0]
            return f"[{inner}]" if self._indices(f"[{inner}]") else match[0]

        return _OTHER_BRACKETS.sub(as_plain, text)

    def _plain_round(self, text: str) -> str:
        found = list(_ROUND.finditer(text))
        for match in found:
            line = text[max(0, match.start() - 40) : match.start()].rpartition("\n")[2]
            is_last = match is found[-1]  # between two sentences, (1) starts a list item
            if _COUNTED.search(line) or not _ends_clause(text, *match.span(), or_stop=not is_last):
                return text
        return self._replace(text, [(match, [match[0][1:-1]]) for match in found])

    def _plain_small(self, text: str) -> str:
        small = _HTML_SMALL.sub(lambda m: re.sub(r"\s", "", m[1]).translate(_TO_SMALL), text)
        found = []
        for match in _SUPERSCRIPT.finditer(small):
            if not _EXPONENT.search(small[max(0, match.start() - 6) : match.start()]):
                digits = match[0].translate(_TO_DIGITS)
                found.append((match, [digits, ",".join(digits)]))  # 12, or 1 and 2
        marked = self._replace(small, found)
        return text if marked == small else marked

    def _replace(self, text: str, found: Sequence[tuple[re.Match[str], list[str]]]) -> str:
        """Return the text with marks in square brackets if all can be marks; else unchanged.

        Args:
            found: matches, and possible readings of each, most likely first.
        """
        parts, end = [], 0
        for match, readings in found:
            mark = next((m for each in readings if self._fit(m := f"[{each}]")), None)
            if mark is None:
                return text
            parts += [text[end : match.start()], mark]
            end = match.end()
        return "".join((*parts, text[end:]))

    def _fit(self, mark: str) -> bool:
        indices = self._indices(mark)
        return bool(indices) and all(0 <= index < self._n for index in indices)

    def _indices(self, mark: str) -> list[int]:
        """Return the indices that a mark cites; [] if it is not a citation."""
        if self._by_id is None:
            return []
        indices: list[int] = []
        for part in re.split(r"[,;]", _inner(mark)):
            name = part.strip().removeprefix("^")
            if name in self._by_id:
                indices += self._by_id[name]
                continue
            for each in re.split(r"\s*&\s*|\s+and\s+", name):
                if (numbers := self._read_numbers(each)) is None:
                    return []
                indices += numbers
        return indices

    def _read_numbers(self, name: str) -> Iterable[int] | None:
        """Return the indices of `2`, `2-4` or `Source 2`; None if it does not name contexts.

        If a range goes past the contexts, its end counts once for all missing contexts.
        """
        if (number := _NUMBERS.fullmatch(name)) is None:
            rest = re.sub(rf"^{_LABEL}[\s:._#-]*", "", name, flags=re.I)
            return (self._by_id or {}).get(rest) if rest != name else None
        low, high = int(number["low"]), int(number["high"] or number["low"])
        lowest = 0 if self._has_zero and (self.first == 0 or low == high) else 1
        if not lowest <= low <= high <= MAX_INDEX:
            return None
        low, high = low - self.first, high - self.first
        return [*range(low, min(high, self._n)), high] if high > low else [low]


def find_mark(text: str) -> str:
    """Return the part of a text that looks most like a mark; "" if nothing does."""
    return match[0] if (match := _LIKE_A_MARK.search(text)) is not None else ""


def _inner(mark: str) -> str:
    return mark.strip()[1:].partition("]")[0].strip().removeprefix("^")


def _ends_clause(text: str, start: int, end: int, *, or_stop: bool = True) -> bool:
    """Return whether a clause ends after a mark or, with `or_stop`, a sentence before it."""
    is_behind = or_stop and _STOPPED.search(text[max(0, start - 8) : start])
    return bool(is_behind or _CLAUSE_END.match(text, end))


# After a full stop, a mark belongs to the sentence before: "It sways.[1] Then", "It sways. [1].".
_AFTER = re.compile(rf"(?<!\b[A-Z])([.!?…][\"'”’)]*)((?:[ \t]*{MARK})+)\.?(?=\s|$)")
_MARKER = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)])\s+")  # of a list item
_HEADING = re.compile(r"\s*#{1,6}\s")
_ENDED = re.compile(r"[.!?…:;][\"'”’)\]*_]*\s*$")
# Abbreviations that do not end a sentence; "No." does not end one before a number.
_GOES_ON = re.compile(r"\b(?:e\.g|i\.e|vs|al|Figs?|Eqs?|Sec|Vol|pp|cf|ca|approx|Prof)\.$", re.I)
_NUMBERED = re.compile(r"\bNos?\.$")


@dataclass(frozen=True)
class Sentence:
    """A sentence without marks.

    `citations`: 0-based indices of contexts, or ids, best first.
    """

    text: str
    citations: tuple[int | str, ...] = ()


def index_by_id(ids: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return the positions of contexts by id; several contexts may have the same id."""
    indices: dict[str, tuple[int, ...]] = {}
    for index, name in enumerate(ids):
        if name:
            indices[name] = (*indices.get(name, ()), index)
    return indices


def split_answer(
    answer: str, by_id: Mapping[str, tuple[int, ...]] | None = None, n: int = MAX_INDEX
) -> list[Sentence]:
    """Split an answer into sentences, with the citations in or after each.

    See the module for the marks. A number or text that is the id of a context cites it; any other
    number is an index, perhaps of a missing context. Lines of a list are separate sentences, a
    heading belongs to the next sentence, and text without letters and digits to the sentence
    before.

    Args:
        by_id: indices of contexts with ids; None: there are no contexts, so brackets are text.
        n: number of contexts.

    >>> for sentence in split_answer("Tides turn. [2] They come twice [1, 3], at 6.30.", {}):
    ...     print(sentence.text, sentence.citations)
    Tides turn. (1,)
    They come twice, at 6.30. (0, 2)
    """
    return split_marked_answer(Marks(answer, by_id, n))


def split_marked_answer(marks: Marks) -> list[Sentence]:
    """Return the sentences of the answer with these marks; see `split_answer`."""
    sentences_before: list[Sentence] = []
    heading = ""

    def before_the_stop(match: re.Match[str]) -> str:
        stop, after = match.groups()
        return f"{after}{stop}" if marks.find_cited(after) else match[0]

    for line in _lines(_AFTER.sub(before_the_stop, marks.text)):
        if _HEADING.match(line):
            heading += f"{line.strip()}\n"
            continue
        for text in _join(sentences(_MARKER.sub("", line))):
            cited: tuple[int | str, ...] = tuple(dict.fromkeys(marks.find_cited(text)))
            words = marks.remove_from(text)
            if sentences_before and not heading and not any(map(str.isalnum, words)):
                before = sentences_before.pop()
                words = f"{before.text} {words}".strip() if not cited else before.text
                cited = tuple(dict.fromkeys((*before.citations, *cited)))
            sentences_before.append(Sentence(heading + words, cited))
            heading = ""
    return [*sentences_before, Sentence(heading.strip())] if heading else sentences_before


def make_sentence(sentence: Any, at: str) -> Sentence:
    """Return a sentence of an answer that is given by sentence: a text, or `{text, citations}`.

    Raises: InputError for a sentence without text, or invalid citations.
    """
    if isinstance(sentence, Sentence):
        return sentence
    if isinstance(sentence, str):
        return Sentence(sentence)
    if not isinstance(sentence, Mapping) or not isinstance(sentence.get("text"), str):
        what = "wanted text, or text and citations"
        raise InputError(f"{at}: is {shorten(repr(sentence), 60)}, {what}")
    cited = sentence.get("citations")
    citations = [] if cited is None else as_list(cited)
    for citation in citations:
        if isinstance(citation, bool) or not isinstance(citation, int | str):
            what = "wanted ids of contexts, or positions from 0"
            raise InputError(f"{at}.citations: {shorten(repr(citation), 60)}, {what}")
    return Sentence(sentence["text"], tuple(citations))


def _lines(text: str) -> list[str]:
    """Return the lines of a text; a wrapped line is joined with the next."""
    lines: list[str] = []
    goes_on = False
    for line in text.splitlines():
        is_new = bool(_HEADING.match(line) or _MARKER.match(line)) or line.lstrip()[:1] == "|"
        if goes_on and line.strip() and not is_new:
            lines[-1] = f"{lines[-1].rstrip()} {line.strip()}"
        else:
            lines.append(line)
        goes_on = bool(line.strip()) and not (_HEADING.match(line) or _ENDED.search(line))
    return [line for line in lines if line.strip()]


def _join(pieces: list[str]) -> list[str]:
    """Join parts that were split after an abbreviation."""
    joined: list[list[str]] = []
    for piece in pieces:
        before = joined[-1][-1] if joined else ""
        is_number = bool(_NUMBERED.search(before)) and piece[:1].isdigit()
        if is_number or _GOES_ON.search(before):
            joined[-1].append(piece)
        else:
            joined.append([piece])
    return [" ".join(each) for each in joined]
