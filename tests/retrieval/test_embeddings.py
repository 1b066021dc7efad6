import os
import signal
import sqlite3
import stat
import subprocess
import sys

import numpy as np
import pytest

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval import encoders as embeddings
from nuggetjudge.retrieval.encoders import FILE, CachedEncoder, clear_vectors, count_vectors

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
        InputError, match=r"kept: no folder for the cache of vectors \(it is a file"
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
    with pytest.warns(RuntimeWarning, match="kept no longer") as warned:
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
