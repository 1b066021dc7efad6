"""`judge cache` on kept vectors; on kept replies: test_demo.py."""

import numpy as np
import pytest

from nuggetjudge.retrieval.encoders import CachedEncoder


class Lengths:
    """One dimension: how long a text is."""

    name = "lengths"

    def passages(self, texts):
        return np.array([[len(text)] for text in texts], np.float32)

    queries = passages


@pytest.mark.parametrize("folder", ["home/cache/nuggetjudge/vectors", "own"])
def test_vectors_are_counted_and_forgotten(judge, tmp_path, folder):
    flags = ["--folder", tmp_path / folder] if folder == "own" else []
    assert " vectors" not in judge("cache", *flags).out
    encoder = CachedEncoder(Lengths(), tmp_path / folder)
    encoder.passages(["ebb", "flood"])
    encoder.close()
    assert "         2  vectors, 0.0 MB in " in judge("cache", *flags).out
    assert " vectors" not in judge("cache", *flags, "--clear", "--model", "m").out
    assert judge("cache", *flags, "--clear").out.endswith("2 vectors forgotten\n")
    assert " vectors" not in judge("cache", *flags).out
