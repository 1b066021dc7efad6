"""Written answers: each citation a passage that was given, within the limits, or no answer."""

import asyncio

import pytest
from mock_server import MockServer, Prose, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges.makers.answer_writer import AnswerWriter
from nuggetjudge.records.rows import Citation, Sentence

QUESTION = "Why did the dam break?"
PASSAGES = {"s9": "Rain fell for weeks.", "s4": "The wall was thin.", "s7": "Clay is weak."}
GOOD = [("Rain  fell\nfor weeks.", 1), ("The wall of clay was thin.", 3, 2), ("So it broke.",)]
WRITTEN = [
    Sentence(id=0, text="Rain fell for weeks.", citations=(Citation(passage_id="s9"),)),
    Sentence(
        id=1,
        text="The wall of clay was thin.",
        citations=(Citation(passage_id="s7"), Citation(passage_id="s4")),
    ),
    Sentence(id=2, text="So it broke."),
]


def answer(*sentences):
    return [{"text": text, "citations": list(citations)} for text, *citations in sentences]


def saying(*replies):
    """A server that gives these answers in turn, the last one for ever."""
    turns = iter(replies)
    return MockServer(lambda body: {"answer": answer(*next(turns, replies[-1]))})


def written(server, passages=PASSAGES, **options):
    model = ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)
    return asyncio.run(AnswerWriter(model, **options).write(QUESTION, passages))


def inputs_sent(server):
    return [input_of(request.body) for request in server.requests]


def test_sentences_cite_the_passages_by_their_ids_in_the_order_of_the_reply():
    with saying(GOOD) as server:
        sentences, calls = written(server)
        assert inputs_sent(server) == [
            {
                "question": QUESTION,
                "passages": dict(zip("123", PASSAGES.values(), strict=True)),
                "words": 400,
                "citations": 3,
                "rejected": [],
                "faults": [],
            }
        ]
    assert sentences == WRITTEN
    assert len(calls) == 1


WRONG = {
    "unknown": ([("Rain.", 1, 4)], ["sentence 1 cites 4, which is not the number of a passage"]),
    "from zero": ([("Rain.", 0)], ["sentence 1 cites 0, which is not the number of a passage"]),
    "doubled": ([GOOD[0], ("Thin.", 2, 1, 2)], ["sentence 2 cites 2 more than once"]),
    "too many": ([("All.", 3, 1, 2)], ["sentence 1 has more than 2 citations"]),
    "blank": ([("Rain.", 1), (" \n", 1)], ["sentence 2 has no text"]),
    "marks": ([("Rain [1].", 1)], ["sentence 1 has citation marks in its text"]),
    "marks of several": ([("Rain [2, 3].",)], ["sentence 1 has citation marks in its text"]),
    "marks of three": ([("Rain [1, 2; 3].",)], ["sentence 1 has citation marks in its text"]),
    "too long": ([("one two three", 1), ("four " * 11, 2)], ["it has 14 words, wanted 13 at most"]),
    "nothing": ([], ["it has no sentence"]),
    "several": (
        [("", 5, 5)],
        [
            "sentence 1 has no text",
            "sentence 1 cites 5, which is not the number of a passage",
            "sentence 1 cites 5 more than once",
        ],
    ),
}
LIMITS = {"words": 13, "citations": 2}


@pytest.mark.parametrize(("wrong", "faults"), WRONG.values(), ids=WRONG)
def test_a_reply_that_breaks_a_rule_is_shown_again_with_what_is_wrong(wrong, faults):
    with saying(wrong, GOOD) as server:
        sentences, calls = written(server, **LIMITS)
        _, repair = inputs_sent(server)
    assert sentences == WRITTEN
    assert len(calls) == 2
    assert repair["rejected"] == answer(*wrong)
    assert repair["faults"] == faults


@pytest.mark.parametrize(("wrong", "faults"), WRONG.values(), ids=WRONG)
def test_after_two_repairs_there_is_no_answer_and_the_reason_says_why(wrong, faults):
    with saying(wrong) as server:
        with pytest.raises(JudgeError) as caught:
            written(server, **LIMITS)
        assert len(server.requests) == 3
    assert caught.value.reason == "unparseable"
    assert caught.value.detail == f"after 2 repairs: {'; '.join(faults)}"
    assert caught.value.raw == str(answer(*wrong))


def test_the_last_word_and_the_last_citation_that_fit_are_taken():
    with saying([("one two three", 1, 2), ("four five", 3)]) as server:
        sentences, _ = written(server, words=5, citations=2, repairs=0)
    assert [len(sentence.citations) for sentence in sentences] == [2, 1]


def test_words_are_counted_after_unicode_normalisation_as_the_track_does():
    wide = "one\u00a0two\u3000three"  # white space that is no ASCII
    with saying([(wide, 1)]) as server, pytest.raises(JudgeError) as caught:
        written(server, words=2, repairs=0)
    assert "it has 3 words" in caught.value.detail


def test_a_bracketed_word_is_no_citation_mark():
    with saying([("The [old] wall broke [sic].", 1)]) as server:
        assert written(server, repairs=0)[0][0].text == "The [old] wall broke [sic]."


def test_one_sentence_without_citation_may_say_that_no_passage_answers():
    with saying([("The passages do not say why the dam broke.",)]) as server:
        sentences, calls = written(server)
    assert sentences == [Sentence(id=0, text="The passages do not say why the dam broke.")]
    assert len(calls) == 1


def test_a_reply_that_cannot_be_read_is_not_repaired():
    with saying(GOOD) as server:
        server.faults = [Prose()]
        with pytest.raises(JudgeError) as caught:
            written(server)
        assert len(server.requests) == 1
    assert caught.value.reason == "unparseable"


def test_without_a_passage_nothing_is_asked():
    with saying(GOOD) as server:
        with pytest.raises(JudgeError) as caught:
            written(server, {})
        assert not server.requests
    assert caught.value.reason == "no_passage"


def test_ones_own_instructions_take_the_place_of_ours_and_the_rules_stay():
    with saying([("Rain.", 9)], GOOD) as server:
        assert written(server, instructions="Answer in rhymes.")[0] == WRITTEN
        first, second = (request.body["messages"][0]["content"] for request in server.requests)
    assert first == second
    assert first.startswith("Answer in rhymes.\n\n")
    assert "coherent" not in first
    assert AnswerWriter("lexical").prompt("compose").fixed[0]["content"] != first


def test_instructions_are_part_of_the_instrument():
    hashes = {
        AnswerWriter("lexical", instructions=own).prompt("compose").prompt_hash()
        for own in (None, "Answer in rhymes.", "Answer in prose.")
    }
    assert len(hashes) == 3


@pytest.mark.parametrize(
    "options", [{"words": 0}, {"citations": 0}, {"repairs": -1}, {"instructions": " \n"}]
)
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(ValueError, match=r"must be 1 or more|blank"):
        AnswerWriter("lexical", **options)
