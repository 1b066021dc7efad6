"""What a trained judge reads of an item, and the errors of training, without its libraries."""

import json

import pytest
from graded_labels import support_rows
from json_lines import write_rows

import nuggetjudge as nj
from nuggetjudge.backends.budget import FREE, get_price
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.calibration.fitting import ItemTarget
from nuggetjudge.judges import NuggetImportance, SupportJudge
from nuggetjudge.judges.lexical.overlap import weigh_overlap
from nuggetjudge.plugins.trained.fit import find_statement_and_source, halve
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


def test_overlap_counts_the_whole_text(reader):
    """The network reads a part of it only."""
    text = "wind sways. " + "tower " * 3 * WINDOW + "bridge"
    item = reader.read("wind bridge", text)
    assert item.overlap == weigh_overlap("wind bridge", text, {"the": 0.1, "wind": 2.0})
    assert item.overlap > reader.read("wind bridge", text.removesuffix("bridge")).overlap


def test_empty_texts_are_read(reader):
    for pair in (("", ""), ("wind", ""), ("", "wind")):
        item = reader.read(*pair)
        assert len(item.ids) == len(item.kinds)
        assert pad([item])["mask"].sum() == len(item.ids)
        assert 0 <= item.overlap <= 1


def test_a_batch_says_which_tokens_count(reader):
    made = pad([reader.read("wind", "the wind"), reader.read("a bridge", "the tower in wind")])
    assert made["ids"].shape == made["kinds"].shape == made["mask"].shape == (2, 9)
    assert made["mask"].sum(axis=1).tolist() == [6, 9]
    assert made["stated"].sum(axis=1).tolist() == [1, 2]
    assert made["stated"][:, 0].tolist() == [0, 0]  # [CLS] is not a word
    assert made["overlap"].tolist() == [[0.5], [0]]


def test_only_a_judge_that_looks_for_one_text_in_another_can_be_trained():
    assert find_statement_and_source(SupportJudge("lexical")) == ("sentence", "passage")
    with pytest.raises(InputError, match="the importance judge does not ask one question about"):
        find_statement_and_source(NuggetImportance("lexical"))


@pytest.mark.parametrize("n", [4, 5, 12])
def test_no_topic_is_in_both_halves(n):
    """What chooses the cut-offs of a topic has not seen it."""
    topics = [f"t{i % n}" for i in range(3 * n)]
    one, other = ({t for t, is_in in zip(topics, half, strict=True) if is_in}
                  for half in halve(topics, seed=3))  # fmt: skip
    assert one | other == set(topics)
    assert not one & other
    assert abs(len(one) - len(other)) <= 1


@pytest.fixture
def labels(tmp_path):
    return write_rows(tmp_path / "labels.jsonl", support_rows())


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"epoch": 3}, "--option epoch: train has epochs"),
        ({"epochs": 0}, "--option epochs=0: wanted a number from 1 to 100"),
        ({"epochs": True}, "--option epochs=True: wanted a number"),
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
    with pytest.raises(
        InputError, match=r"\d+ labels of \d+ topics to train on, wanted 100 labels of 4"
    ):
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
        "format": "nuggetjudge-trained-2", "judge": "support", "scale": ["none", "full"],
        "statement": "sentence", "source": "passage", "correction": {"cuts": [0.5]},
        "words": {}, "files": {}, "fitted_on": [],
    }  # fmt: skip
    (tmp_path / "own" / "trained.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(InputError, match=r"network\.onnx: missing; copy the whole folder"):
        SupportJudge(f"trained/{tmp_path}/own")
