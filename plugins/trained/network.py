"""The network of a trained judge, in torch: MiniLM with a head for the labels, trained on items."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import BertModel

from ...records.reading.problems import need
from .reading import INPUTS, SHARED, Tokens, pad

Floats = NDArray[np.float64]
BATCH, PATIENCE = 32, 2
RATE, HEAD_RATE, WARM = 1e-4, 1e-3, 0.1  # learning rates, and the share of steps in which they rise
FROZEN = 3  # layers, and the embeddings of words and places, that keep their weights
N_KINDS = 2 * SHARED


class Labelled(NamedTuple):
    """An item to train on.

    Attributes:
        tokens: of its texts.
        reached: for each label but the lowest, 1.0 if the item reaches it, 0.0 if not; None if its
            label does not tell.
    """

    tokens: Tokens
    reached: tuple[float | None, ...]


class Network(nn.Module):  # type: ignore[misc]
    """Reads a statement and a text together; gives the log-odds of level >= j for j = 1..k-1.

    Args:
        folder: the encoder, with the weights to start from.
        k: the number of labels.
    """

    def __init__(self, folder: Path, k: int) -> None:
        super().__init__()
        self.encoder = BertModel.from_pretrained(folder, add_pooling_layer=False)
        known = self.encoder.embeddings.token_type_embeddings.weight.data
        kinds = nn.Embedding(N_KINDS, known.shape[1])
        kinds.weight.data = known.repeat(N_KINDS // len(known), 1)
        kinds.weight.data[SHARED:] += 0.02 * torch.randn(N_KINDS - SHARED, known.shape[1])
        self.encoder.embeddings.token_type_embeddings = kinds
        self.head = nn.Linear(known.shape[1], k - 1)
        nn.init.normal_(self.head.weight, std=0.02)
        inputs = self.encoder.embeddings
        fixed = [inputs.word_embeddings, inputs.position_embeddings]
        for part in (*fixed, *self.encoder.encoder.layer[:FROZEN]):
            part.requires_grad_(False)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor, stated: Tensor) -> Tensor:
        """Return (n, k - 1) log-odds for (n, length) ids, kinds, and masks of tokens that count."""
        states = self.encoder(input_ids=ids, token_type_ids=kinds, attention_mask=mask)
        weights = stated.unsqueeze(-1).float()
        pooled = (states.last_hidden_state * weights).sum(1) / weights.sum(1).clamp(min=1)
        return self.head(pooled)


class Trained(NamedTuple):
    """A trained network.

    Attributes:
        network: with the weights of the best epoch.
        n_epochs: the number of epochs that were trained; best: the one that was kept, from 1.
        losses: (train, dev) of each epoch, in nats per decision.
    """

    network: Network
    n_epochs: int
    best: int
    losses: list[tuple[float, float]]


def train(
    folder: Path,
    train: Sequence[Labelled],
    dev: Sequence[Labelled],
    k: int,
    *,
    epochs: int,
    seed: int = 0,
    say: Callable[[str], object] = lambda text: None,
) -> Trained:
    """Train a network, and keep the weights of the epoch with the lowest loss on dev.

    It stops after `PATIENCE` epochs without a lower loss on dev. Equal arguments give the same
    weights on the same machine.

    Args:
        folder: the encoder to start from.
        train, dev: items of different topics.
        k: the number of labels, 2 or more.
        epochs: the most passes over train.
        say: shows progress, a line at a time.
    """
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    network = Network(folder, k)
    with torch.no_grad():  # begin at the shares of the labels
        columns = zip(*(one.reached for one in train), strict=True)
        shares = np.array([np.mean([r for r in each if r is not None]) for each in columns])
        odds = np.clip(shares, 0.01, 0.99)
        network.head.bias.copy_(torch.tensor(np.log(odds / (1 - odds)), dtype=torch.float32))
    n_steps = epochs * math.ceil(len(train) / BATCH)
    learner = torch.optim.AdamW(
        [
            {"params": [p for p in network.encoder.parameters() if p.requires_grad], "lr": RATE},
            {"params": network.head.parameters(), "lr": HEAD_RATE},
        ],
        weight_decay=0.01,
    )
    pace = torch.optim.lr_scheduler.LambdaLR(
        learner, lambda step: min((step + 1) / (WARM * n_steps), (n_steps - step) / n_steps)
    )
    said = f"{len(train):,} items to train on, {len(dev):,} to choose by"
    say(f"{said}; {epochs} {'epoch' if epochs == 1 else 'epochs'} at most\n")
    losses: list[tuple[float, float]] = []
    best, kept = 0, {}
    started, seen = time.monotonic(), 0
    for epoch in range(1, epochs + 1):
        network.train()
        total = 0.0
        for batch in _draw_batches(train, random):
            loss = _loss(network, batch)
            learner.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            learner.step()
            pace.step()
            total += loss.item() * len(batch)
            seen += len(batch)
            _say_progress(say, seen, epochs * len(train), started)
        network.eval()
        with torch.inference_mode():
            parts = [dev[i : i + BATCH] for i in range(0, len(dev), BATCH)]
            on_dev = sum(_loss(network, part).item() * len(part) for part in parts) / len(dev)
        losses.append((total / len(train), on_dev))
        say(f"epoch {epoch} of {epochs}: loss {losses[-1][0]:.3f}, on other topics {on_dev:.3f}\n")
        if best and on_dev >= losses[best - 1][1]:
            if epoch - best >= PATIENCE:
                break
            continue
        best = epoch
        kept = {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(kept)
    return Trained(network.eval(), len(losses), best, losses)


def _say_progress(
    say: Callable[[str], object], seen: int, n: int, started: float, every: int = 20 * BATCH
) -> None:
    if seen % every < BATCH and seen < n:
        spent = time.monotonic() - started
        say(f"{seen} of at most {n} items, {spent * (n - seen) / seen / 60:.0f} min left\r")


def _loss(network: Network, items: Sequence[Labelled]) -> Tensor:
    inputs = {name: torch.from_numpy(each) for name, each in pad([i.tokens for i in items]).items()}
    reached = torch.tensor([[r or 0.0 for r in item.reached] for item in items])
    known = torch.tensor([[float(r is not None) for r in item.reached] for item in items])
    return binary_cross_entropy_with_logits(network(**inputs), reached, weight=known)


def _draw_batches(
    items: Sequence[Labelled], random: np.random.Generator, pool: int = 20
) -> Iterator[list[Labelled]]:
    """Yield all items in random batches of about the same length, which need little padding."""
    order = random.permutation(len(items))
    batches: list[Any] = []
    for start in range(0, len(order), pool * BATCH):
        part = sorted(order[start : start + pool * BATCH], key=lambda i: len(items[i].tokens.ids))
        batches += [part[i : i + BATCH] for i in range(0, len(part), BATCH)]
    for index in random.permutation(len(batches)):
        yield [items[i] for i in batches[index]]


def export(network: Network, path: Path, example: Sequence[Tokens], *, is_whole: bool) -> None:
    """Write the network as ONNX.

    Args:
        path: the file to write.
        example: two items or more, to trace the network.
        is_whole: True for weights in 32 bits; False for weights in 8 bits, a quarter of the size.
    """
    inputs = tuple(torch.from_numpy(each) for each in pad(example).values())
    sizes = {0: torch.export.Dim("items"), 1: torch.export.Dim("tokens", max=512)}
    whole = path if is_whole else path.with_suffix(".whole")
    torch.onnx.export(
        network,
        inputs,
        str(whole),
        input_names=list(INPUTS),
        output_names=["reached"],
        dynamic_shapes=tuple(sizes for _ in INPUTS),
        external_data=False,
        dynamo=True,
        verbose=False,
    )
    if not is_whole:
        bits = need("onnxruntime.quantization", "dense")
        bits.quantize_dynamic(str(whole), str(path), weight_type=bits.QuantType.QInt8)
        whole.unlink()
