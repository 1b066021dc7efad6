"""What a trained judge reads of an item, and the errors of training, without its libraries."""

import json

import pytest
from graded_labels import support_rows
from json_lines import write_rows

import nuggetjudge as nj
from nuggetjudge.backends.budget import FREE, get_price
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.calibration.examples import Example
from nuggetjudge.calibration.fitting import ItemTarget
from nuggetjudge.judges import NuggetAssigner, NuggetImportance, SupportJudge
from nuggetjudge.plugins.trained.fit import (
    Pair,
    find_statement_and_source,
    hide_middle,
    make_pairs,
    read_more,
)
from nuggetjudge.plugins.trained.reading import SHARED, WINDOW, Reader, pad
from nuggetjudge.records.reading.problems import InputError

tokenizers = pytest.importorskip("tokenizers", reason="LiteLLM brings it")
WORDS = "[PAD] [UNK] [CLS] [SEP] bridge ##s sway in wind the a tower"


@pytest.fixture
def reader():
    """Reads by a vocabulary of a dozen pieces."""
    vocabulary = {word: i for i, word in enumerate(WORDS.split())}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return Reader(made, {"the": 0.1, "wind": 2.0})


def test_words_of_both_texts_are_marked_by_their_stem(reader):
    item = reader.read("The bridges sway", "a bridge sways in the wind")
    pieces = [WORDS.split()[i] for i in item.ids]
    marked = [p for p, kind in zip(pieces, item.kinds, strict=True) if kind & SHARED]
    assert marked == ["bridge", "##s", "sway", "bridge", "sway", "##s"]  # and no stop words
    assert item.n_statement == 4


def test_a_long_text_is_read_where_it_fits_best(reader):
    far = "tower " * 3 * WINDOW
    item = reader.read("wind sways the bridge", f"{far}the bridge sways in wind {far}")
    assert WORDS.split().index("wind") in item.ids[item.n_statement + 1 :]
    assert len(item.ids) < 2 * WINDOW


def test_empty_texts_are_read(reader):
    for pair in (("", ""), ("wind", ""), ("", "wind")):
        item = reader.read(*pair)
        assert len(item.ids) == len(item.kinds)
        assert pad([item])["mask"].sum() == len(item.ids)
        assert 0 <= reader.measure(*pair) <= 1


def test_a_batch_says_which_tokens_count(reader):
    made = pad([reader.read("wind", "the wind"), reader.read("a bridge", "the tower in wind")])
    assert made["ids"].shape == made["kinds"].shape == made["mask"].shape == (2, 9)
    assert made["mask"].sum(axis=1).tolist() == [6, 9]
    assert made["stated"].sum(axis=1).tolist() == [1, 2]
    assert made["stated"][:, 0].tolist() == [0, 0]  # [CLS] is not a word


def test_only_a_judge_that_looks_for_one_text_in_another_can_be_trained():
    assert find_statement_and_source(SupportJudge("lexical")) == ("sentence", "passage")
    with pytest.raises(InputError, match="the importance judge does not ask one question about"):
        find_statement_and_source(NuggetImportance("lexical"))


def test_labels_of_another_scale_say_what_they_can():
    def reached(scale, labels, k):
        ids = {"topic_id": "t"}
        items = [Example(ids, {"sentence": "s", "passage": "p"}, label) for label in labels]
        return [pair.reached for pair in make_pairs(items, scale, "sentence", "passage", k)]

    three = ("none", "partial", "full")
    assert reached(three, three, 3) == [(0, 0), (1, 0), (1, 1)]
    assert reached(("no", "yes"), ("no", "yes"), 3) == [(0, 0), (1, 1)]
    assert reached(three, three, 2) == [(0,), (0,), (1,)]


def test_labels_without_a_middle_do_not_say_where_it_is():
    """Among them every item that is known to be more than none is full."""
    ends = [Pair("t", ("s", "p"), (0.0, 0.0)), Pair("t", ("s", "q"), (1.0, 1.0))]
    assert [pair.reached for pair in hide_middle(ends)] == [(None, 0), (None, 1)]
    middle = Pair("t", ("s", "r"), (1.0, 0.0))
    assert hide_middle([*ends, middle]) == [*ends, middle]


def test_labels_of_a_judge_that_asks_the_like_are_read_too(labels):
    pairs = read_more(labels, NuggetAssigner("lexical"), 3)
    assert {pair.texts for pair in pairs} == {
        (row["sentence"], row["passage"]) for row in support_rows()
    }
    with pytest.raises(InputError, match=r"labels\.jsonl"):
        read_more(
            write_rows(labels, [{"topic_id": "t", "label": "full"}]), SupportJudge("lexical"), 3
        )


@pytest.fixture
def labels(tmp_path):
    return write_rows(tmp_path / "labels.jsonl", support_rows())


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"epoch": 3}, "--option epoch: train has epochs, share and also"),
        ({"epochs": 0}, "--option epochs=0: wanted a number from 1 to 100"),
        ({"share": 1.5}, "--option share=1.5: wanted a number from 0 to 1"),
        ({"share": True}, "--option share=True: wanted a number"),
    ],
)
def test_a_wrong_option_is_an_error(labels, options, wanted):
    with pytest.raises(InputError, match=wanted):
        nj.calibrate(labels, "support", "train", model="lexical", options=options)


def test_a_wrong_option_is_told_before_a_model_is_asked(labels, monkeypatch):
    def ask(*_):
        raise AssertionError("asked")

    monkeypatch.setattr(ItemTarget, "measure", ask)
    with pytest.raises(InputError, match="--option epochs=0"):
        nj.calibrate(labels, "support", "train", model="lexical", options={"epochs": 0})


def test_too_few_labels_are_an_error(labels):
    with pytest.raises(InputError, match="labels to train on, wanted 100 or more"):
        nj.calibrate(labels, "support", "train", model="lexical", limit=60)


def test_nothing_but_a_trained_judge_is_replaced(labels, tmp_path):
    (tmp_path / "own").mkdir()
    with pytest.raises(InputError, match="own: exists and is not a trained judge; choose another"):
        nj.calibrate(labels, "support", "train", model="lexical", out=tmp_path / "own")


def test_folds_are_not_for_training(labels):
    with pytest.raises(InputError, match="folds are for methods that fit numbers"):
        nj.calibrate(labels, "support", "train", model="lexical", folds=3)


def test_a_trained_judge_is_a_model_without_requests_or_cost(tmp_path):
    config = ModelConfig(model=f"trained/{tmp_path}/own")
    assert config.sends_nothing
    assert config.file == tmp_path / "own" / "trained.json"
    assert get_price(config) == FREE


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (None, "own: the folder does not exist; judge calibrate LABELS --method train"),
        ("", r"own: not a trained judge \(it has no trained.json\)"),
        ("{}", "trained.json: not a trained judge, wanted format"),
        ("x", "trained.json"),
    ],
)
def test_what_is_no_trained_judge_is_an_error(tmp_path, content, wanted):
    if content is not None:
        (tmp_path / "own").mkdir()
        if content:
            (tmp_path / "own" / "trained.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=wanted):
        SupportJudge(f"trained/{tmp_path}/own")


def test_a_file_that_is_missing_is_named(tmp_path):
    (tmp_path / "own").mkdir()
    about = {
        "format": "nuggetjudge-trained-1", "judge": "support", "scale": ["none", "full"],
        "statement": "sentence", "source": "passage", "share": 0.5, "correction": {"cuts": [0.5]},
        "words": {}, "files": {}, "fitted_on": [],
    }  # fmt: skip
    (tmp_path / "own" / "trained.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(InputError, match=r"network\.onnx: missing; copy the whole folder"):
        SupportJudge(f"trained/{tmp_path}/own")
