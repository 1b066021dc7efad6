"""Two hundred passages that Lucene has indexed."""

import random

import pytest

from nuggetjudge.records.rows import Passage


@pytest.fixture(scope="session")
def passages():
    """Passages of 1 to 300 words, frequent and rare, of which some are equal."""
    rng = random.Random(6)
    words = [f"word{n}" for n in range(300)]
    rarity = [1 / rank for rank in range(1, 301)]
    texts = [" ".join(rng.choices(words, rarity, k=rng.randint(1, 300))) for _ in range(190)]
    return [Passage(id=f"p{i}", text=text) for i, text in enumerate(texts + texts[:10])]


@pytest.fixture(scope="session")
def index(passages, tmp_path_factory):
    """The folder of their index."""
    pytest.importorskip("pyserini", reason="pyserini is not installed; it comes with lucene")
    from nuggetjudge.retrieval.lucene import build_lucene

    folder = tmp_path_factory.mktemp("lucene") / "index"
    build_lucene(passages, folder)
    return folder
