"""A value with its counts and bounds, and means of values over topics."""

import importlib.util
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nuggetjudge.metrics
from nuggetjudge.metrics import Value, count_words, mean_over_topics, token_counter
from nuggetjudge.metrics.answer_scores import IN_0_TO_1, make_failed


@pytest.mark.parametrize(
    "fields",
    [
        (0.5, 1, 0, None, None),  # a value without bounds
        (None, 0, 1, 0.0, None),  # one bound alone
        (0.5, 1, 1, 0.6, 0.9),  # below its lower bound
        (0.5, 1, 1, 0.1, 0.4),  # above its upper bound
        (None, 0, 1, 0.9, 0.1),  # bounds the wrong way round
        (math.nan, 1, 0, 0.0, 1.0),
        (math.nan, 1, 1, None, None),
        (0.5, -1, 0, 0.5, 0.5),
        (0.5, 1, -1, 0.5, 0.5),
    ],
)
def test_a_value_that_contradicts_itself_is_refused(fields):
    with pytest.raises(ValueError, match=r"value|counts"):
        Value(*fields)


def test_a_value_may_be_without_bounds_only_while_something_is_missing():
    length = Value(5.0, 0, 1, None, None)
    assert (length.is_unbounded, length.is_undefined) == (True, False)
    assert Value(None, 0, 0, None, None).is_undefined
    assert not make_failed().is_undefined


def test_what_is_missing_beside_a_value_widens_it_and_is_counted():
    half = Value(0.5, 2, 1, 0.25, 0.75)
    assert half.widen(IN_0_TO_1, 3) == Value(0.5, 2, 4, 0.0, 1.0)
    assert half.widen((0.3, 0.6), 0) == half  # never narrower
    assert half.widen(None, 1) == Value(0.5, 2, 2, None, None)
    assert Value(None, 0, 0, None, None).widen(IN_0_TO_1, 1) == make_failed()


UNJUDGED = Value(None, n=0, n_unjudged=3, low=0.0, high=1.0)
UNDEFINED = Value(None, n=0, n_unjudged=0, low=None, high=None)


def exact(value, n=1):
    return Value(value, n=n, n_unjudged=0, low=value, high=value)


@st.composite
def measured(draw):
    low, value, high = sorted(draw(st.tuples(*[st.floats(0, 1)] * 3)))
    return Value(value, n=draw(st.integers(1, 9)), n_unjudged=1, low=low, high=high)


def by_topic(max_size=8):
    any_value = st.one_of(measured(), st.just(UNJUDGED), st.just(UNDEFINED))
    return st.dictionaries(st.sampled_from("abcdefgh"), any_value, max_size=max_size)


def test_a_topic_that_the_run_did_not_answer_counts_zero_without_a_judgement():
    mean, n_topics = mean_over_topics({"t1": exact(0.6, n=5)}, ["t1", "t2", "t3"])
    assert n_topics == 3
    assert (mean.n, mean.n_unjudged) == (5, 0)
    assert (mean.low, mean.value, mean.high) == pytest.approx((0.2, 0.2, 0.2))


def test_a_topic_that_nobody_judged_leaves_the_mean_and_enters_the_bounds():
    mean, n_topics = mean_over_topics({"t1": exact(0.6), "t2": UNJUDGED}, ["t1", "t2"])
    assert (mean.value, n_topics) == (0.6, 1)
    assert (mean.low, mean.high) == (pytest.approx(0.3), pytest.approx(0.8))
    assert (mean.n, mean.n_unjudged) == (1, 3)


def test_a_topic_where_the_measure_is_undefined_enters_neither():
    mean, n_topics = mean_over_topics({"t1": exact(0.6), "t2": UNDEFINED}, ["t1", "t2"])
    assert (mean, n_topics) == (exact(0.6), 1)


def test_a_topic_without_bounds_leaves_none_to_the_mean():
    mean, n_topics = mean_over_topics({"t1": exact(9.0), "t2": make_failed(None)}, None)
    assert (mean, n_topics) == (Value(9.0, 1, 1, None, None), 1)


def test_without_topics_the_mean_is_over_those_answered():
    mean, n_topics = mean_over_topics({"t1": exact(0.5), "t2": exact(1.0)}, None)
    assert (mean, n_topics) == (exact(0.75, n=2), 2)


def test_a_run_that_answered_nothing_scores_zero_and_no_topics_give_no_value():
    assert mean_over_topics({}, ["t1", "t2"]) == (exact(0.0, n=0), 2)
    assert mean_over_topics({}, None) == (UNDEFINED, 0)
    assert mean_over_topics({"t1": UNJUDGED}, None) == (UNJUDGED, 0)


def test_answered_topics_outside_the_topics_are_named():
    with pytest.raises(ValueError, match=r"2 answered topics .*\['t2', 't9'\]"):
        mean_over_topics({"t9": exact(1.0), "t1": exact(1.0), "t2": exact(1.0)}, ["t1"])


@given(by_topic())
def test_the_bounds_hold_the_mean_and_the_counts_add_up(values):
    mean, n_topics = mean_over_topics(values, "abcdefgh")
    assert n_topics == 8 - sum(value.value is None for value in values.values())
    assert mean.n == sum(value.n for value in values.values())
    assert mean.n_unjudged == sum(value.n_unjudged for value in values.values())
    assert (mean.value is None) == (n_topics == 0)
    if mean.value is not None:
        assert 0 <= mean.low <= mean.value <= mean.high <= 1


# How long a text is, in words or by a tokenizer.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("Wind makes them sway.", 4),
        ("  Wind\u00a0makes\u3000them\n\nsway. ", 4),
        ("well-known, e.g. A/B", 3),
        ("\ufdfa", 4),  # one sign that NFKC writes out as four Arabic words
        ("潮汐驱动涡轮机", 1),  # no spaces: one word
    ],
)
def test_words_match_a_hand_count(text, expected):
    assert count_words(text) == expected


# Word counts by an independent implementation over NIST's 530 judged answers.
def test_lengths_of_real_answers_match_the_expected_ones(rows):
    answers = rows("rag24_nuggets/nugget_assignments.jsonl")
    n_words = {(row["qid"], row["run_id"]): count_words(row["answer_text"]) for row in answers}
    expected = rows("rag24_nuggets/expected_cell_scores.jsonl")
    assert n_words == {(row["qid"], row["run_id"]): row["answer_words"] for row in expected}


CL100K_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # as tiktoken names it in its cache


@pytest.fixture
def cl100k(monkeypatch, tmp_path):
    """tiktoken with the file of cl100k_base at hand: litellm ships it."""
    folder = Path(importlib.util.find_spec("litellm").submodule_search_locations[0])
    file = folder / "litellm_core_utils" / "tokenizers" / CL100K_FILE
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    shutil.copy(file, tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return token_counter("tiktoken:cl100k_base")


@pytest.fixture
def word_level(tmp_path):
    """A tokenizer file whose vocabulary is three words and a mark."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(
        models.WordLevel({"[UNK]": 0, "wind": 1, "sways": 2, "[END]": 3}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["[END]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A [END]", special_tokens=[("[END]", 3)]
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return str(tmp_path / "tokenizer.json")


# OpenAI's guide to counting tokens gives 6 for this sentence and this encoding.
def test_tiktoken_counts_what_its_makers_count(cl100k):
    assert cl100k("tiktoken is great!") == 6
    assert cl100k("") == 0


def test_marks_in_a_text_count_as_characters(cl100k, word_level):
    assert cl100k("<|endoftext|>") > 1
    assert token_counter(word_level)("[END]") == 3


def test_a_tokenizer_file_counts_the_whole_text_and_adds_nothing(word_level):
    count = token_counter(word_level)
    assert [count(text) for text in ("", "wind", "wind sways and sways, and sways")] == [0, 1, 7]


def test_an_unknown_tokenizer_is_named_with_those_that_are_known(tmp_path):
    for name in ("nope", "", "cl100k_base"):
        with pytest.raises(ValueError, match=r"unknown tokenizer .*words.*tiktoken:NAME.*json"):
            token_counter(name)
    with pytest.raises(
        ValueError, match=r"unknown tokenizer 'tiktoken:nope'.*tiktoken:cl100k_base"
    ):
        token_counter("tiktoken:nope")
    with pytest.raises(ValueError, match=r"absent\.json' does not exist"):
        token_counter(str(tmp_path / "absent.json"))
    (tmp_path / "wrong.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong\.json' is not a file of the tokenizers library"):
        token_counter(str(tmp_path / "wrong.json"))


def test_an_encoding_that_cannot_be_fetched_says_so(monkeypatch, tmp_path):
    import requests

    def no_network(*_args, **_kwargs):
        raise requests.ConnectionError("no route")

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(requests, "get", no_network)
    with pytest.raises(ValueError, match="'tiktoken:p50k_base' is not in TIKTOKEN_CACHE_DIR"):
        token_counter("tiktoken:p50k_base")


def test_counting_words_loads_no_tokenizer_library():
    code = (
        "import sys; from nuggetjudge.metrics import token_counter; token_counter('words')('a');"
        "sys.exit(bool({'tiktoken', 'tokenizers', 'litellm'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# The package as a whole: its examples are true, and importing it is cheap.
def test_importing_the_metrics_imports_no_heavy_library():
    code = (
        "import sys, nuggetjudge; before = set(sys.modules); import nuggetjudge.metrics;"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names) - {'nuggetjudge'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_metrics_import_nothing_else_of_ours():
    code = (
        "import sys, nuggetjudge; before = set(sys.modules); import nuggetjudge.metrics;"
        "ours = [m for m in set(sys.modules) - before if m.startswith('nuggetjudge.')];"
        "sys.exit(any(not m.startswith('nuggetjudge.metrics') for m in ours))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_everything_exported_exists():
    for name in nuggetjudge.metrics.__all__:
        assert hasattr(nuggetjudge.metrics, name)
