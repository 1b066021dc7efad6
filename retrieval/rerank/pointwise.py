"""Rerankers that score one passage at a time: cross-encoders and monoT5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...records.reading.problems import InputError, need
from ..encoders import load_model, not_loaded
from ..scored import Ranked, Scored, by_text

MAX_TOKENS = 512  # of query and passage together, or of a monoT5 prompt


class CrossEncoderReranker:
    """Scores each passage with a sentence-transformers CrossEncoder; higher is better.

    Scores are the model's logits: a sigmoid would make very confident scores equal.

    Args:
        model: a folder, "package:MODULE" or a name on the hub, such as
            "cross-encoder/ms-marco-MiniLM-L6-v2"; see `load_model`.
        batch: passages that the model gets together.
        max_length: tokens of query and passage together; a longer passage is cut.
        device: such as "cpu" or "cuda:1"; None: the library chooses.

    Raises: InputError if the `dense` extra or the model is missing, or if the model has several
        labels, and so no single score; ValueError for a batch or max_length below 1.

    Example:
        reranker = CrossEncoderReranker("cross-encoder/ms-marco-MiniLM-L6-v2")
        reranker.rerank("why do bridges sway", ranked, texts)
    """

    def __init__(
        self,
        model: str | Path,
        *,
        batch: int = 32,
        max_length: int = MAX_TOKENS,
        device: str | None = None,
    ) -> None:
        if batch < 1 or max_length < 1:
            raise ValueError(f"batch and max_length must be 1 or more, got {batch}, {max_length}")
        self._model, self.name = load_model("CrossEncoder", model, device)
        if (n := self._model.num_labels) != 1:
            what = f"model {str(model)!r} gives {n} labels, wanted a reranker with one"
            raise InputError(what)
        # A model made for fewer tokens keeps its own limit.
        own = self._model.max_seq_length
        self._model.max_seq_length = min(own, max_length) if own else max_length
        self._batch = batch

    def rerank(self, query: str, ranked: Sequence[Scored], texts: Mapping[str, str]) -> Ranked:
        """See `Reranker`: all passages by the model's score; ties keep their order."""
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


TRUE, FALSE = "▁true", "▁false"  # tokens of T5's vocabulary that the models were trained to produce


class MonoT5:
    """Scores each passage by the log-probability of `true` against `false`; higher is better.

    The model reads `Query: ... Document: ... Relevant:`, the words of its training. A passage
    that is too long is cut, so that the end of the prompt is never lost.

    Args:
        model: a folder or a name on the hub, such as "castorini/monot5-base-msmarco-10k".
        batch: passages that the model gets together.
        max_length: tokens of a prompt.
        device: such as "cpu" or "cuda:1"; None: a GPU if there is one, otherwise the CPU.
        true, false: the two tokens, if a model was trained on others.

    Raises: InputError if the `dense` extra or the model is missing, or if its vocabulary lacks the
        two tokens; ValueError for a batch or max_length below 1.
    Source: arXiv:2003.06713 (Nogueira et al. 2020).

    Example:
        MonoT5("castorini/monot5-base-msmarco-10k").rerank("why do bridges sway", ranked, texts)
    """

    def __init__(
        self,
        model: str | Path,
        *,
        batch: int = 32,
        max_length: int = MAX_TOKENS,
        device: str | None = None,
        true: str = TRUE,
        false: str = FALSE,
    ) -> None:
        if batch < 1 or max_length < 1:
            raise ValueError(f"batch and max_length must be 1 or more, got {batch}, {max_length}")
        self._torch = need("torch", "dense")
        transformers = need("transformers", "dense")
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(str(model))
            loaded = transformers.AutoModelForSeq2SeqLM.from_pretrained(str(model))
        except Exception as error:  # many kinds for a broken folder or a silent hub
            hint = "give a folder or a name that the hub or its cache has"
            raise not_loaded(model, error, hint) from None
        vocabulary = self._tokenizer.get_vocab()
        if missing := [token for token in (true, false) if token not in vocabulary]:
            raise InputError(f"model {str(model)!r} has no token {missing[0]!r}; is it a monoT5?")
        self._labels = [vocabulary[false], vocabulary[true]]
        self._device = device or ("cuda" if self._torch.cuda.is_available() else "cpu")
        self._model: Any = loaded.to(self._device).eval()
        self._batch = batch
        self._max_length = max_length

    def rerank(self, query: str, ranked: Sequence[Scored], texts: Mapping[str, str]) -> Ranked:
        """See `Reranker`: all passages by the model's score; ties keep their order."""
        return by_text(ranked, texts, lambda distinct: self._scores(query, distinct))

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The log-probability of `true` for each text, <= 0."""
        torch = self._torch
        scores: list[float] = []
        for start in range(0, len(texts), self._batch):
            prompts = [self._prompt(query, text) for text in texts[start : start + self._batch]]
            inputs = self._tokenizer.pad({"input_ids": prompts}, return_tensors="pt")
            begin = torch.full((len(prompts), 1), self._model.config.decoder_start_token_id)
            with torch.inference_mode():
                logits = self._model(
                    **inputs.to(self._device), decoder_input_ids=begin.to(self._device)
                ).logits[:, 0, self._labels]
            # log-softmax over the two, exact even if the model is very confident of `true`
            surer = logits[:, 1].double() - logits[:, 0].double()
            scores += torch.nn.functional.logsigmoid(surer).tolist()
        return scores

    def _prompt(self, query: str, text: str) -> list[int]:
        """The tokens of one prompt; if it is too long, the passage is cut first, then the query."""
        parts = (f"Query: {query} Document:", text, "Relevant:")
        head, body, end = (self._tokenizer(p, add_special_tokens=False).input_ids for p in parts)
        end = [*end, self._tokenizer.eos_token_id]
        head = head[: max(0, self._max_length - len(end))]
        return [*head, *body[: max(0, self._max_length - len(head) - len(end))], *end]
