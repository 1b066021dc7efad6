import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="the dense extra")

from nuggetjudge.records.rows import Passage
from nuggetjudge.retrieval.dense import Dense
from nuggetjudge.retrieval.rerank.diversity import Mmr

TEXTS = {
    "purr": "Cats purr when they are content.",
    "purring": "A contented cat purrs.",
    "content": "When cats feel content they purr.",
    "pain": "Purring is also heard from cats that are injured and in pain.",
    "larynx": "Muscles of the larynx open and close the glottis some 25 times a second.",
    "tax": "Income tax is due in April.",
}
QUERY = "Why and how do cats purr?"


def by_brute_force(query, vectors, weight):
    """The definition, word for word: all of it anew for every passage taken."""
    left, taken = list(vectors), []
    while left:

        def worth(name):
            seen = [vectors[name] @ vectors[other] for other in taken]
            return weight * (vectors[name] @ query) - (1 - weight) * max(seen, default=0)

        taken.append(max(left, key=worth))
        left.remove(taken[-1])
    return taken


@pytest.fixture(scope="module")
def found(minilm, tmp_path_factory):
    passages = [Passage(id=name, text=text) for name, text in TEXTS.items()]
    index = Dense.build(passages, minilm, tmp_path_factory.mktemp("mmr") / "index")
    return index.search([QUERY], 6)[0]


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.7, 0.9])
def test_the_order_is_that_of_the_definition(minilm, found, weight):
    vectors = dict(zip(TEXTS, minilm.passages(list(TEXTS.values())), strict=True))
    vectors = {one.passage_id: vectors[one.passage_id] for one in found}
    wanted = by_brute_force(minilm.queries([QUERY])[0], vectors, weight)
    got = Mmr(minilm, weight=weight, relevance="encoder").rerank(QUERY, found, TEXTS)
    assert [one.passage_id for one in got] == wanted


def test_with_a_real_model_other_aspects_come_before_repetition(minilm, found):
    names = [one.passage_id for one in found]
    assert {"purr", "purring", "content"} <= set(names[:4])
    got = [one.passage_id for one in Mmr(minilm, hits=3).rerank(QUERY, found, TEXTS)]
    assert len({"purr", "purring", "content"} & set(got)) == 1
    assert np.isfinite([one.score for one in found]).all()
