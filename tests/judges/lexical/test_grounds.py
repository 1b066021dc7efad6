"""What the lexical judge quotes: always verbatim, as little as holds the words."""

import asyncio
import json

import pytest

from nuggetjudge.judges import AnswerabilityGrader, SupportJudge
from nuggetjudge.judges.lexical.grounds import reason, spans


def cut(needed, text):
    return [text[start:end] for start, end in spans(needed, text)]


TEXT = """The dam was built in 1931; it holds the upper lake. Mr. Ode ran it.
Fish ladders - two of them - let salmon pass. Snow feeds the lake, and it rains, in spring."""


@pytest.mark.parametrize(
    ("needed", "quotes"),
    [
        ("a dam of 1931", ["The dam was built in 1931"]),
        ("the lake is upper", ["it holds the upper lake."]),
        ("Ode ran the dam", ["The dam was built in 1931", "Mr. Ode ran it."]),
        ("salmon pass ladders", ["Fish ladders - two of them - let salmon pass."]),
        ("snow in spring", ["Snow feeds the lake, and it rains, in spring."]),
        ("bees", []),
        ("", []),
    ],
)
def test_the_clauses_that_hold_the_words_are_quoted(needed, quotes):
    assert cut(needed, TEXT) == quotes


def test_no_more_is_quoted_than_holds_most_of_the_words():
    text = "One two three four five six. Six seven. Eight. Nine. Ten."
    assert cut("one two three four five six seven", text) == ["One two three four five six."]
    assert len(cut("three seven eight nine ten", text)) == 3


@pytest.mark.parametrize("text", ["", " \n ", "...", "dam", "\n\ndam,\n", "dam; ; dam", "(dam)."])
def test_odd_texts_are_quoted_without_white_space_around(text):
    for quote in cut("dam", text):
        assert quote == quote.strip()
        assert "dam" in quote


def test_a_reason_names_what_stands_there_and_what_is_missing():
    assert reason("Bees built dams", "A dam is built.") == (
        "2 of 3 words stand there: built, dams; missing: Bees"
    )
    assert reason("Bees", "A dam.") == "0 of 1 words stand there; missing: Bees"
    many = " ".join(f"word{i}" for i in range(20))
    assert reason(many, "").endswith("word7, 12 more")


def share_verbatim(judge, items):
    """The share of evidence that stands in its text, the number of it, and items without any."""
    judge = judge.explaining(evidence=True)

    async def judged():
        return [(await judge.verdict(**item))[0] for item in items]

    n, n_there, n_bare = 0, 0, 0
    for item, verdict in zip(items, asyncio.run(judged()), strict=True):
        n += len(verdict.evidence)
        n_there += sum(one.stands_in(item[one.of]) for one in verdict.evidence)
        n_bare += judge.needs_evidence(verdict.label) and not verdict.evidence
    return n_there / n, n, n_bare


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_all_evidence_on_trec_support_labels_stands_verbatim_in_its_text(shared_data):
    folder = shared_data / "rag24_support"
    if not folder.is_dir():
        pytest.skip(f"rag24_support not found in {shared_data}")
    passages = {row["docid"]: row["text"] for row in rows(folder / "passages.jsonl")}
    items = [
        {"sentence": row["sentence"], "passage": passages[row["docid"]]}
        for row in rows(folder / "pairs.jsonl")
        if row["docid"] in passages
    ]
    share, n, n_bare = share_verbatim(SupportJudge("lexical"), items)
    assert (share, n_bare) == (1.0, 0)
    assert n > len(items)


@pytest.mark.slow
def test_all_evidence_on_crux_ratings_stands_verbatim_in_its_text(shared_data):
    folder = shared_data / "crux_duc"
    if not folder.is_dir():
        pytest.skip(f"crux_duc not found in {shared_data}")
    asked = {
        row["qid"]: [question["text"] for question in row["sub_questions"]]
        for row in rows(folder / "queries.jsonl")
    }
    items = [
        {"question": question, "context": row["text"]}
        for row in rows(folder / "passages.jsonl")
        for question in asked[row["qid"]][:5]
    ]
    share, n, n_bare = share_verbatim(AnswerabilityGrader("lexical"), items)
    assert (share, n_bare) == (1.0, 0)
    assert n > 100
