"""Cuts short statements out of running text for the lexical nuggetizer, without parser or model.

A statement is a short sentence, or a clause of a long one that reads as complete: it starts
where a sentence or clause starts, has a verb, and does not stop in the middle of a phrase. The
word lists are closed classes of English, so other languages give only short sentences.
"""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re

MAX_WORDS = 12  # longest nugget, arXiv:2411.09607
MIN_WORDS = 4

_AUXILIARIES = frozenset(
    """
    am are aren't can can't cannot could couldn't did didn't do does doesn't don't had has hasn't
    have haven't is isn't may might must shall should was wasn't were weren't will won't would
    """.split()
)
_VERBS = _AUXILIARIES | frozenset(
    """
    affect affects allow allows appear appears became become becomes began begin begins bring
    brings came cause causes come comes consists contain contains create creates depend depends
    destroy destroys falls feel feels gave get gets give gives go goes grew grow grows happen
    happens helps hold holds include includes increases involve involves keep keeps knows lead
    leads let lets live lives lose loses lost made make makes mean means moves need needs occur
    occurs offer offers produce produces protect protects provide provides puts reaches reduce
    reduces refers releases remain remains require requires rise rises rose runs seem seems send
    sends serve serves show shows spreads stands starts stay stays stops suggest suggests supports
    take takes tend tends took turns uses want wants went works wrote
    """.split()
)
_ARTICLES = frozenset("a an the my your his her its our their this these those no".split())
_PREPOSITIONS = frozenset(
    """
    about across after against along amid among around as at before behind below beneath beside
    between by despite during except for from in inside into like near of off on onto outside over
    per since through throughout to toward towards under until upon via with within without
    """.split()
)
_SAFE_CUTS = _PREPOSITIONS - frozenset("except like of per than to until without".split())
_JOINING = frozenset("and but or so yet because since although though while whereas that".split())
_RELATIVE = frozenset("which who whom whose where when whenever".split())
_OPENERS = frozenset(
    """
    also altogether besides first furthermore hence however indeed instead meanwhile moreover
    nevertheless next nonetheless overall second still then therefore third thus
    """.split()
)
_CONDITIONS = frozenset("if unless".split())
_LEAD = re.compile(
    r"^(?:for (?:example|instance)|in (?:addition|fact|other words|short|general)"
    r"|of course|first of all|as (?:a result|such)|on (?:the other hand|top of that)|after all"
    r"|at the same time),\s+",
    re.IGNORECASE,
)
_DANGLING = (
    _ARTICLES
    | _PREPOSITIONS
    | _JOINING
    | _RELATIVE
    | _CONDITIONS
    | frozenset(
        """
        be been being both each either even every he how i it just largely mainly more most not
        only partly she some such than they too very we what why you
        """.split()
    )
)
_SUBORDINATING = frozenset("as once when whenever where".split())
_COORDINATING = frozenset("and but or so yet".split())
_NO_SUBJECT = (
    _VERBS
    | _PREPOSITIONS
    | _RELATIVE
    | _CONDITIONS
    | frozenset("also be even how never not often only still than then what why".split())
)
_NO_VERB_AFTER = _ARTICLES | _PREPOSITIONS | _JOINING
_BRACKETED = re.compile(r"(?:(?<!\s)\s*+(?:\[[^\]]*\]|\([^)]*\)))+|https?://\S+")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘]?[A-Z0-9])|\n+")
_QUOTES = re.compile(r'["“”]')
_OUTER = " .,;:!?\"'“”‘’*•·|–—-"


def statements(passage: str) -> list[str]:
    """The statements of 4 to 12 words in a passage, in its order, each once."""
    texts: list[str] = []
    for sentence in _SENTENCE.split(_leave_out_brackets(passage)):
        texts += _of_sentence(sentence.strip())
    return list(dict.fromkeys(texts))


def _of_sentence(sentence: str) -> list[str]:
    if sentence.endswith(("?", ":", "…", "...")):
        return []
    words = _LEAD.sub("", sentence).split()
    first = _skip_opening(words, 0)
    whole = words[first:]
    if len(whole) <= MAX_WORDS:
        ended = sentence.endswith((".", "!"))
        return [_join(whole)] if _stands(whole) and (ended or _has_verb(whole)) else []
    if _bare(words[0]) in _CONDITIONS:
        return []  # neither half is complete without the other
    return [_join(clause) for clause in _clauses(words, first)]


def _clauses(words: list[str], first: int) -> list[list[str]]:
    """From each index where a clause starts, the longest complete run of words that fits."""
    verb = next((i for i in range(1, len(words)) if _is_verb(words, i)), len(words))
    starts = [first, *(i for i in range(first + 1, len(words)) if _is_edge(words, i, verb))]
    clauses = []
    reached = 0
    for start in starts:
        if start < reached:
            continue
        opening = _skip_opening(words, start)
        if start > first and not _starts_clause(words, opening):
            continue
        ends = [end for end in (*starts, len(words)) if opening < end <= opening + MAX_WORDS]
        ends += [0] if ends else _cuts(words, opening)
        for end in reversed(ends):
            clause = words[opening:end]
            hangs = end < len(words) and _bare(words[end - 1]) in _VERBS
            if _stands(clause) and not hangs and _has_verb(clause, sure=start > first):
                clauses.append(clause)
                reached = end
                break
    return clauses


def _is_edge(words: list[str], index: int, first_verb: int) -> bool:
    """Whether a new clause may start with this word."""
    before, word = words[index - 1], _bare(words[index])
    if word in _COORDINATING:  # between clauses, not between two nouns
        after = range(index + 2, min(index + 5, len(words)))
        return first_verb < index and any(_is_verb(words, i) for i in after)
    if before[-1] in ",;:" or before in ("-", "–", "—"):
        return _bare(before) not in _COORDINATING
    if word in _RELATIVE:
        return _bare(before) not in _PREPOSITIONS
    return word in _JOINING


def _cuts(words: list[str], opening: int) -> list[int]:
    """Ends before a prepositional phrase, for a clause that is too long."""
    indexes = range(opening + 6, min(opening + MAX_WORDS, len(words) - 1) + 1)
    return [
        index
        for index in indexes
        if _bare(words[index]) in _SAFE_CUTS and not _is_verb(words, index - 1)
    ]


def _skip_opening(words: list[str], start: int) -> int:
    """Skip `and`, `However,` and similar words."""
    while start < len(words) and (_bare(words[start]) in _JOINING or _opens(words[start])):
        start += 1
    return start


def _opens(word: str) -> bool:
    return word[-1] == "," and (_bare(word) in _OPENERS or word.endswith("ly,"))


def _starts_clause(words: list[str], index: int) -> bool:
    """Whether a word inside a sentence can be the first of a subject."""
    if index >= len(words) or words[index][-1] in ",;:":
        return False
    word = _bare(words[index])
    if not word or word in _NO_SUBJECT or word.endswith(("ing", "ed")):
        return False
    if _bare(words[index - 1]) != "that" or word in _ARTICLES:
        return True
    near = range(index + 1, min(index + 4, len(words)))  # `that yeasts make`, not `that feeds on`
    return any(_is_verb(words, i, sure=True) for i in near)


def _stands(words: list[str]) -> bool:
    """Whether the length is right, it is not a title, and it does not end in mid-phrase."""
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return False
    if sum(word[:1].isupper() for word in words) > 0.6 * len(words):
        return False
    last = _bare(words[-1])
    if _bare(words[-2]) in _JOINING | _RELATIVE:  # `..., because bees`
        return False
    return (len(last) > 1 or last.isdigit()) and last not in _DANGLING | _AUXILIARIES


def _has_verb(words: list[str], *, sure: bool = False) -> bool:
    """Whether the main clause has one; `sure` as in _is_verb."""
    commas = [i + 1 for i, word in enumerate(words) if word[-1] == "," and i + 1 < len(words)]
    if _bare(words[0]) in _SUBORDINATING and not commas:
        return False
    asides = [index for index in commas if _bare(words[index]) in _RELATIVE]
    end = asides[0] if asides else len(words) - 1
    return any(_is_verb(words, index, sure=sure) for index in range(1, end))


def _is_verb(words: list[str], index: int, *, sure: bool = False) -> bool:
    """Whether the word is a known verb or, unless `sure`, looks like a past tense."""
    word, before = _bare(words[index]), _bare(words[index - 1]) if index else ""
    if before in _NO_VERB_AFTER:
        return False
    if word in _VERBS:
        return True
    return not sure and word.endswith("ed") and len(word) > 4 and words[index - 1][-1] != ","


def _bare(word: str) -> str:
    return word.strip(_OUTER).lower().replace("’", "'")


def _join(words: list[str]) -> str:
    return _leave_out(_QUOTES, " ".join(words)).strip(_OUTER)


def _leave_out_brackets(text: str) -> str:
    """The text without brackets, their content, and addresses.

    Brackets that are never closed are hidden first: otherwise each would be searched to the end of
    the text.
    """
    for opened, closed, hidden in ("[", "]", "\ue000"), ("(", ")", "\ue001"):
        end = text.rfind(closed) + 1
        text = text[:end] + text[end:].replace(opened, hidden)
    return _leave_out(_BRACKETED, text).replace("\ue000", "[").replace("\ue001", "(")


def _leave_out(pattern: re.Pattern[str], text: str) -> str:
    """The text without the matches; a space remains where two words would otherwise join."""

    def space(match: re.Match[str]) -> str:
        around = text[max(match.start() - 1, 0) : match.start()], text[match.end() :][:1]
        return " " if all(map(str.isalnum, around)) else ""

    return pattern.sub(space, text)
