"""Pages, helps, errors and docstrings speak plain English: no phrase that has to be read twice."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = ("*.py", "*.md", "*.js", "*.html", "*.yaml", "*.yml", "*.toml")
SKIPPED = ("tests", "build", "docs/reference/renamed.md", ".")
# A phrase that this project used for something that has a plain name, and the plain one.
PLAIN = {
    r"(told|tells?) apart": "significantly different; distinguish",
    "foretold": "predicted",
    "of late": "last; at the end",
    "whoever": "anyone who; the person who",
    "what of it": "name the thing",
    "apiece": "each",
    r"(dear|dearer|dearest) (judge|model|one)s?": "expensive",
    r"(ballots?|seats?)": "votes, members of a jury",
    r"lexical twins?": "baseline",
    r"(rehears\w+|docket|workplace)": "dry run, queue, context",
    r"less the (next|human|lexical|mean|other)": "minus; difference to",
    r"(said of (it|them|each|all|a|the)|asked of (a|them|each))": "say about; ask a judge about",
    r"nothing of (it|them)": "does not mention; none of the texts",
    r"the furthest apart": "the largest difference",
    r"no zero of": "is not counted as a zero",
    r"a hole of": "a failure of nuggetjudge itself",
    r"(?<!there\x20)(is|are) no (judge|judgement|score|label|number|folder|file)s?": "is not a",
    r"(?<!there\x20)(is|are) no (model|text|run|table|topic)s?": "is not a",
    r"(has|have) (its|their) say": "decides; counts",
    r"answered of asked": "answered / total",
    r"the lexical judge quotes for nothing": "quotes cost nothing",
}  # fmt: skip


def list_texts():
    for pattern in TEXTS:
        for path in sorted(ROOT.rglob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(SKIPPED) and "/node_modules/" not in name:
                yield name, path.read_text(encoding="utf-8")


@pytest.mark.parametrize("phrase", PLAIN)
def test_no_text_uses_a_phrase_that_has_a_plain_one(phrase, texts):
    spaced = phrase.replace(" ", r"\s+(?:#:?\s*|//\s*|\"\s*f?\")?")
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()!r}"
        for name, text in texts
        for match in re.finditer(rf"\b{spaced}\b", text, re.IGNORECASE)
    ]
    assert not found, f"write {PLAIN[phrase]!r} instead"


@pytest.fixture(scope="module")
def texts():
    return list(list_texts())
