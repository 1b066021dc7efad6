"""What training a judge on labels is worth: lexical, `threshold` and `train` on the same topics.

    python -m benchmarks.study.training DATA --rows rows.jsonl --seeds 3

Each set is split by topic: half to train, 20% to choose by, 30% to test. With `--also`, the labels
of all other sets train too, except those of topics that choose or test. A row is kept in
`--rows` when it is done, so that a stopped command goes on; the table is made of all its rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from nuggetjudge.calibration.examples import Example, Examples
from nuggetjudge.calibration.fitting import ItemTarget, fit_target
from nuggetjudge.calibration.report import compare_agreement
from nuggetjudge.calibration.settings import Settings
from nuggetjudge.judges import ItemJudge, NuggetAssigner, SupportJudge
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.metrics.inference import Interval
from nuggetjudge.plugins.trained.fit import Made, fit_labels, gather, train_network
from nuggetjudge.plugins.trained.model import Scorer
from nuggetjudge.plugins.trained.network import export

from . import sets
from .sets import Item, JudgedSet

SETS = (sets.TREC_NUGGETS, sets.TREC_SUPPORT, sets.SUMMHAY)
DISTILLED = ("gemini-1.5-pro", "gpt-4o-9shot")  # recorded judges whose labels train, of summhay
JUDGES: dict[str, Any] = {"assigner": NuggetAssigner, "support": SupportJudge}
OTHERS = (  # sets of the same kind of question
    sets.TREC_NUGGETS, sets.TREC_SUPPORT, sets.SUMMHAY, sets.WICE, sets.ATTRIBUTION, sets.EXPERTQA,
    sets.IKAT_NUGGETS,
)  # fmt: skip
SHARES = (0.5, 0.2, 0.3)
COLUMNS = {  # of a row: heading
    "n_train": "own labels", "n_test": "test labels", "auc": "AUC", "minutes": "minutes",
    "megabytes": "MB", "pairs_a_second": "pairs a second", "same_labels": "same labels",
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=[one.name.split()[0] for one in SETS])
    parser.add_argument("--also", action="store_true")
    given = parser.parse_args()
    rows = list(sets.lines(given.rows)) if given.rows.exists() else []
    done = {(row["set"], row["labels"], row["also"], row["seed"]) for row in rows}
    for chosen in SETS:
        if chosen.name.split()[0] not in given.sets or not chosen.is_in(given.data):
            continue
        for labels in ("people", *(DISTILLED if chosen is sets.SUMMHAY else ())):
            for seed in range(given.seeds):
                if (chosen.name, labels, given.also, seed) not in done:
                    items = list(chosen.items(given.data))
                    with tempfile.TemporaryDirectory() as folder:
                        more = write_others(chosen, given.data, Path(folder)) if given.also else []
                        row = measure(chosen, items, labels, seed, more)
                    rows.append(row)
                    with given.rows.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(row) + "\n")
    sys.stdout.write("\n".join(table(rows)) + "\n")


def measure(
    chosen: JudgedSet, items: Sequence[Item], labels: str, seed: int, more: Sequence[Path] = ()
) -> dict[str, Any]:
    """Train on the labels of people or of a recorded judge; measure by the labels of people."""
    judge: ItemJudge = JUDGES[chosen.judge]("lexical")
    known = [item for item in items if labels == "people" or labels in item.recorded]
    examples = make_examples(known, judge, labels)
    settings = Settings(
        method="train",
        shares=SHARES,
        seed=seed,
        resamples=0,
        options={"also": [str(path) for path in more]},
    )
    target = ItemTarget(judge, examples, settings)
    [split] = target.splits()
    made = train_network(target, split, gather(target, split))
    train, dev, test = target.parts(split)
    truth_of = {tuple(item.ids.values()): item.label for item in known}
    truth = [truth_of[item.cell] for item in test]
    topics = [item.topic_id for item in test]
    given, ordered = judged(target, made, dev, test, seed)
    is_best = np.array([label == judge.scale[-1] for label in truth])
    row: dict[str, Any] = {
        "set": chosen.name,
        "labels": labels,
        "seed": seed,
        "also": bool(more),
        "n_train": len(train),
        "n_dev": len(dev),
        "n_test": len(test),
        "topics": [len(split.train), len(split.dev), len(split.test)],
        "epochs": [made.trained.best, made.trained.n_epochs],
        "minutes": round(made.seconds / 60, 1),
        "megabytes": round(sum(f.stat().st_size for f in made.path.iterdir()) / 1e6, 1),
        "auc": {name: find_auc(scores, is_best) for name, scores in ordered.items()},
        "kappa": {},
    }
    for name, labelled in given.items():
        for base in ("lexical", "threshold"):
            figures = compare_agreement(
                truth, given[base], labelled, topics, judge.scale,
                draws={"resamples": 2000, "seed": 0, "level": 0.95},
            )  # fmt: skip
            one = figures["linear"]
            row["kappa"].setdefault(name, {"value": ends(one.after)})
            if name != base and one.difference is not None:
                row["kappa"][name][f"minus {base}"] = ends(one.difference)
    row |= speed_and_size(made, test)
    return row


def write_others(chosen: JudgedSet, data: Path, folder: Path) -> list[Path]:
    """Write the labels of the other sets as label files; return the files."""
    files = []
    for other in OTHERS:
        if other is chosen or not other.is_in(data):
            continue
        scale = JUDGES[other.judge]("lexical").scale
        named = dict(zip(other.scale, scale if len(other.scale) > 2 else scale[::2], strict=True))
        path = folder / f"{other.key}.jsonl"
        with path.open("w", encoding="utf-8") as out:
            for item in other.items(data):
                row = {**item.ids, **item.inputs, "label": named[item.label]}
                out.write(json.dumps(row) + "\n")
        files.append(path)
    return files


def ends(figure: Interval) -> list[float | None]:
    """The figure, and the ends of its interval."""
    return [figure.value, figure.low, figure.high]


def judged(
    target: ItemTarget, made: Made, dev: Sequence[Example], test: Sequence[Example], seed: int
) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """The labels of each way to judge the test items, by its name; and the scores of three."""
    judge = target.judge
    fitted = fit_target(
        ItemTarget(judge, target.examples, Settings(shares=SHARES, seed=seed, resamples=0))
    )
    ways = {"lexical": judge, "threshold": judge.copy_with_fit(fitted.file)}
    found = {
        name: [target.measure(each, test).verdicts[item.cell].label for item in test]
        for name, each in ways.items()
    }
    scorer = Scorer(made.path, made.about.model_copy(update={"share": 1.0}))
    parts = []
    for part in (dev, test):
        pairs = _pairs(part, made)
        overlap = [scorer.reader.measure(*pair) for pair in pairs]
        parts.append((np.array(scorer.score(pairs)), np.array(overlap)))
    ordered = {"overlap": parts[1][1]}
    for name, share in (("trained, with overlap", 0.5), ("trained, alone", 1.0)):
        of_dev, of_test = [share * places + (1 - share) * overlap for places, overlap in parts]
        ordered[name] = of_test
        try:
            correction = fit_labels(target, dev, of_dev.tolist())
        except ValueError:  # no better than chance
            found[name] = [judge.scale[0]] * len(test)
            continue
        verdicts = [Verdict(judge.scale[0], score) for score in of_test]
        found[name] = [correction.verdict(one, judge.scale, None).label for one in verdicts]
    return found, ordered


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


def speed_and_size(made: Made, test: Sequence[Example]) -> dict[str, Any]:
    """Pairs a second on one core, and how often 8 bits give the label of 32."""
    pairs = _pairs(list(test)[:: max(1, len(test) // 300)], made)
    whole = made.path / "whole.onnx"
    small = Scorer(made.path, made.about)
    example = [small.reader.read(*pair) for pair in pairs[:2]]
    export(made.trained.network, whole, example, is_whole=True)
    large = Scorer(made.path, made.about, whole.name)
    begun = time.monotonic()
    by_small = [verdict.label for verdict in _judge(small, pairs)]
    spent = time.monotonic() - begun
    by_large = [verdict.label for verdict in _judge(large, pairs)]
    whole.unlink()
    same = float(np.mean([a == b for a, b in zip(by_small, by_large, strict=True)]))
    return {"pairs_a_second": round(len(pairs) / spent), "same_labels": round(same, 3)}


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
    kinds = ("lexical", "threshold", "trained, alone")
    heads = ("lexical", "threshold", "alone", "trained", "- lexical", "- threshold")
    yield f"| data | labels of | seed | {' | '.join(heads)} |"
    yield f"|---|---|{'---:|' * (len(heads) + 1)}"
    for row in rows:
        kappa = row["kappa"]
        trained = kappa["trained, with overlap"]
        points = " | ".join(_short(kappa[kind]["value"][0]) for kind in kinds)
        gaps = [_write(trained.get(f"minus {base}"), "+") for base in kinds[:2]]
        yield f"| {_about(row)} | {points} | {_write(trained['value'])} | {' | '.join(gaps)} |"
    yield ""
    yield f"| data | labels of | seed | {' | '.join(COLUMNS.values())} |"
    yield f"|---|---|{'---:|' * (len(COLUMNS) + 1)}"
    for row in rows:
        aucs = " / ".join(_short(value) for value in row["auc"].values())
        shown = {**row, "auc": aucs, "same_labels": _short(row["same_labels"])}
        yield f"| {_about(row)} | {' | '.join(str(shown[name]) for name in COLUMNS)} |"


def _about(row: dict[str, Any]) -> str:
    data = row["set"] + (" + others" if row["also"] else "")
    return f"{data} | {row['labels']} | {row['seed']}"


def _short(x: float | None, sign: str = "") -> str:
    return f"{x:{sign}.3f}".replace("0.", ".", 1)


def _write(figure: Sequence[float | None] | None, sign: str = "") -> str:
    if figure is None or None in figure:
        return "-"
    value, low, high = (_short(x, sign) for x in figure)
    return f"{value} [{low}, {high}]"


if __name__ == "__main__":
    main()
