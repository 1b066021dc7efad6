"""Worked examples of one's own reach the model before each question; wrong ones are refused."""

import json

import pytest
from graded_labels import write_jsonl
from mock_server import MockServer, default_brain, input_of

from nuggetjudge.judges import (
    KeyPointExtractor,
    NuggetAssigner,
    QuestionDecomposer,
    SubQuestionGenerator,
    SupportJudge,
)
from nuggetjudge.judges.demonstrations import with_demonstrations
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import InputError

EXTRACTED = {
    "question": "Why did the mill burn?",
    "document": "Dust lay on the beams. A lamp fell.",
    "known": [],
    "points": [{"text": "A lamp fell into dust.", "spans": ["Dust lay", "A lamp fell."]}],
}
SPLIT = {"question": "Why, and when?", "kind": "Complex", "subquestions": ["Why?", "When?"]}
CITED = {"passage": "It rained.", "sentence": "It was wet.", "verdict": "full"}


@pytest.fixture
def shown(tmp_path):
    """A lexical judge with these examples, and the messages of one question."""

    def with_rows(judge, *rows):
        return with_demonstrations(judge, write_jsonl(tmp_path / "examples.jsonl", rows))

    return with_rows


def data_of(message):
    return json.loads(message["content"].split("\n")[1])


def test_an_example_is_an_exchange_before_the_question(shown):
    judge = KeyPointExtractor("lexical", example=False)
    asked = {"question": "q", "document": "d", "known": []}
    plain = judge.prompt("find").messages(asked)
    system, question, reply, last = shown(judge, EXTRACTED).prompt("find").messages(asked)
    assert [system, last] == plain
    assert (question["role"], reply["role"]) == ("user", "assistant")
    assert data_of(question) == {name: EXTRACTED[name] for name in asked}
    assert json.loads(reply["content"]) == {"points": EXTRACTED["points"]}
    assert judge.prompt("find").messages(asked) == plain  # the judge itself stays


def test_labels_are_read_as_those_of_a_reply_and_maps_by_their_keys(shown):
    (demo,) = shown(QuestionDecomposer("lexical"), SPLIT).split.demos
    assert demo["kind"] == "complex"
    asked = {"question": "q", "answer": "a", "nuggets": {"1": "n", "2": "m"}}
    labels = {"verdicts": {"2": "support", "1": "not_support"}}
    (demo,) = shown(NuggetAssigner("lexical"), asked | labels).assign.demos
    assert demo["verdicts"]["2"] == "support"


def test_they_take_the_place_of_the_examples_of_a_judge(shown):
    judge = shown(
        SubQuestionGenerator("lexical"),
        {"report": "r", "known": [], "wanted": 1, "questions": ["Why r?"]},
    )
    assert [demo["report"] for demo in judge.write.demos] == ["r"]


@pytest.mark.whole
def test_of_a_judge_that_asks_several_questions_an_example_says_which(shown):
    from nuggetjudge.plugins.collections.judges import QuestionEvolver

    row = {"question": "q", "domain": "", "category": "", "wanted": 1, "questions": ["why q?"]}
    judge = shown(QuestionEvolver("lexical"), row | {"predictor": "width"})
    assert (len(judge.depth.demos), len(judge.width.demos)) == (0, 1)
    with pytest.raises(InputError, match=r"examples.jsonl:1: .*depth or width; say which under"):
        shown(QuestionEvolver("lexical"), row)


def test_an_example_may_have_a_title_and_a_question_none(shown):
    judge = shown(SupportJudge("lexical"), CITED, CITED | {"title": "Weather"})
    asked = {"passage": "p", "sentence": "s"}
    _, first, _, second, _, _ = judge.prompt("judge").messages(asked | {"title": "t"})
    assert (data_of(first).get("title"), data_of(second).get("title")) == (None, "Weather")
    assert "not supplied" not in first["content"]
    untitled = judge.prompt("judge").messages(asked)
    assert not any("title" in message["content"] for message in untitled)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verdict": None}, "its reply is none: verdict"),
        ({"verdict": "most"}, "its reply is none: verdict"),
        ({"passage": 3}, "field 'passage': Input should be a valid string"),
        ({"passages": "p"}, "field 'passages' is not one of passage, title, sentence, verdict"),
        ({"predictor": "assign"}, "no question 'assign', wanted one of judge"),
    ],
)
def test_what_is_no_example_is_refused_by_line(shown, changes, message):
    with pytest.raises(InputError) as caught:
        shown(SupportJudge("lexical"), CITED, CITED | changes)
    assert "examples.jsonl:2: " in str(caught.value)
    assert message in str(caught.value)


def test_a_missing_field_and_an_empty_file_are_refused(shown):
    with pytest.raises(InputError, match=r"examples.jsonl:1: field 'sentence' is missing"):
        shown(SupportJudge("lexical"), {"passage": "p", "verdict": "full"})
    with pytest.raises(InputError, match=r"examples.jsonl:1: no example in it"):
        shown(SupportJudge("lexical"))
    labels = {"question": "q", "answer": "a", "nuggets": {"1": "n"}, "verdicts": {"2": "support"}}
    with pytest.raises(InputError, match=r"its reply is none: verdicts: 0 of 1 verdicts"):
        shown(NuggetAssigner("lexical"), labels)


@pytest.mark.whole
def test_a_build_shows_the_examples_that_its_config_names(tmp_path):
    from nuggetjudge.plugins.collections.long2rag import build_long2rag

    seeds = write_jsonl(tmp_path / "seeds.jsonl", [{"id": "a", "text": "Why did the mill burn?"}])
    path = write_jsonl(tmp_path / "examples.jsonl", [SPLIT])
    given = {"run.out": tmp_path / "out", "run.cache": False, "long2rag.least": 0}
    given["judges.question_decomposer.demonstrations"] = path
    with MockServer(default_brain) as server:
        sets = [f"models.default.api_base={server.base_url}"]
        manifest = build_long2rag(seeds, None, load_config(None, given, sets, "openai/mock"))
        asked = [r.body["messages"] for r in server.requests]
    split = next(messages for messages in asked if len(messages) > 2)
    assert data_of(split[1]) == {"question": SPLIT["question"]}
    assert str(path) in manifest["inputs"]
    assert input_of({"messages": split})["question"] == "Why did the mill burn?"


def test_examples_beside_those_of_a_judge_file_are_refused(tmp_path):
    given = {
        "judges.support.state": tmp_path / "s",
        "judges.support.demonstrations": tmp_path / "d",
    }
    with pytest.raises(InputError, match=r"judges.support.demonstrations: state has its own"):
        load_config(None, given)


def test_a_judge_that_says_why_takes_examples_with_and_without_reasons(shown):
    """With them its example would else teach it to leave them out."""
    judge = SupportJudge().explaining(evidence=True, reasoning=True)
    why = {"reasoning": "rain wets", "passage_quotes": ["It rained."], "sentence_quotes": []}
    with_why, bare = shown(judge, CITED | why, CITED).judge.demos
    assert (with_why["passage_quotes"], "reasoning" in bare) == (["It rained."], False)
    with pytest.raises(InputError, match=r"jsonl:1: .*passage_quotes: Input should be a"):
        shown(judge, CITED | why | {"passage_quotes": "It rained."})
    with pytest.raises(InputError, match="'reasoning' is not one of"):
        shown(SupportJudge(), CITED | why)
