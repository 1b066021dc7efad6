import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="the dense extra")

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.rows import Passage
from nuggetjudge.retrieval import splade
from nuggetjudge.retrieval.splade import Splade, SpladeEncoder

TEXTS = [
    "ebb flood slack", "neap spring tide moon sun", "current", "harbour bar shoal", "wave bore",
]  # fmt: skip
PASSAGES = [Passage(id=f"p{i}", text=text) for i, text in enumerate(TEXTS)]


class Weights:
    """Weights of terms by hand: those that stand in the texts."""

    name = "by hand"
    n_terms = 3

    def passages(self, texts):
        from scipy.sparse import csr_array

        rows = [[float(part) for part in text.split()] for text in texts]
        return csr_array(np.array(rows, np.float32).reshape(len(texts), 3))

    queries = passages


def by_hand(*texts):
    return [Passage(id=name, text=text) for name, text in zip("abcdefgh", texts, strict=False)]


def pairs(ranked):
    return [(one.passage_id, pytest.approx(one.score)) for one in ranked]


@pytest.fixture(scope="module")
def encoder(masked_lm):
    return SpladeEncoder(masked_lm)


# The largest ln(1 + relu(logit)) of a term over the tokens of a text: arXiv:2107.05720, eq. 1 with
# the maximum of arXiv:2109.10086 for the sum; here by transformers alone.
def test_weights_are_those_of_the_paper(encoder, masked_lm):
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(masked_lm)(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        logits = AutoModelForMaskedLM.from_pretrained(masked_lm)(**tokens).logits
    weights = torch.log1p(torch.relu(logits)) * tokens["attention_mask"].unsqueeze(-1)
    wanted = weights.max(dim=1).values.numpy()
    assert (wanted == 0).any()
    assert (wanted > 0).any()
    np.testing.assert_allclose(encoder.passages(TEXTS).toarray(), wanted, atol=1e-5)
    np.testing.assert_allclose(encoder.queries(TEXTS).toarray(), wanted, atol=1e-5)


def test_terms_of_a_text_are_told_with_their_weights(encoder):
    row = encoder.passages(["spring tide"])[[0]]
    told = encoder.term_weights(row)
    assert list(told.values()) == sorted(row.data.tolist(), reverse=True)
    assert set(told) <= set(encoder._model.tokenizer.get_vocab())


def test_search_is_the_product_of_the_weights(encoder, tmp_path, monkeypatch):
    built = Splade.build(PASSAGES, encoder, tmp_path / "index", batch=2)
    queries = ["spring tide", "harbour", "wave swell"]
    scores = encoder.queries(queries).toarray() @ encoder.passages(TEXTS).toarray().T
    monkeypatch.setattr(splade, "N_ROWS", 2)
    monkeypatch.setattr(splade, "_AT_ONCE", 2)
    for index in (built, Splade.open(tmp_path / "index", encoder)):
        for row, ranked in zip(scores, index.search(queries, 3), strict=True):
            best = [int(i) for i in np.argsort(-row, kind="stable")[:3] if row[i] > 0]
            assert pairs(ranked) == [(f"p{i}", row[i]) for i in best]


def test_scores_are_as_counted_by_hand_and_nothing_in_common_is_no_hit(tmp_path):
    index = Splade.build(by_hand("1 0 2", "0 3 0", "2 0 0"), Weights(), tmp_path / "index")
    assert pairs(index.search(["1 0 0.5"], 9)[0]) == [("a", 2.0), ("c", 2.0)]
    assert pairs(index.search(["0 2 1"], 9)[0]) == [("b", 6.0), ("a", 2.0)]
    assert index.search(["0 0 0"], 9) == [[]]
    assert index.search([], 9) == []


def test_passages_without_a_weight_are_found_by_nothing(tmp_path):
    index = Splade.build(by_hand("0 0 0", "0 0 0"), Weights(), tmp_path / "index")
    assert index.search(["1 1 1"], 9) == [[]]


def test_a_blank_query_and_no_passage_are_refused(tmp_path):
    index = Splade.build(by_hand("1 0 0"), Weights(), tmp_path / "index")
    with pytest.raises(ValueError, match="query 0 is blank"):
        index.search([""], 3)
    with pytest.raises(ValueError, match="an index of 0 passages"):
        Splade.build([], Weights(), tmp_path / "none")


def test_another_model_is_refused(encoder, tmp_path):
    Splade.build(by_hand("1 0 0"), Weights(), tmp_path / "index")
    with pytest.raises(InputError, match="made with encoder 'by hand', wanted 'tiny-masked-lm@"):
        Splade.open(tmp_path / "index", encoder)


def test_a_model_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(InputError, match="'naver/splade-v3' cannot be loaded") as told:
        SpladeEncoder("naver/splade-v3")
    assert "\n" not in str(told.value)
