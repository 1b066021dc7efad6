"""Weights of terms in a Lucene index, from an encoder whose weights stand in the texts."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.rows import Passage
from nuggetjudge.retrieval.lucene import Lucene, LuceneImpact, build_impact

pytest.importorskip("pyserini", reason="pyserini is not installed; it comes with the extra lucene")

VOCABULARY = ["heron", "##s", "lagoon", "the", "dawn"]


class Written:
    """Reads the five weights of a text from the text itself."""

    n_terms = len(VOCABULARY)

    def __init__(self, name="written", vocabulary=VOCABULARY):
        self.name = name
        self.vocabulary = vocabulary

    def passages(self, texts):
        return csr_array(np.array([text.split() for text in texts], dtype=np.float32))

    queries = passages

    def term_weights(self, row):
        weights = zip(row.indices, row.data, strict=True)
        return {self.vocabulary[term]: float(weight) for term, weight in weights if weight}


def texts(weights):
    return [" ".join(f"{weight:.2f}" for weight in row) for row in weights]


def test_scores_are_sums_of_products_by_hand(tmp_path):
    few = {"a": "1 0 0.5 2 0", "b": "2.5 1 0 2 0", "c": "0 0 0 2 0.004"}
    build_impact([Passage(id=i, text=t) for i, t in few.items()], Written(), tmp_path / "index")
    found = LuceneImpact(tmp_path / "index", Written())
    # heron 1, lagoon 2: a = 1 + 2 * 0.5, b = 2.5. "the" stands in all of them; 0.004 is nothing.
    assert found.search(["1 0 2 0 0", "0 0 0 1.5 0", "0 0 0 0 1"], 10) == [
        [("b", pytest.approx(2.5)), ("a", pytest.approx(2.0))],
        [("a", pytest.approx(3.0)), ("b", pytest.approx(3.0)), ("c", pytest.approx(3.0))],
        [],
    ]


def test_scores_are_those_of_the_product_of_the_matrices(tmp_path):
    rng = np.random.default_rng(6)
    weights = rng.integers(0, 300, (60, 5)) * (rng.random((60, 5)) < 0.5) / 100
    asked = rng.integers(0, 300, (10, 5)) / 100
    collection = [Passage(id=f"p{i}", text=text) for i, text in enumerate(texts(weights))]
    build_impact(collection, Written(), tmp_path / "index")
    found = LuceneImpact(tmp_path / "index", Written()).search(texts(asked), 100)
    for ranked, scores in zip(found, asked @ weights.T, strict=True):
        wanted = {f"p{i}": score for i, score in enumerate(scores) if score > 0}
        assert dict(ranked) == pytest.approx(wanted, abs=1e-5)
        assert [one.score for one in ranked] == sorted((s for _, s in ranked), reverse=True)


def test_a_finer_scale_keeps_smaller_weights(tmp_path):
    build_impact([Passage(id="a", text="0.0042 0 0 0 0")], Written(), tmp_path / "i", scale=10_000)
    [ranked] = LuceneImpact(tmp_path / "i", Written()).search(["1 0 0 0 0"], 10)
    assert ranked == [("a", pytest.approx(0.0042))]


def test_a_passage_without_weights_is_never_found(tmp_path):
    few = [Passage(id="a", text="0 0 0 0 0"), Passage(id="b", text="1 0 0 0 0")]
    build_impact(few, Written(), tmp_path / "index")
    [ranked] = LuceneImpact(tmp_path / "index", Written()).search(["1 1 1 1 1"], 10)
    assert [found.passage_id for found in ranked] == ["b"]


def test_another_encoder_or_kind_of_index_is_refused(tmp_path):
    build_impact([Passage(id="a", text="1 0 0 0 0")], Written(), tmp_path / "index")
    with pytest.raises(InputError, match="made with encoder 'written', wanted 'other'"):
        LuceneImpact(tmp_path / "index", Written("other"))
    with pytest.raises(InputError, match="an index of kind lucene-impact, wanted lucene"):
        Lucene(tmp_path / "index")


def test_a_term_with_white_space_and_a_scale_of_0_are_refused(tmp_path):
    one = [Passage(id="a", text="1 0 0 0 0")]
    with pytest.raises(ValueError, match="term 'grey heron' has white space"):
        build_impact(one, Written(vocabulary=["grey heron", *VOCABULARY]), tmp_path / "index")
    with pytest.raises(ValueError, match="scale must be 1 or more, got 0"):
        build_impact(one, Written(), tmp_path / "index", scale=0)
    assert not (tmp_path / "index").exists()


def test_a_blank_query_is_refused(tmp_path):
    build_impact([Passage(id="a", text="1 0 0 0 0")], Written(), tmp_path / "index")
    with pytest.raises(ValueError, match="query 0 is blank"):
        LuceneImpact(tmp_path / "index", Written()).search([" "], 10)
