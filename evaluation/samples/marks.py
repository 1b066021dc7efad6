"""Citation marks in the text of an answer: `[1]` and the other forms that systems write.

Read wherever they stand: `[1]`, `[1, 3]`, `[1-3]`, `[1 and 2]`, `[1][2]`, `[^1]`, `[[1]]`,
`[1](link)`, `【1】`, `【1†source】`, `[Source 1]`, `(Document 2)`, and the id of a context in
brackets.

`(1)` and superscripts also number lists and equations, or are exponents. They are read in an answer
without other marks that uses the form consistently: every one of them has the number of a context
and stands where a mark may, `(1)` at the end of a clause and superscripts behind a word or a full
stop. `(2020)`, `(1) first, (2) second`, `three (3)`, `Eq. (1)`, `km²` and `x²` are text.

The first context is 1. It is 0 in an answer with `[0]` at the end of a clause or sentence, or
`[Source 0]`, if all of its numbers are below the number of contexts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

MOST = 999  # the largest number that is an index: [2024] is a year

_LABEL = (
    r"(?:search\s+results?|sources?|src|docs?|documents?|contexts?|ctx|passages?|refs?|references?"
    r"|citations?|cite|chunks?|snippets?|excerpts?|results?|articles?|evidence|footnotes?|notes?)"
)
MARK = r"\[[^\[\]\n]{1,200}\](?:\([^()\s]*\))?"  # the last: a Markdown link
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
    """The marks of one answer.

    Args:
        answer: its text.
        by_id: indices of contexts with ids; None: there are no contexts, and nothing is a mark.
        n: how many contexts there are.

    Attributes:
        text: the answer with each mark as one in square brackets.
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
        if not self.cited(self.text):
            self.text = self._plain_small(self._plain_round(self.text))

    def cited(self, text: str) -> list[int]:
        """The indices that its marks cite, in their order; some may be of no context."""
        return [index for mark in MARKS.findall(text) for index in self._indices(mark)]

    def left_out_of(self, text: str) -> str:
        """The text without its marks."""
        return MARKS.sub(lambda mark: "" if self._indices(mark[0]) else mark[0], text).strip()

    def _find_first(self, text: str) -> None:
        """Whether numbers count from 0, by all marks of the answer."""
        self._has_zero = any(
            (number := _NUMBERS.fullmatch(_inner(mark[0]))) is not None
            and int(number["low"]) == 0
            and (number["label"] or _ends_clause(text, mark.start(), mark.end()))
            for mark in MARKS.finditer(text)
            if _inner(mark[0]) not in (self._by_id or ())
        )
        if self._has_zero:
            self.first = 0
            if max(self.cited(text), default=0) >= self._n:
                self.first = 1

    def _plain_brackets(self, text: str) -> str:
        def plain(match: re.Match[str]) -> str:
            inner = next(filter(None, match.groups())).partition("†")[0]
            return f"[{inner}]" if self._indices(f"[{inner}]") else match[0]

        return _OTHER_BRACKETS.sub(plain, text)

    def _plain_round(self, text: str) -> str:
        found = list(_ROUND.finditer(text))
        for match in found:
            line = text[max(0, match.start() - 40) : match.start()].rpartition("\n")[2]
            is_last = match is found[-1]  # behind a stop and before a sentence is (1) of a list
            if _COUNTED.search(line) or not _ends_clause(text, *match.span(), or_stop=not is_last):
                return text
        return self._replaced(text, [(match, [match[0][1:-1]]) for match in found])

    def _plain_small(self, text: str) -> str:
        small = _HTML_SMALL.sub(lambda m: re.sub(r"\s", "", m[1]).translate(_TO_SMALL), text)
        found = []
        for match in _SUPERSCRIPT.finditer(small):
            if not _EXPONENT.search(small[max(0, match.start() - 6) : match.start()]):
                digits = match[0].translate(_TO_DIGITS)
                found.append((match, [digits, ",".join(digits)]))  # 12, or 1 and 2
        marked = self._replaced(small, found)
        return text if marked == small else marked

    def _replaced(self, text: str, found: Sequence[tuple[re.Match[str], list[str]]]) -> str:
        """The text with all that was found as marks, if each can be one; else as it is.

        Args:
            found: where they stand, and how each may be read, the likeliest first.
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
        """The indices that one mark cites; [] if it is no citation."""
        if self._by_id is None:
            return []
        indices: list[int] = []
        for part in re.split(r"[,;]", _inner(mark)):
            name = part.strip().removeprefix("^")
            if name in self._by_id:
                indices += self._by_id[name]
                continue
            for each in re.split(r"\s*&\s*|\s+and\s+", name):
                if (numbers := self._numbered(each)) is None:
                    return []
                indices += numbers
        return indices

    def _numbered(self, name: str) -> Iterable[int] | None:
        """The indices of `2`, `2-4` or `Source 2`; None if it is no number of a context.

        Of a range that goes past the contexts its end stands for all that is not there.
        """
        if (number := _NUMBERS.fullmatch(name)) is None:
            rest = re.sub(rf"^{_LABEL}[\s:._#-]*", "", name, flags=re.I)
            return (self._by_id or {}).get(rest) if rest != name else None
        low, high = int(number["low"]), int(number["high"] or number["low"])
        lowest = 0 if self._has_zero and (self.first == 0 or low == high) else 1
        if not lowest <= low <= high <= MOST:
            return None
        low, high = low - self.first, high - self.first
        return [*range(low, min(high, self._n)), high] if high > low else [low]


def mark_like(text: str) -> str:
    """What in a text looks most like a mark; "" where nothing does."""
    return match[0] if (match := _LIKE_A_MARK.search(text)) is not None else ""


def _inner(mark: str) -> str:
    return mark.strip()[1:].partition("]")[0].strip().removeprefix("^")


def _ends_clause(text: str, start: int, end: int, *, or_stop: bool = True) -> bool:
    """Whether a clause ends behind a mark or, with `or_stop`, a sentence before it."""
    is_behind = or_stop and _STOPPED.search(text[max(0, start - 8) : start])
    return bool(is_behind or _CLAUSE_END.match(text, end))
