"""Reranking by a cross-encoder: a tiny random model, against the library called by hand."""

import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="the dense extra is not installed")
import sentence_transformers
import torch
import transformers

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.rerank.pointwise import CrossEncoderReranker
from nuggetjudge.retrieval.scored import Scored, by_rank

WORDS = [*("why", "do", "bridges", "sway", "in", "wind"), *("the", "dam", "broke", "rain", "fell")]
QUERY = "why do bridges sway"
TEXTS = {
    "rain": "rain fell", "wind": "bridges sway in the wind", "dam": "the dam broke",
    "both": "the dam broke in the rain", "long": " ".join(WORDS * 9),
}  # fmt: skip
RANKED = by_rank(TEXTS)


def made(folder, n_labels=1):
    """A BERT of two small layers with random weights, and a tokenizer of whole words."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    tokenizer = transformers.BertTokenizer({word: n for n, word in enumerate(vocabulary)})
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=1.0,  # so that texts get scores far apart
        num_labels=n_labels,
    )
    transformers.BertForSequenceClassification(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return made(tmp_path_factory.mktemp("tiny"))


def logits(model, max_length=64):
    """By transformers alone, one pair at a time."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(model).eval()
    cut = {"truncation": "longest_first", "max_length": max_length, "return_tensors": "pt"}
    with torch.inference_mode():
        return {
            name: network(**tokenizer(QUERY, text, **cut)).logits.item()
            for name, text in TEXTS.items()
        }


@pytest.mark.parametrize("batch", [1, 2, 32])
def test_passages_stand_by_the_models_logits(model, batch):
    found = CrossEncoderReranker(model, batch=batch, device="cpu").rerank(QUERY, RANKED, TEXTS)
    expected = logits(model)
    assert [name for name, _ in found] == sorted(TEXTS, key=lambda name: -expected[name])
    assert [score for _, score in found] == pytest.approx(
        [expected[name] for name, _ in found], abs=1e-5
    )
    assert np.ptp([score for _, score in found]) > 0.1


def test_the_order_is_that_of_the_library(model):
    library = sentence_transformers.CrossEncoder(str(model), device="cpu")
    ranked = library.rank(QUERY, list(TEXTS.values()), show_progress_bar=False)
    found = CrossEncoderReranker(model, device="cpu").rerank(QUERY, RANKED, TEXTS)
    assert [name for name, _ in found] == [list(TEXTS)[row["corpus_id"]] for row in ranked]


def test_a_passage_too_long_is_cut(model):
    reranker = CrossEncoderReranker(model, max_length=12, device="cpu")
    found = dict(reranker.rerank(QUERY, RANKED, TEXTS))
    assert found == pytest.approx(logits(model, max_length=12), abs=1e-5)
    assert found["long"] != pytest.approx(logits(model)["long"], abs=1e-3)


def test_equal_passages_keep_their_order_and_none_is_lost(model):
    texts = {"b": "rain fell", "a": "rain fell", "c": "rain fell"}
    found = CrossEncoderReranker(model, device="cpu").rerank(QUERY, by_rank(texts), texts)
    assert [name for name, _ in found] == ["b", "a", "c"]


def test_no_passages_and_one(model):
    reranker = CrossEncoderReranker(model, device="cpu")
    assert reranker.rerank(QUERY, [], {}) == []
    [found] = reranker.rerank(QUERY, [Scored("rain", 9.0)], TEXTS)
    assert found.passage_id == "rain"


def test_a_model_with_several_labels_is_refused(tmp_path):
    with pytest.raises(InputError, match="gives 3 labels, wanted a reranker with one"):
        CrossEncoderReranker(made(tmp_path, n_labels=3), device="cpu")


def test_a_model_that_is_not_there_is_one_line(tmp_path):
    for name in (tmp_path / "none", "nowhere/no-such-reranker"):
        with pytest.raises(InputError, match=str(name)) as caught:
            CrossEncoderReranker(name)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [{"batch": 0}, {"max_length": 0}], ids=str)
def test_sizes_below_one_are_refused(model, options):
    with pytest.raises(ValueError, match="batch and max_length must be 1 or more"):
        CrossEncoderReranker(model, **options)
