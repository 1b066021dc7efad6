"""Numbers, dates and names in a text that can be taken for others, and what takes their place."""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from .....judges.lexical.nuggets_and_citations import WORD
from .....judges.lexical.segments import sentences

ValueKind = Literal["number", "date", "name"]
VALUES: tuple[ValueKind, ...] = ("number", "date", "name")
FEWEST_TEXTS = 2  # that a name stands in, to take the place of another
FEWEST_LETTERS = 3  # that tell of what a name was made
FARTHEST_YEARS = 60
MOST_TRIES = 50
MOST_CAPITALS = 0.5  # of the words of a sentence that is no title

MONTHS = tuple(
    """
    January February March April June July August September October November December
    """.split()
)  # May is a verb too
DAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
NUMBER_WORDS = tuple("two three four five six seven eight nine ten eleven twelve".split())
# Before a number these make it a bound, which another number may keep to.
_BOUNDS = frozenset(
    """
    about above after almost approximately around average before below between beyond by circa
    over fewer from least less more most nearly only roughly since some than to under until up
    within
    """.split()
)
_RANGES = frozenset("and or plus through to versus".split())
_MONTHS = frozenset("apr aug dec feb jan jul jun mar may nov oct sep sept".split()) | {
    name.lower() for name in MONTHS
}
_BEFORE_YEARS = _MONTHS | {"in", "during", "year"}
_NUMBER = re.compile(
    r"(?<![\w.,/:#\[(-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w/:\])+-]|[.,]\d)"
)
_NUMBER_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(NUMBER_WORDS)})(?![\w-])")
_CALENDAR = re.compile(rf"(?<![\w-])(?:{'|'.join((*MONTHS, *DAYS))})(?![\w-])")
_CAPITAL = r"[A-Z][A-Za-z]+(?:-[A-Z][A-Za-z]+)*"
_NAME = re.compile(rf"(?<=[a-z0-9,] ){_CAPITAL}(?: {_CAPITAL})*(?![\w-])")
_LOWER = re.compile(r"(?<![\w-])[a-z][a-z-]*")
_BRACKETS = "()[]"


class Value(NamedTuple):
    """A number, date or name, where it stands in its text, and the word before it."""

    kind: ValueKind
    text: str
    start: int
    behind: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """What the texts of a source call things.

    `names`: those in two texts or more, each with the words that it stands behind; `lower`: words
    in small letters.
    """

    names: Mapping[str, frozenset[str]] = field(repr=False)
    lower: frozenset[str] = field(repr=False)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """That of these texts. A name of which a word is also written small is none."""
        distinct = dict.fromkeys(texts)
        lower = frozenset(word for text in distinct for word in _LOWER.findall(text))
        texts_of: Counter[str] = Counter()
        behind: dict[str, set[str]] = {}
        for text in distinct:
            named = [
                (value.text, value.behind)
                for sentence in sentences(text)
                for value in _names(sentence, lower)
            ]
            texts_of.update({name for name, _ in named})
            for name, word in named:
                behind.setdefault(name, set()).add(word)
        names = sorted(name for name, n in texts_of.items() if n >= FEWEST_TEXTS)
        return cls({name: frozenset(behind[name]) for name in names}, lower)


def values_in(text: str, vocabulary: Vocabulary) -> list[Value]:
    """The values of one sentence that stand in it once, and are no bounds, ranges or list marks.

    number: digits, or a word from two to twelve. date: a year behind in, during, year or a month;
    a month but May; a weekday. name: capitalised words inside the sentence that the texts of the
    source never write small.

    >>> found = values_in("In 1932 the Kelso bridge got two lanes.", Vocabulary({}, frozenset()))
    >>> [(value.kind, value.text) for value in found]
    [('number', 'two'), ('date', '1932'), ('name', 'Kelso')]
    """
    values = [*_numbers(text), *_dates(text), *_names(text, vocabulary.lower)]
    return [value for value in values if len(offsets(text, value.text)) == 1]


def offsets(text: str, value: str) -> list[int]:
    """Where a value stands in a text by itself, not as a part of a longer word or number."""
    return [match.start() for match in _alone(value).finditer(text)]


def replaced(text: str, old: str, new: str) -> str:
    """The text with another value wherever the old one stands by itself."""
    return _alone(old).sub(lambda _: new, text)


def another(
    value: Value, avoid: str, vocabulary: Vocabulary, rng: np.random.Generator
) -> str | None:
    """A value of the same kind and form that stands nowhere in `avoid`; None: there is none.

    A number has as many digits and differs by more than a fifth. A name is one of the source's of
    as many words, in capitals or not, that stands behind the same word there.
    """
    if value.kind == "name":
        return _other_name(value, avoid, vocabulary.names, rng)
    if value.text in NUMBER_WORDS:
        free = [w for i, w in enumerate(NUMBER_WORDS, 2) if not {w, str(i)} & _tokens(avoid)]
        return _one_of([word for word in free if word != value.text], rng)
    for names in (MONTHS, DAYS):
        if value.text in names:
            return _one_of([name for name in names if name not in avoid], rng)
    for _ in range(MOST_TRIES):
        new = _other_year(value.text, rng) if value.kind == "date" else _digits(value.text, rng)
        if _is_far(value, new) and new not in avoid and not _in_words(new, avoid):
            return new
    return None


def has_other_form(value: Value, text: str) -> bool:
    """Whether a text may have a value in another form too.

    A number as a word or as digits, a name in a longer one or in words that begin as it does.
    """
    if value.kind == "name":
        longer = re.search(rf"[A-Z][\w.]* {value.text}\b|\b{value.text}(?:'s)? [A-Z]", text)
        begun = {word[:FEWEST_LETTERS].lower() for word in value.text.split()}
        words = WORD.findall(replaced(text, value.text, ""))
        return longer is not None or any(word[:FEWEST_LETTERS].lower() in begun for word in words)
    if value.kind == "date":
        return False
    if value.text in NUMBER_WORDS:
        return str(NUMBER_WORDS.index(value.text) + 2) in _tokens(text)
    return _in_words(value.text, text)


def _numbers(text: str) -> Iterator[Value]:
    for match in (*_NUMBER.finditer(text), *_NUMBER_WORD.finditer(text)):
        number = match.group()
        before, after = _words_before(text, match.start()), _word_after(text, match.end())
        is_day = bool({*before[-1:], after} & _MONTHS)
        is_bound = bool({*before} & _BOUNDS) or after in _RANGES or _ends_range(text, match.start())
        is_other = match.start() == 0 or number[0] == "0" or _may_be_year(number)
        if not (is_day or is_bound or is_other):
            yield Value("number", number, match.start())


def _dates(text: str) -> Iterator[Value]:
    for match in _NUMBER.finditer(text):
        before = _words_before(text, match.start())
        is_dated = _may_be_year(match.group()) and bool({*before[-1:]} & _BEFORE_YEARS)
        is_bound = _word_after(text, match.end()) in _RANGES or bool({*before[:-1]} & _BOUNDS)
        if is_dated and not is_bound:
            yield Value("date", match.group(), match.start())
    for match in _CALENDAR.finditer(text):
        before, after = _words_before(text, match.start()), _word_after(text, match.end())
        is_dated = before[-1:] in (["in"], ["on"], ["of"]) or after[:1].isdigit()
        if is_dated and after not in _RANGES and not {*before} & (_BOUNDS | _RANGES):
            yield Value("date", match.group(), match.start())


def _names(text: str, lower: frozenset[str]) -> Iterator[Value]:
    words = WORD.findall(text)
    if sum(word[0].isupper() for word in words) > MOST_CAPITALS * len(words):
        return
    for match in _NAME.finditer(text):
        next_to = text[max(0, match.start() - 2) : match.start()] + text[match.end() :][:2]
        if _is_name(match.group(), lower) and not {*next_to} & {*_BRACKETS}:
            yield Value("name", match.group(), match.start(), _word_before(text, match.start()))


def _is_name(text: str, lower: frozenset[str]) -> bool:
    words = text.split()
    is_date = any(word in MONTHS or word in DAYS or word == "May" for word in words)
    return not is_date and not any(word.lower() in lower for word in words)


def _may_be_year(number: str) -> bool:
    return len(number) == 4 and number.isdigit() and 1100 <= int(number) <= 2099


def _words_before(text: str, at: int) -> list[str]:
    return [word.lower() for word in WORD.findall(text[max(0, at - 40) : at])[-2:]]


def _word_before(text: str, at: int) -> str:
    return (_words_before(text, at) or [""])[-1]


def _word_after(text: str, at: int) -> str:
    match = WORD.search(text, at)
    return match.group().lower() if match else ""


def _ends_range(text: str, at: int) -> bool:
    """Whether "5 to", "5 and" or the like stands before it."""
    before = _words_before(text, at)
    return len(before) == 2 and before[1] in _RANGES and before[0][0].isdigit()


@lru_cache(maxsize=1024)
def _alone(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,/-]){re.escape(value)}(?![\w/-]|[.,]\d)")


@lru_cache(maxsize=1024)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in WORD.findall(text))


def _other_name(
    value: Value, avoid: str, names: Mapping[str, frozenset[str]], rng: np.random.Generator
) -> str | None:
    taken = _tokens(f"{avoid} {value.text}")
    free = [
        name
        for name, behind in names.items()
        if value.behind in behind
        and len(name.split()) == len(value.text.split())
        and name.isupper() == value.text.isupper()
        and not _tokens(name) & taken
    ]
    return _one_of(free, rng)


def _one_of(free: list[str], rng: np.random.Generator) -> str | None:
    return free[int(rng.integers(len(free)))] if free else None


def _other_year(year: str, rng: np.random.Generator) -> str:
    near = int(rng.integers(3, FARTHEST_YEARS + 1)) * (1 if rng.random() < 0.5 else -1)
    return str(min(2099, max(1100, int(year) + near)))


def _digits(number: str, rng: np.random.Generator) -> str:
    drawn = [str(rng.integers(10)) if c.isdigit() else c for c in number]
    return str(rng.integers(1, 10)) + "".join(drawn[1:])


def _is_far(value: Value, new: str) -> bool:
    old, other = (float(text.replace(",", "")) for text in (value.text, new))
    return other != old if value.kind == "date" else abs(other - old) > 0.2 * old


def _in_words(number: str, text: str) -> bool:
    """Whether a small number is spelled out in a text."""
    is_small = number.isdigit() and 2 <= int(number) <= 12
    return is_small and NUMBER_WORDS[int(number) - 2] in _tokens(text)
