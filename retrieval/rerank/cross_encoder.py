"""Pointwise reranking by a cross-encoder, which reads the query and one passage together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...records.reading.problems import InputError
from ..local_models import load_model
from ..scored import Ranked, Scored, by_text

MOST_TOKENS = 512  # of query and passage together; most such models take no more


class CrossEncoderReranker:
    """Scores each passage with a sentence-transformers CrossEncoder; higher is better.

    Scores are the model's logits: a sigmoid would make equal what it is very sure of.

    Args:
        model: a folder, "package:MODULE" or a name on the hub, such as
            "cross-encoder/ms-marco-MiniLM-L6-v2"; see `load_model`.
        batch: passages that the model sees at once.
        max_length: tokens of query and passage together, beyond which the passage is cut.
        device: such as "cpu" or "cuda:1"; None: the library chooses.

    Raises: InputError if the `dense` extra or the model is missing, or if it has several labels,
        which give no single score; ValueError for a batch or max_length below 1.

    Example:
        reranker = CrossEncoderReranker("cross-encoder/ms-marco-MiniLM-L6-v2")
        reranker.rerank("why do bridges sway", ranked, texts)
    """

    def __init__(
        self,
        model: str | Path,
        *,
        batch: int = 32,
        max_length: int = MOST_TOKENS,
        device: str | None = None,
    ) -> None:
        if batch < 1 or max_length < 1:
            raise ValueError(f"batch and max_length must be 1 or more, got {batch}, {max_length}")
        self._model, self.name = load_model("CrossEncoder", model, device)
        if (n := self._model.num_labels) != 1:
            what = f"model {str(model)!r} gives {n} labels, wanted a reranker with one"
            raise InputError(what)
        # A model that was made for fewer tokens keeps its own limit.
        own = self._model.max_seq_length
        self._model.max_seq_length = min(own, max_length) if own else max_length
        self._batch = batch

    def rerank(self, query: str, ranked: Sequence[Scored], texts: Mapping[str, str]) -> Ranked:
        """See `Reranker`: all passages by the model's score, equal ones in the order they had."""
        return by_text(ranked, texts, lambda distinct: self._scores(query, distinct))

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The logit of each text."""
        from torch.nn import Identity

        scores = self._model.predict(
            [(query, text) for text in texts],
            batch_size=self._batch,
            activation_fn=Identity(),
            show_progress_bar=False,
        )
        return [float(score) for score in scores]
