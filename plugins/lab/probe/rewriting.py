"""Change one sentence of a text by code: negate it, remove it, move it, or change a value.

Changes are refused unless it is certain that they contradict the text, or change nothing in it.
"""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from ....judges.lexical.overlap import PRONOUNS, STOP_WORDS, WORD
from ....judges.lexical.segments import sentences

# Sentences

MIN_BLOCKS = 3  # fewest blocks to reorder
_LEANING = PRONOUNS | frozenset(
    """
    additionally again also although and another because besides both but consequently conversely
    either finally first former furthermore hence her him himself however instead itself last
    latter lastly likewise meanwhile moreover neither next nor or other others otherwise overall
    rather second secondly similarly since so still such their theirs them themselves then therefore
    third thirdly those though thus ultimately whereas while yet
    """.split()
)
_POINTING = frozenset(
    """
    above aforementioned below former he her hers him his it its latter she such their theirs them
    these they this those
    """.split()
)
_LEAD = re.compile(
    r"(?:for (?:example|instance)|in (?:addition|contrast|other words|turn)|as (?:a result|such)"
    r"|one (?:reason|example|such)|on the (?:other hand|contrary))\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\W*\d+[.)]|^[-*•#]")


class Parts:
    """A text and its sentences, in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sentences = sentences(text)
        self._starts: list[int] = []
        at = 0
        for sentence in self.sentences:
            at = text.index(sentence, at)
            self._starts.append(at)
            at += len(sentence)

    def without(self, index: int) -> str:
        """The text without one sentence."""
        last = index + 1 == len(self.sentences)
        after = "" if last else self.text[self._starts[index + 1] :]
        before = self.text[: self._starts[index]]
        return before.rstrip() if last else before + after

    def with_sentence(self, index: int, sentence: str) -> str:
        """The text with one sentence replaced."""
        start = self._starts[index]
        return self.text[:start] + sentence + self.text[start + len(self.sentences[index]) :]

    def is_leant_on(self, index: int) -> bool:
        """Whether the next sentence may refer to this one."""
        after = self.sentences[index + 1 : index + 2]
        return bool(after) and leans(after[0])

    def reorder(self, rng: np.random.Generator) -> str | None:
        """The text with its blocks reordered; a block is a sentence with those that depend on it.

        None: fewer than 3 blocks, or lines or a list, whose order has a meaning.
        """
        if "\n" in self.text.strip() or any(map(_LISTED.match, self.sentences)):
            return None
        blocks: list[list[str]] = []
        for index, sentence in enumerate(self.sentences):
            opens = index and self.sentences[index - 1].endswith(":")
            if blocks and (opens or leans(sentence)):
                blocks[-1].append(sentence)
            else:
                blocks.append([sentence])
        if len(blocks) < MIN_BLOCKS:
            return None
        order = rng.permutation(len(blocks))
        if list(order) == sorted(order):
            order = order[::-1]
        return " ".join(sentence for index in order for sentence in blocks[index])


@lru_cache(maxsize=4096)
def split_parts(text: str) -> Parts:
    """Split a text into its parts."""
    return Parts(text)


def leans(sentence: str) -> bool:
    """Whether a sentence may depend on the one before: by its first words, or a pronoun."""
    words = [word.lower().replace("’", "'") for word in WORD.findall(sentence)]
    if _LEAD.match(sentence) or not words:
        return bool(words)
    return words[0] in _LEANING or bool({*words} & _POINTING)


# Negation

MAX_WORDS = 40
_FINITE = frozenset(
    """
    am are can could did do does had has have is may might must shall should was were will would
    """.split()
)
_TAKES_NOT = frozenset("are can is was were will".split())
# With these words both may be true: "some are" and "some are not".
_OPEN = frozenset(
    """
    all always any anyone anything as because believed both considered each either ever every few
    generally how if it likely mainly many maybe mostly often one ones only partly perhaps possible
    possibly probably reported said several since some something sometimes than that though
    although thought typically unless until usually various what when whenever where whether which
    while who whom whose why most
    """.split()
)
_NEGATIVE = frozenset(
    """
    barely cannot few hardly lack lacks little neither never no nobody none nor not nothing rarely
    seldom unable unlike without
    """.split()
)
_ADVERBS = frozenset("also even indeed just merely rather simply still thus yet".split())
_CONTRACTED = re.compile(r"n't$|'(?:re|ve|ll|d|m)$|^(?:he|here|it|she|that|there|what|who)'s$")
_MARKS = re.compile(r"[?:;()\[\]\"“”*#|–—\n]")
_ARTICLES = frozenset(("the", "a", "an"))
_REPORTED = (
    "accord",
    "argu",
    "assum",
    "belie",
    "claim",
    "report",
    "said",
    "say",
    "suggest",
    "think",
    "thought",
)
_CLAUSES = re.compile(r",|\b(?:and|but|or|so|yet)\b", re.IGNORECASE)


def negate(sentence: str) -> str | None:
    """Put "not" after the verb of a sentence; None unless this certainly contradicts it.

    The sentence must be a statement of 4 to 40 words that ends with a full stop. It must have
    exactly one finite auxiliary or copula (are, can, is, was, were or will) between a subject and a
    word of the same clause. It must not have another negative word, a quantifier, hedge, relative
    or subordinate clause, quotation, list or bracket.

    >>> negate("Yogurt is a low-fat dairy product.")
    'Yogurt is not a low-fat dairy product.'
    >>> negate("Some yogurts are sweet."), negate("It was said that he was late.")
    (None, None)
    """
    words = list(WORD.finditer(sentence))
    plain = [word.group().lower().replace("’", "'") for word in words]
    if not sentence.rstrip().endswith((".", "!")) or _MARKS.search(sentence):
        return None
    if not 4 <= len(words) <= MAX_WORDS or {*plain} & (_OPEN | _NEGATIVE):
        return None
    if any(_CONTRACTED.search(word) for word in plain):
        return None
    finite = [index for index, word in enumerate(plain) if word in _FINITE]
    if len(finite) != 1 or not 0 < (at := finite[0]) < len(words) - 1:
        return None
    verb, after = words[at], words[at + 1]
    if plain[at] not in _TAKES_NOT or plain[at + 1] in _ADVERBS:
        return None
    if sentence[verb.end() : after.start()] != " " or not verb.group().islower():
        return None
    if sentence[words[at - 1].end() : verb.start()] != " ":  # a comma: the end of an aside
        return None
    is_can = plain[at] == "can"
    return sentence[: verb.end()] + ("not" if is_can else " not") + sentence[verb.end() :]


def deny(sentence: str, lower: Collection[str]) -> str | None:
    """Put "It is not true that" before a sentence, so that it denies its content.

    None unless it is a complete statement: it ends with a full stop after a content word, begins
    with an article or has an auxiliary, does not depend on the sentence before, has no negation,
    and does not report a view.

    Args:
        lower: words that are in lower case inside sentences.

    >>> deny("The old bridge fell, and two boats sank.", {"the"})
    'It is not true that the old bridge fell, and two boats sank.'
    """
    first = sentence.split(maxsplit=1)[0]
    words = [word.lower() for word in WORD.findall(sentence)]
    if not sentence.rstrip().endswith(".") or _MARKS.search(sentence) or is_negative(sentence):
        return None
    if not first.isalpha() or leans(sentence) or words[-1] in STOP_WORDS:
        return None
    if words[0] not in _ARTICLES and not _FINITE & {*words[1:]}:  # "Sign the petition."
        return None
    if any(word.startswith(_REPORTED) for word in words):
        return None
    is_small = first.lower() in lower
    return f"It is not true that {first.lower() if is_small else first}{sentence[len(first) :]}"


def is_one_clause(sentence: str) -> bool:
    """Whether no word of a sentence could begin a second clause."""
    return _CLAUSES.search(sentence) is None


def is_negative(text: str) -> bool:
    """Whether a sentence has a negative word."""
    words = (word.group().lower().replace("’", "'") for word in WORD.finditer(text))
    return any(word in _NEGATIVE or word.endswith("n't") for word in words)


# Values: numbers, dates and names

ValueKind = Literal["number", "date", "name"]
VALUES: tuple[ValueKind, ...] = ("number", "date", "name")
MIN_TEXTS = 2  # texts that must contain a name before it can replace another
MIN_LETTERS = 3  # words that begin with the same letters may be derived from a name
FARTHEST_YEARS = 60
MAX_TRIES = 50
MAX_CAPITALS = 0.5  # largest share of capitalised words in a sentence that is not a title

MONTHS = tuple(
    """
    January February March April June July August September October November December
    """.split()
)  # May is a verb too
DAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
NUMBER_WORDS = tuple("two three four five six seven eight nine ten eleven twelve".split())
# After these words a number is a bound, which another number may also satisfy.
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
    """A number, date or name, its position in the text, and the word before it."""

    kind: ValueKind
    text: str
    start: int
    behind: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """The names and lower-case words in the texts of a source.

    `names`: names in two or more texts -> the words before them. `lower`: words in lower case.
    """

    names: Mapping[str, frozenset[str]] = field(repr=False)
    lower: frozenset[str] = field(repr=False)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """The vocabulary of these texts, without names that have a word also in lower case."""
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
        names = sorted(name for name, n in texts_of.items() if n >= MIN_TEXTS)
        return cls({name: frozenset(behind[name]) for name in names}, lower)


def values_in(text: str, vocabulary: Vocabulary) -> list[Value]:
    """The values that a sentence has once, without bounds, ranges and list marks.

    number: digits, or a word from two to twelve. date: a year after in, during, year or a month; a
    month except May; a weekday. name: capitalised words inside the sentence that never appear in
    lower case in the texts of the source.

    >>> found = values_in("In 1932 the Kelso bridge got two lanes.", Vocabulary({}, frozenset()))
    >>> [(value.kind, value.text) for value in found]
    [('number', 'two'), ('date', '1932'), ('name', 'Kelso')]
    """
    values = [*_numbers(text), *_dates(text), *_names(text, vocabulary.lower)]
    return [value for value in values if len(offsets(text, value.text)) == 1]


def offsets(text: str, value: str) -> list[int]:
    """The positions of a value in a text, except inside longer words or numbers."""
    return [match.start() for match in _alone(value).finditer(text)]


def replace_value(text: str, old: str, new: str) -> str:
    """Replace a value in a text, except inside longer words or numbers."""
    return _alone(old).sub(lambda _: new, text)


def another(
    value: Value, avoid: str, vocabulary: Vocabulary, rng: np.random.Generator
) -> str | None:
    """Another value of the same kind and form that is not in `avoid`; None if there is none.

    A number has the same number of digits and differs by more than a fifth. A name comes from the
    source, has the same number of words and the same case, and follows the same word there.
    """
    if value.kind == "name":
        return _other_name(value, avoid, vocabulary.names, rng)
    if value.text in NUMBER_WORDS:
        free = [w for i, w in enumerate(NUMBER_WORDS, 2) if not {w, str(i)} & _tokens(avoid)]
        return _choose_one([word for word in free if word != value.text], rng)
    for names in (MONTHS, DAYS):
        if value.text in names:
            return _choose_one([name for name in names if name not in avoid], rng)
    for _ in range(MAX_TRIES):
        new = _other_year(value.text, rng) if value.kind == "date" else _digits(value.text, rng)
        if _is_far(value, new) and new not in avoid and not _in_words(new, avoid):
            return new
    return None


def has_other_form(value: Value, text: str) -> bool:
    """Whether a text may also have a value in another form.

    A number may be written as a word or in digits. A name may be part of a longer name, or words
    may begin with it.
    """
    if value.kind == "name":
        longer = re.search(rf"[A-Z][\w.]* {value.text}\b|\b{value.text}(?:'s)? [A-Z]", text)
        begun = {word[:MIN_LETTERS].lower() for word in value.text.split()}
        words = WORD.findall(replace_value(text, value.text, ""))
        return longer is not None or any(word[:MIN_LETTERS].lower() in begun for word in words)
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
    if sum(word[0].isupper() for word in words) > MAX_CAPITALS * len(words):
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
    """Whether "5 to", "5 and" or similar words come before a value."""
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
    return _choose_one(free, rng)


def _choose_one(free: list[str], rng: np.random.Generator) -> str | None:
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
    """Whether a small number is written as a word in a text."""
    is_small = number.isdigit() and 2 <= int(number) <= 12
    return is_small and NUMBER_WORDS[int(number) - 2] in _tokens(text)
