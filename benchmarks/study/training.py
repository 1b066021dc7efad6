"""What training a judge on labels is worth: lexical, `threshold` and `train` on the same topics.

    python -m benchmarks.study.training DATA --rows rows.jsonl --seeds 3

Each set is split by topic: 70% to fit, 30% to test. Of the topics to fit, `MOST` labels at most
are drawn. A row is kept in `--rows` when it is done, so that a stopped command goes on; the table
is made of all its rows.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from nuggetjudge.calibration.examples import Example, Examples
from nuggetjudge.calibration.fitting import ItemTarget, fit_target
from nuggetjudge.calibration.report import compare_agreement
from nuggetjudge.calibration.settings import Settings
from nuggetjudge.judges import ItemJudge, NuggetAssigner, SupportJudge
from nuggetjudge.metrics.inference import Interval
from nuggetjudge.plugins.trained.fit import Made, gather, train_network
from nuggetjudge.plugins.trained.model import Scorer
from nuggetjudge.plugins.trained.network import export

from . import sets
from .sets import Item, JudgedSet

SETS = (sets.TREC_NUGGETS, sets.TREC_SUPPORT, sets.SUMMHAY)
DISTILLED = ("gpt-4o-9shot",)  # recorded judges whose labels train, of summhay
JUDGES: dict[str, Any] = {"assigner": NuggetAssigner, "support": SupportJudge}
MOST = 2_000
SHARES = (0.5, 0.2, 0.3)
COLUMNS = {  # of a row: heading
    "n_fit": "labels to fit", "n_test": "test labels", "epochs": "passes", "losses": "loss",
    "auc": "AUC", "minutes": "minutes", "megabytes": "MB", "pairs_a_second": "pairs a second",
    "same_labels": "same labels",
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=[one.name.split()[0] for one in SETS])
    given = parser.parse_args()
    rows = list(sets.lines(given.rows)) if given.rows.exists() else []
    done = {(row["set"], row["labels"], row["seed"]) for row in rows}
    for chosen in SETS:
        if chosen.name.split()[0] not in given.sets or not chosen.is_in(given.data):
            continue
        for labels in ("people", *(DISTILLED if chosen is sets.SUMMHAY else ())):
            for seed in range(given.seeds):
                if (chosen.name, labels, seed) not in done:
                    row = measure(chosen, list(chosen.items(given.data)), labels, seed)
                    rows.append(row)
                    with given.rows.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(row) + "\n")
    sys.stdout.write("\n".join(table(rows)) + "\n")


def measure(chosen: JudgedSet, items: Sequence[Item], labels: str, seed: int) -> dict[str, Any]:
    """Train on the labels of people or of a recorded judge; measure by the labels of people."""
    judge: ItemJudge = JUDGES[chosen.judge]("lexical")
    known = [item for item in items if labels == "people" or labels in item.recorded]
    settings = Settings(method="train", shares=SHARES, seed=seed, resamples=0)
    target = draw_labels(ItemTarget(judge, make_examples(known, judge, labels), settings))
    [split] = target.splits()
    given = gather(target, split)
    made = train_network(target, given)
    test = target.parts(split)[-1]
    truth_of = {tuple(item.ids.values()): item.label for item in known}
    truth = [truth_of[item.cell] for item in test]
    topics = [item.topic_id for item in test]
    found = judge_test(target, made, test)
    row: dict[str, Any] = {
        "set": chosen.name,
        "labels": labels,
        "seed": seed,
        "n_fit": len(given.items),
        "n_test": len(test),
        "topics": [len(split.train) + len(split.dev), len(split.test)],
        "kappa": {},
    }
    for name, labelled in found.items():
        for base in ("lexical", "threshold"):
            figures = compare_agreement(
                truth, found[base], labelled, topics, judge.scale,
                draws={"resamples": 2000, "seed": 0, "level": 0.95},
            )  # fmt: skip
            one = figures["linear"]
            row["kappa"].setdefault(name, {"value": ends(one.after)})
            if name != base and one.difference is not None:
                row["kappa"][name][f"minus {base}"] = ends(one.difference)
    is_best = np.array([label == judge.scale[-1] for label in truth])
    return row | describe(made, test, is_best)


def draw_labels(target: ItemTarget) -> ItemTarget:
    """The target with `MOST` labels at most to fit, drawn by chance, and all labels to test."""
    [split] = target.splits()
    train, dev, test = target.parts(split)
    items = [*train, *dev]
    drawn = random.Random(target.settings.seed).sample(items, min(MOST, len(items)))
    examples = replace(target.examples, items=(*drawn, *test))
    return ItemTarget(target.judge, examples, target.settings)


def ends(figure: Interval) -> list[float | None]:
    """The figure, and the ends of its interval."""
    return [figure.value, figure.low, figure.high]


def judge_test(target: ItemTarget, made: Made, test: Sequence[Example]) -> dict[str, list[str]]:
    """The labels of each way to judge the test items, by its name."""
    judge = target.judge
    settings = replace(target.settings, method="threshold")
    fitted = fit_target(ItemTarget(judge, target.examples, settings))
    ways = {
        "lexical": judge,
        "threshold": judge.copy_with_fit(fitted.file),
        "trained": made.open(judge),
    }
    judged = {name: target.measure(each, test).verdicts for name, each in ways.items()}
    return {name: [each[item.cell].label for item in test] for name, each in judged.items()}


def find_auc(scores: Any, is_best: Any) -> float:
    """The share of pairs of an item with the best label and another one that scores order."""
    (best, other), n = (scores[is_best], scores[~is_best]), is_best.sum()
    ranks = rankdata(np.concatenate([best, other]))
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * len(other)))


def _pairs(items: Sequence[Example], made: Made) -> list[tuple[str, str]]:
    return [(item.inputs[made.about.statement], item.inputs[made.about.source]) for item in items]


def _judge(scorer: Scorer, pairs: Sequence[tuple[str, str]]) -> Iterator[Any]:
    for statement, text in pairs:
        yield from scorer.judge([statement], text)


def describe(made: Made, test: Sequence[Example], is_best: Any) -> dict[str, Any]:
    """Epochs, losses, AUC, minutes, size; pairs a second on one core, and how often 8 bits give
    the label of 32."""
    megabytes = sum(file.stat().st_size for file in made.path.iterdir()) / 1e6
    small, pairs = Scorer(made.path, made.about), _pairs(test, made)
    overlap = np.array([small.reader.read(*pair).overlap for pair in pairs])
    scores = {"overlap": overlap, "trained": np.array(small.score(pairs))}
    pairs = pairs[:: max(1, len(pairs) // 300)]
    whole = made.path / "whole.onnx"
    export(made.network, whole, [small.reader.read(*pair) for pair in pairs[:2]], is_whole=True)
    large = Scorer(made.path, made.about, whole.name)
    begun = time.monotonic()
    by_small = [verdict.label for verdict in _judge(small, pairs)]
    spent = time.monotonic() - begun
    by_large = [verdict.label for verdict in _judge(large, pairs)]
    whole.unlink()
    return {
        "epochs": made.n_epochs,
        "losses": made.losses,
        "minutes": round(made.seconds / 60, 1),
        "megabytes": round(megabytes, 1),
        "auc": {name: find_auc(each, is_best) for name, each in scores.items()},
        "pairs_a_second": round(len(pairs) / spent),
        "same_labels": float(np.mean([a == b for a, b in zip(by_small, by_large, strict=True)])),
    }


def make_examples(items: Sequence[Item], judge: ItemJudge, labels: str) -> Examples:
    """The items with the labels of people, or of a recorded judge."""
    found = tuple(
        Example(
            dict(item.ids), dict(item.inputs),
            item.label if labels == "people" else item.recorded[labels],
        )
        for item in items
    )  # fmt: skip
    names = tuple(found[0].ids)
    return Examples(found, judge.scale, names, {label: label for label in judge.scale})


def table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The rows as two tables in Markdown: agreement with people, and the cost of training."""
    bases = ("lexical", "threshold")
    heads = (*bases, "trained", *(f"- {base}" for base in bases))
    yield f"| data | labels of | seed | {' | '.join(heads)} |"
    yield f"|---|---|{'---:|' * (len(heads) + 1)}"
    for row in rows:
        kappa, trained = row["kappa"], row["kappa"]["trained"]
        points = " | ".join(_short(kappa[base]["value"][0]) for base in bases)
        gaps = " | ".join(_write(trained.get(f"minus {base}"), "+") for base in bases)
        yield f"| {_about(row)} | {points} | {_write(trained['value'])} | {gaps} |"
    yield ""
    yield f"| data | labels of | seed | {' | '.join(COLUMNS.values())} |"
    yield f"|---|---|{'---:|' * (len(COLUMNS) + 1)}"
    for row in rows:
        named = {
            "auc": row["auc"].values(),
            "losses": row["losses"],
            "same_labels": [row["same_labels"]],
        }
        shown = row | {name: " / ".join(map(_short, each)) for name, each in named.items()}
        yield f"| {_about(row)} | {' | '.join(str(shown[name]) for name in COLUMNS)} |"


def _about(row: dict[str, Any]) -> str:
    return f"{row['set']} | {row['labels']} | {row['seed']}"


def _short(x: float | None, sign: str = "") -> str:
    return f"{x:{sign}.3f}".replace("0.", ".", 1)


def _write(figure: Sequence[float | None] | None, sign: str = "") -> str:
    if figure is None or None in figure:
        return "-"
    value, low, high = (_short(x, sign) for x in figure)
    return f"{value} [{low}, {high}]"


if __name__ == "__main__":
    main()
