"""Written answers: each citation a passage that was given, within the limits, or no answer."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, Prose, input_of

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import (
    ClaimExtractor,
    JudgeFile,
    KeyPointExtractor,
    KeyPointMerger,
    Nuggetizer,
    SubQuestionGenerator,
)
from nuggetjudge.judges.fitted import FittedPrompt
from nuggetjudge.judges.makers import lists as examples
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


# The claims of an answer: in its order, each once, and none of a blank answer.
ANSWER = "The dam broke in May. It was thin."


def claim_extractor_saying(claims):
    return MockServer(lambda body: {"claims": claims})


def model_at(server):
    return ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)


def extracted(server, answer=ANSWER):
    return asyncio.run(ClaimExtractor(model_at(server)).extract(answer))


def test_an_answer_is_one_call_and_its_claims_come_in_order():
    with claim_extractor_saying(["The dam broke in May.", "The dam was  thin.\n"]) as server:
        claims, calls = extracted(server)
        (request,) = server.requests
        assert input_of(request.body) == {"answer": ANSWER}
    assert claims == ["The dam broke in May.", "The dam was thin."]
    assert len(calls) == 1


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_blank_answer_has_no_claims_and_costs_no_call(blank):
    with claim_extractor_saying(["made up"]) as server:
        assert extracted(server, blank) == ([], [])
        assert server.requests == []


def test_an_answer_may_make_no_claim():
    with claim_extractor_saying([]) as server:
        claims, calls = extracted(server, "I cannot say.")
    assert claims == []
    assert len(calls) == 1


def test_blank_entries_are_dropped_and_a_claim_made_again_counts_once():
    with claim_extractor_saying(
        ["It broke.", "", " ", "It  broke.", "It held.", "it broke."]
    ) as server:
        assert extracted(server)[0] == ["It broke.", "It held.", "it broke."]


@pytest.mark.parametrize("claims", ["It broke.", {"1": "It broke."}, ["It broke.", None], [["a"]]])
def test_what_is_no_list_of_texts_is_no_judgement(claims):
    with claim_extractor_saying(claims) as server, pytest.raises(JudgeError) as caught:
        extracted(server)
    assert caught.value.reason == "unparseable"


def test_the_baseline_gives_the_statements_each_once():
    answer = (
        "## The dam\n\nThe dam broke in March [1]. Why did it break? Its wall was far too thin, "
        "and the town had known it for years. The dam broke in March."
    )
    assert ClaimExtractor("lexical")(answer=answer).claims == [
        "The dam broke in March", "Its wall was far too thin", "the town had known it for years",
    ]  # fmt: skip


def test_a_long_sentence_without_a_statement_is_a_claim_as_a_whole():
    long = "Among the reasons: rain,  wind, frost, thin walls, poor clay, bad luck and worse money."
    assert ClaimExtractor("lexical")(answer=long).claims == [" ".join(long.split())]
    assert ClaimExtractor("lexical")(answer=f"{long[:-1]}:").claims == []  # leads to a list


@given(st.text(max_size=300))
def test_the_baseline_takes_any_text(answer):
    claims = ClaimExtractor("lexical")(answer=answer).claims
    assert len(set(claims)) == len(claims)
    assert all(claim.strip() for claim in claims)


# Worked examples of judges that make lists: they obey the rules they teach, and can go away.
PREDICTORS = {
    Nuggetizer: "update", SubQuestionGenerator: "write", KeyPointExtractor: "find",
    KeyPointMerger: "join", ClaimExtractor: "split",
}  # fmt: skip
VAGUE = re.compile(r"\b(he|she|it|they|its|their|this|that (year|town|ship))\b", re.IGNORECASE)


def words(text):
    return set(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize(("kind", "predictor"), PREDICTORS.items())
def test_an_example_goes_first_unless_it_is_turned_off(kind, predictor):
    roles = [m["role"] for m in kind("lexical").prompt(predictor).fixed]
    assert roles == ["system", "user", "assistant"]
    assert [m["role"] for m in kind("lexical", example=False).prompt(predictor).fixed] == ["system"]


@pytest.mark.parametrize(("kind", "predictor"), PREDICTORS.items())
def test_the_reply_of_an_example_is_one_that_the_judge_would_take(kind, predictor):
    (example,) = getattr(kind("lexical"), predictor).demos
    prompt = kind("lexical").prompt(predictor)
    inputs = {name: example[name] for name in prompt.input_names}
    reply = kind("lexical").prompt(predictor).fixed[-1]["content"]
    assert prompt.parse(reply, inputs)


@pytest.mark.parametrize("kind", [Nuggetizer, SubQuestionGenerator, KeyPointExtractor])
def test_the_examples_of_a_fitted_judge_replace_its_own(kind):
    prompt = FittedPrompt(instructions="List it all.")
    state = JudgeFile(
        judge=kind.name, version=kind.version, model="any", prompts={kind.predictor: prompt}
    )
    assert getattr(kind("lexical").copy_with_fit(state), kind.predictor).demos == []


def test_each_nugget_is_a_statement_of_at_most_12_words_that_names_its_subject():
    shown = examples.NUGGETS
    assert len(shown["updated"]) <= shown["limit"]
    assert set(shown["nuggets"]) <= set(shown["updated"])  # only the irrelevant is removed
    told = words(" ".join(shown["passages"].values()))
    for nugget in shown["updated"]:
        assert 1 <= len(nugget.split()) <= 12
        assert not nugget.endswith("?")
        assert "Ostrel Canal" in nugget
        assert len(words(nugget) - told) <= 3, nugget  # grammar alone is new


def test_a_fact_that_the_question_does_not_ask_for_is_in_the_passages_and_not_in_the_list():
    shown = examples.NUGGETS
    assert "roses" in " ".join(shown["passages"].values())
    assert "roses" not in " ".join(shown["updated"])


def test_each_span_is_one_excerpt_copied_exactly_and_what_is_apart_has_two():
    shown = examples.KEY_POINTS
    for point in shown["points"]:
        assert point["spans"]
        assert all(span in shown["document"] for span in point["spans"])
        assert not VAGUE.search(point["text"])
    first, second = shown["points"][-1]["spans"]
    assert f"{first} {second}" not in shown["document"]


def test_merged_points_have_each_number_once_and_keep_a_contradiction_apart():
    shown = examples.MERGED_POINTS
    numbers = [n for group in shown["merged"] for n in group["members"]]
    assert sorted(map(str, numbers)) == sorted(shown["points"])
    assert [2] in [group["members"] for group in shown["merged"]]


def test_each_sub_question_is_self_contained_and_none_is_known():
    shown = examples.SUBQUESTIONS
    assert len(shown["questions"]) == shown["wanted"]
    assert not {*shown["questions"]} & {*shown["known"]}
    for question in shown["questions"]:
        assert re.search(r"Marrin Star|Coldhaven", question)
        assert not re.search(r"\b(he|she|they|the report|the company)\b", question)


def sent(body):
    """The settings of requests that two judges' models got."""
    return {name: body.get(name) for name in ("temperature", "top_p")}


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ({}, {"temperature": 0.7, "top_p": 0.95}),
        ({"top_p": 0.5}, {"temperature": 0.7, "top_p": 0.5}),
        ({"temperature": 0}, {"temperature": 0.0, "top_p": None}),
        ({"temperature": None}, {"temperature": None, "top_p": None}),
    ],
)
def test_crux_generates_texts_by_the_papers_sampling_unless_the_model_has_a_temperature(
    entry, wanted, baseline_server
):
    """arXiv:2506.20051, appendix A.1: .7 and .95 for texts, 0 for ratings."""
    model = ModelConfig(model="openai/mock", api_base=baseline_server.base_url, **entry)
    SubQuestionGenerator(model)(report="Rain fell on Ada Quill. A dam broke in 1911.", n=1)
    assert [sent(request.body) for request in baseline_server.requests] == [wanted]


def test_what_is_not_of_crux_keeps_the_temperature_of_its_model(model, baseline_server):
    Nuggetizer(model)(question="Why?", passages=["Rain fell."])
    assert baseline_server.requests[0].body["temperature"] == 0


def test_a_text_that_was_sampled_comes_from_the_cache_the_next_time(baseline_server, tmp_path):
    config = ModelConfig(model="openai/mock", api_base=baseline_server.base_url)
    report = "Rain fell on Port Merrow. Ada Quill saw a dam break in 1911."
    for _ in range(2):
        cache = ReplyCache(tmp_path / "cache")
        SubQuestionGenerator(backend=open_backend(config, cache=cache))(report=report, n=1)
        cache.close()
    assert len(baseline_server.requests) == 1
