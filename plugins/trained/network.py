"""The network of a trained judge, in torch: MiniLM and word overlap, with a head for the labels."""

from __future__ import annotations

import math
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
BATCH = 16
RATE, HEAD_RATE, WARM = 1e-4, 3e-4, 0.1  # learning rates, and the share of steps in which they rise
RIDGE = 1e-4  # on the weights of word overlap at the start; keeps them finite if labels separate
FROZEN = 3  # layers, and the embeddings of words and places, that keep their weights
N_KINDS = 2 * SHARED


class Labelled(NamedTuple):
    """An item to train on: its tokens, and its label as a level from 0 to k - 1."""

    tokens: Tokens
    level: int


class Network(nn.Module):  # type: ignore[misc]
    """Reads a statement and a text together; gives the log-odds of level >= j for j = 1..k-1.

    They are those of word overlap plus what the encoder adds, at first nothing.

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
        self.head = nn.Linear(known.shape[1], k - 1, bias=False)
        nn.init.zeros_(self.head.weight)
        self.of_overlap = nn.Linear(1, k - 1)
        inputs = self.encoder.embeddings
        fixed = [inputs.word_embeddings, inputs.position_embeddings]
        for part in (*fixed, *self.encoder.encoder.layer[:FROZEN]):
            part.requires_grad_(False)

    def forward(
        self, ids: Tensor, kinds: Tensor, mask: Tensor, stated: Tensor, overlap: Tensor
    ) -> Tensor:
        """Return (n, k - 1) log-odds for the inputs of `pad`."""
        states = self.encoder(input_ids=ids, token_type_ids=kinds, attention_mask=mask)
        weights = stated.unsqueeze(-1).float()
        pooled = (states.last_hidden_state * weights).sum(1) / weights.sum(1).clamp(min=1)
        return self.head(pooled) + self.of_overlap(overlap)


class Trained(NamedTuple):
    """A trained network.

    Attributes:
        network: with the weights after the last epoch.
        odds: (n, k - 1) log-odds of held items by word overlap, and after each epoch; of no items,
            only the first.
    """

    network: Network
    odds: list[Floats]


def train(
    folder: Path,
    items: Sequence[Labelled],
    k: int,
    *,
    epochs: int,
    stop: int | None = None,
    held: Sequence[Labelled] = (),
    seed: int = 0,
    say: Callable[[int], object] = lambda n: None,
) -> Trained:
    """Train a network on items. Equal arguments give the same weights on the same machine.

    Args:
        folder: the encoder to start from.
        k: the number of labels, 2 or more.
        epochs: the passes over the items for which learning rates are planned.
        stop: the pass after which training ends; None: the last.
        held: items to judge after each epoch.
        say: is told the number of items after each step.
    """
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    network = Network(folder, k)
    _fit_overlap(network.of_overlap, items)
    n_steps = epochs * math.ceil(len(items) / BATCH)
    encoder = [p for p in network.encoder.parameters() if p.requires_grad]
    heads = [*network.head.parameters(), *network.of_overlap.parameters()]
    learner = torch.optim.AdamW(
        [{"params": encoder, "lr": RATE}, {"params": heads, "lr": HEAD_RATE}], weight_decay=0.01
    )
    pace = torch.optim.lr_scheduler.LambdaLR(
        learner, lambda step: min((step + 1) / (WARM * n_steps), (n_steps - step) / n_steps)
    )
    with torch.no_grad():
        odds = [network.of_overlap(_list_overlap(held)).double().numpy()]
    for _ in range(epochs if stop is None else stop):
        network.train()
        for batch in _draw_batches(items, random):
            loss = binary_cross_entropy_with_logits(_run(network, batch), _list_reached(batch, k))
            learner.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            learner.step()
            pace.step()
            say(len(batch))
        if held:
            odds.append(_find_odds(network, held))
    return Trained(network.eval(), odds)


def find_loss(odds: Floats, items: Sequence[Labelled]) -> float:
    """Return the mean cross-entropy of (n, k - 1) log-odds, in nats per decision."""
    reached = _list_reached(items, odds.shape[1] + 1)
    return float(binary_cross_entropy_with_logits(torch.from_numpy(odds), reached.double()))


def _fit_overlap(layer: nn.Linear, items: Sequence[Labelled]) -> None:
    """Set the weights of word overlap to those of a logistic regression for each level."""
    overlap, reached = _list_overlap(items), _list_reached(items, layer.out_features + 1)
    weights = [*layer.parameters()]
    for each in weights:
        nn.init.zeros_(each)
    learner = torch.optim.LBFGS(weights, max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> float:
        learner.zero_grad()
        found = binary_cross_entropy_with_logits(layer(overlap), reached)
        found = found + RIDGE * sum(each.square().sum() for each in weights)
        found.backward()
        return float(found.detach())

    learner.step(loss)


def _list_overlap(items: Sequence[Labelled]) -> Tensor:
    """(n, 1) word overlap."""
    return torch.tensor([[item.tokens.overlap] for item in items]).reshape(-1, 1)


def _list_reached(items: Sequence[Labelled], k: int) -> Tensor:
    """(n, k - 1) 1.0 where an item reaches the level j = 1..k-1, else 0.0."""
    levels = torch.tensor([[item.level] for item in items])
    return (levels >= torch.arange(1, k)).float()


def _run(network: Network, items: Sequence[Labelled]) -> Tensor:
    inputs = pad([item.tokens for item in items])
    return network(**{name: torch.from_numpy(each) for name, each in inputs.items()})


def _find_odds(network: Network, items: Sequence[Labelled]) -> Floats:
    network.eval()
    odds = np.zeros((len(items), network.head.out_features))
    order = sorted(range(len(items)), key=lambda i: len(items[i].tokens.ids))
    with torch.inference_mode():
        for start in range(0, len(items), 2 * BATCH):
            at = order[start : start + 2 * BATCH]
            odds[at] = _run(network, [items[i] for i in at]).numpy()
    return odds


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
    shapes = dict.fromkeys(INPUTS, sizes) | {"overlap": {0: sizes[0]}}
    whole = path if is_whole else path.with_suffix(".whole")
    torch.onnx.export(
        network,
        inputs,
        str(whole),
        input_names=list(INPUTS),
        output_names=["reached"],
        dynamic_shapes=tuple(shapes.values()),
        external_data=False,
        dynamo=True,
        verbose=False,
    )
    if not is_whole:
        bits = need("onnxruntime.quantization", "dense")
        bits.quantize_dynamic(str(whole), str(path), weight_type=bits.QuantType.QInt8)
        whole.unlink()
