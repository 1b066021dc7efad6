"""Sub-narratives of topics and nuggets, in the spellings that tools and tracks have for them."""

import json

import pytest

from nuggetjudge.records import read_nugget_banks, read_topics
from nuggetjudge.records.instruments.sub_narratives import numbered, parts_of
from nuggetjudge.records.nuggets import bank_row

TOPIC = {"id": "12", "narrative": "How does tidal power work and what does it cost?"}


@pytest.mark.parametrize("field", ["sub_narratives", "subnarratives", "sub-narratives"])
@pytest.mark.parametrize("key", [None, "text", "sub_narrative"])
def test_a_topic_keeps_the_parts_of_its_narrative(write, problems, field, key):
    parts = ["how it works", "what it costs"]
    listed = parts if key is None else [{key: part, "importance": "vital"} for part in parts]
    topics = read_topics(write({**TOPIC, field: listed}), problems)
    assert topics["12"].sub_narratives == ("how it works", "what it costs")
    assert topics["12"].text == TOPIC["narrative"]
    assert len(problems) == 0


def test_what_is_no_text_or_there_twice_is_listed_and_not_used(write, problems, kinds):
    topics = read_topics(write({**TOPIC, "sub_narratives": ["a", 7, "a", " "]}), problems)
    assert topics["12"].sub_narratives == ("a",)
    assert kinds() == [(1, "bad_sub_narratives", "kept")] * 3


def test_one_topic_with_two_lists_is_an_error(write, problems, kinds):
    rows = [{**TOPIC, "sub_narratives": names} for names in (["a"], ["b"])]
    read_topics(write(*rows), problems)
    assert kinds() == [(2, "duplicate_topic", "error")]
    assert "another list of sub-narratives" in str(problems.rows[0])


def test_the_quotation_marks_of_rag25_nuggets_are_no_part_of_the_name(write, problems):
    nuggets = [
        {"text": "tides turn turbines", "mapped_sub_narrative": '"How it works"'},
        {"text": "it costs more", "mapped_sub_narrative": "What it costs"},
        {"text": "fish swim"},
    ]
    row = {"qid": "12", "query": "q", "nuggets": [{**n, "importance": "vital"} for n in nuggets]}
    bank = read_nugget_banks(write(row), problems)["12"]
    assert [n.sub_narrative for n in bank.nuggets] == ["How it works", "What it costs", ""]
    written = bank_row(bank)["nuggets"]
    assert [n.get("mapped_sub_narrative") for n in written] == [
        "How it works",
        "What it costs",
        None,
    ]
    assert read_nugget_banks(write(json.loads(json.dumps(bank_row(bank)))), problems)["12"] == bank


def test_numbered_texts_come_apart_as_they_were():
    parts = ["how 1. turbines turn", "what it\n costs"]
    assert parts_of(numbered(parts)) == ["how 1. turbines turn", "what it costs"]
    assert parts_of("what it costs\n\nwho pays") == ["what it costs", "who pays"]


def test_the_released_nuggets_have_the_sub_narratives_of_their_readme(shared_data, problems):
    banks = read_nugget_banks(shared_data / "rag25_nuggets" / "nuggets_nist.jsonl", problems)
    nuggets = [nugget for bank in banks.values() for nugget in bank.nuggets]
    assert (len(banks), len(nuggets)) == (13, 760)
    assert all(n.sub_narrative and n.sub_narrative[0] not in "\"'" for n in nuggets)
