"""`model: trained/DIR`: answers the question of one judge with its trained network."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...backends.budget import Budget
from ...backends.config import ModelConfig
from ...backends.errors import EndpointUnusable, JudgeOutputError
from ...backends.gateway import Reply
from ...backends.offline import OfflineBackend, check_labels, find_label_field
from ...backends.prompt import Prompt
from ...backends.replies.completion import record_answer
from ...judges.verdicts import Verdict
from ...records.judgements import Provenance
from ...records.reading.problems import need
from .folder import NETWORK, TOKENIZER, TrainedFile, read_folder
from .reading import Reader, pad

BATCH = 32


class TrainedBackend(OfflineBackend):
    """Answers with the trained network of a folder. It runs on this machine's CPU.

    Args:
        config: `model: trained/DIR`.
        budget: of the run; a trained judge costs nothing.

    Raises: InputError if the folder is incomplete, or onnxruntime is not installed.
    """

    def __init__(self, config: ModelConfig, budget: Budget | None = None) -> None:
        assert config.file is not None
        folder = config.file.parent
        super().__init__(config, budget)
        self.about = read_folder(folder)
        self._scorer = Scorer(folder, self.about)
        self._where = Provenance(model=config.model, finish_reason="stop")

    @property
    def fitted_on(self) -> frozenset[str]:
        """The topics whose labels trained it."""
        return frozenset(self.about.fitted_on)

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend.ask. Raises: EndpointUnusable for the question of another judge."""
        output, listed = find_label_field(prompt)
        about = self.about
        statement = listed or about.statement
        if about.source not in inputs or statement not in inputs:
            raise self._refuse(prompt)
        texts = inputs[statement] if listed else {"": inputs[statement]}
        given = list(texts.values()), inputs[about.source]
        verdicts = await asyncio.to_thread(self._scorer.judge, *given)
        found = dict(zip(texts, verdicts, strict=True))
        each = {key: verdict.label for key, verdict in found.items()}
        chances = {key: dict(verdict.probabilities or {}) for key, verdict in found.items()}
        try:
            values = check_labels(prompt, output, each if listed else each[""], inputs)
        except JudgeOutputError:
            raise self._refuse(prompt) from None
        record_answer(prompt, inputs, replicate, self._where)
        return Reply(values, self._where, {}, {output: chances if listed else chances[""]})

    def _refuse(self, prompt: Prompt) -> EndpointUnusable:
        what = f"it was trained for the {self.about.judge} judge ({', '.join(self.about.scale)})"
        return EndpointUnusable(f"{self.config.model}: {what}, and cannot answer {prompt.name}")


class Scorer:
    """Scores statements by a trained network.

    Args:
        folder: the folder of a trained judge.
        about: what it says.

    Raises: InputError if onnxruntime is not installed.
    """

    def __init__(self, folder: Path, about: TrainedFile, network: str = NETWORK) -> None:
        runtime, tokenizers = need("onnxruntime", "trained"), need("tokenizers", "trained")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # several calls run at the same time
        options.log_severity_level = 3
        self._session = runtime.InferenceSession(
            str(folder / network), options, providers=["CPUExecutionProvider"]
        )
        self.reader = Reader(tokenizers.Tokenizer.from_file(str(folder / TOKENIZER)), about.words)
        self._about, self._lock = about, threading.Lock()  # a tokenizer is not for two threads

    def judge(self, statements: Sequence[str], text: str) -> list[Verdict]:
        """Return the label of each statement about a text, with probabilities."""
        about = self._about
        scores = self.score([(statement, text) for statement in statements])
        return [
            about.correction.verdict(Verdict(about.scale[0], score), about.scale, None)
            for score in scores
        ]

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the score of each pair of a statement and a text, in [0, 1]."""
        with self._lock:
            items = [self.reader.read(*pair) for pair in pairs]
        order = sorted(range(len(items)), key=lambda i: len(items[i].ids))
        scores = np.zeros(len(items))
        for start in range(0, len(order), BATCH):
            at = order[start : start + BATCH]
            (odds,) = self._session.run(None, pad([items[i] for i in at]))
            scores[at] = score_odds(odds)
        return scores.tolist()


def score_odds(odds: NDArray[Any]) -> NDArray[np.float64]:
    """Return the (n,) scores for (n, k - 1) log-odds: the mean probability of reaching a label."""
    reached = 1 / (1 + np.exp(-odds.astype(np.float64)))
    means: NDArray[np.float64] = reached.mean(axis=1)
    return means


def open_model(config: ModelConfig, budget: Budget | None = None) -> TrainedBackend:
    """Open `model: trained/DIR`; for errors see TrainedBackend."""
    return TrainedBackend(config, budget)
