"""How long a text is, in words or by a tokenizer."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nuggetjudge.metrics import count_words, token_counter


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
    with pytest.raises(ValueError, match=r"absent\.json' is absent"):
        token_counter(str(tmp_path / "absent.json"))
    (tmp_path / "wrong.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong\.json' is no file of the tokenizers library"):
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
