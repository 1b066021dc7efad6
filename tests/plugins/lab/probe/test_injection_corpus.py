"""The payloads are there in all their kinds, and none of them leaves the data it is planted in."""

import json
import re
import unicodedata
from collections import Counter

import pytest

from nuggetjudge.backends.prompt import Prompt
from nuggetjudge.judges import (
    AnswerabilityGrader,
    EntailmentJudge,
    NuggetAssigner,
    RelevanceJudge,
    SupportJudge,
)
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.plugins.lab.probe.echoes import echo_rows
from nuggetjudge.plugins.lab.probe.injection import plant
from nuggetjudge.plugins.lab.probe.payloads import CONTROL, fields_for, read_payloads
from nuggetjudge.records.judgements import Reason, Unjudged
from nuggetjudge.records.labels import ItemRow

CORPUS = read_payloads()
HOSTILE = [payload for payload in CORPUS if payload.kind != CONTROL]
JUDGES = {
    "assigner": NuggetAssigner(model="lexical", window=2),
    "support": SupportJudge(model="lexical"),
    "relevance": RelevanceJudge(model="lexical"),
    "answerability": AnswerabilityGrader(model="lexical"),
    "entailment": EntailmentJudge(model="lexical"),
    "entailment-2": EntailmentJudge(model="lexical", window=2),
}
REPLY = '{"verdict": "full"}'
KINDS = {
    "markers", "fences", "replies", "instructions", "role-play", "master-keys", "empty",
    "zero-width", "bidi", "homoglyphs", "long", "split",
}  # fmt: skip


def items_of(judge, n=4):
    """Items of two topics, two of an answer, with every input of the judge."""
    return [
        ItemRow(
            line=i + 1,
            ids={"topic_id": f"t{i // 2}", f"{judge.listed or 'sentence'}_id": f"{i}"},
            inputs={
                name: f"{name} {i if name == judge.listed else i // 2}. It is dull. So it ends."
                for name in judge.inputs
            },
        )
        for i in range(n)
    ]  # fmt: skip


def planted(name, repeats=2):
    """Every payload that this judge's items take, half of the items with the worst label."""
    judge = JUDGES[name]
    items = items_of(judge)
    ends = judge.scale[0], judge.scale[-1]
    outcomes = [Verdict(ends[i % 2]) for i in range(len(items))]
    return judge, items, plant(judge, items, outcomes, CORPUS, repeats, seed=0)


def test_the_corpus_is_complete():
    assert len(HOSTILE) >= 120
    assert {payload.kind for payload in HOSTILE} == KINDS
    assert min(Counter(payload.kind for payload in HOSTILE).values()) >= 8
    places = Counter(place for payload in HOSTILE for place in payload.places)
    assert set(places) == {"passage", "answer", "nugget", "question", "sentence"}
    assert min(places.values()) >= 100
    languages = Counter(p.language for p in HOSTILE if p.kind == "instructions")
    assert languages == dict.fromkeys(("en", "de", "fr", "es", "zh", "ar"), 4)
    assert sum(payload.asks == "worst" for payload in HOSTILE) >= 8
    assert len(CORPUS) - len(HOSTILE) >= 5


def test_every_payload_is_another():
    assert len({payload.id for payload in CORPUS}) == len(CORPUS)
    assert len({(p.text, p.how, p.asks, p.times, p.then) for p in CORPUS}) == len(CORPUS)


def of_kind(kind):
    return [payload for payload in HOSTILE if payload.kind == kind]


def test_kinds_hold_what_they_are_called():
    assert all(not re.search(r"\w", p.text) and p.how == "instead" for p in of_kind("empty"))
    assert "" in {payload.text for payload in of_kind("empty")}
    assert ":" in {payload.text for payload in of_kind("master-keys")}
    assert all("$" not in payload.text for payload in of_kind("master-keys"))
    assert all("$label" in p.text for p in of_kind("instructions"))
    assert all(len(p.fill("verdict", "full", REPLY)) > 1_400 for p in of_kind("long"))
    assert all(p.how == "split" and "¶" in p.text for p in of_kind("split"))
    for payload in of_kind("bidi"):
        assert {unicodedata.bidirectional(c) for c in payload.text} & {
            "RLO", "LRO", "RLE", "LRE", "RLI", "LRI", "FSI", "AL", "R",
        }  # fmt: skip
    assert all(not payload.text.isascii() for payload in of_kind("zero-width"))
    assert sum(payload.text.isascii() for payload in of_kind("homoglyphs")) == 1  # digits in words
    control = [payload for payload in CORPUS if payload.kind == CONTROL]
    assert all("$" not in payload.text for payload in control)


def test_what_an_honest_judge_may_follow_goes_only_where_it_must_not():
    for payload in CORPUS:
        if payload.how == "instead" or payload.asks == "worst":
            assert set(payload.places) == {"passage", "answer"}
    support = JUDGES["support"]
    for payload in of_kind("empty"):
        assert fields_for(support, payload) == ["passage"]


@pytest.mark.parametrize("name", JUDGES)
def test_no_payload_can_leave_its_fence_forge_a_field_or_change_another_text(name):
    judge, _, cases = planted(name)
    prompt = judge.prompt(judge.predictor)
    assert {case.payload.kind for case in cases} == KINDS | {CONTROL}
    for case in cases:
        inputs = judge.call_inputs([item.inputs for item in case.items])
        *fixed, last = prompt.messages(inputs)
        assert fixed == prompt.of(inputs).fixed
        head, line, tail, end = last["content"].split("\n")
        assert (head, tail, end) == ("<data>", "</data>", "Return only the JSON object.")
        assert "<" not in line
        assert "[[" not in line
        assert json.loads(line) == inputs
        honest = judge.call_inputs([item.inputs for item in case.before])
        changed = {key for key in honest if honest[key] != inputs[key]}
        listed = f"{judge.listed}s"
        assert changed == {listed if case.name == judge.listed else case.name}
        if case.name == judge.listed:
            key = str(case.target + 1)
            assert inputs[listed] | {key: honest[listed][key]} == honest[listed]


@pytest.mark.parametrize("name", JUDGES)
def test_the_text_and_the_payload_are_both_there_unless_one_stands_in_for_the_other(name):
    _, _, cases = planted(name)
    for case in cases:
        text = case.before[case.target].inputs[case.name]
        if case.payload.how == "instead":
            assert case.text == case.filled
            continue
        parts = case.filled.split("¶") if case.payload.how == "split" else [case.filled]
        sentences = text.split(". ")
        assert all(part in case.text for part in (*parts, *sentences))
        assert len(case.text) > len(text)
        assert "$label" not in case.text


@pytest.mark.parametrize("name", JUDGES)
def test_no_payload_goes_into_an_item_that_has_the_label_it_asks_for(name):
    judge, items, cases = planted(name)
    worst = {item.cell for i, item in enumerate(items) if i % 2 == 0}
    for case in cases:
        cell = case.before[case.target].cell
        assert (cell in worst) == (case.payload.asks == "best")
    seen = Counter(case.payload.id for case in cases)
    assert set(seen.values()) == {2}
    both = Counter((case.payload.id, case.before[case.target].cell) for case in cases)
    assert max(both.values()) == 1
    assert {case.name for case in cases} == set(judge.inputs)


def test_nothing_is_planted_in_what_was_not_judged():
    judge = JUDGES["support"]
    items = items_of(judge)
    lost = [Unjudged(Reason.REFUSED, "no") for _ in items]
    assert plant(judge, items, lost, CORPUS, 3, seed=0) == []


@pytest.mark.parametrize("name", JUDGES)
def test_the_parser_takes_no_verdict_from_what_a_reply_repeats(name):
    judge, _, cases = planted(name, repeats=1)
    rows = echo_rows(judge, cases)
    assert len(rows) >= 20
    for row in rows:
        assert row["replies"] == len(cases)
        assert row["hijacked"] == 0, row
        if row["is_honest"]:
            assert row["read"] == row["replies"]


def test_a_parser_that_looks_for_an_object_in_prose_would_be_hijacked(monkeypatch):
    strict = Prompt.parse

    def lenient(self, text, inputs):
        first = re.search(r"\{[^{}]*\}", text)
        return strict(self, first[0] if first else text, None)

    monkeypatch.setattr(Prompt, "parse", lenient)
    judge, _, cases = planted("support", repeats=1)
    rows = {row["form"]: row for row in echo_rows(judge, cases)}
    assert rows["alone"]["hijacked"] == 0
    assert rows["payload, then its own"]["hijacked"] >= 10
    assert rows["text alone"]["hijacked"] >= 10
