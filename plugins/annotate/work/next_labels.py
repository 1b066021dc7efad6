"""Choose the cells that people should label next: some at random, some where labels help most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....programs.analysis.agree_labels import join_scales
from ....programs.analysis.cell_texts import cell_texts, choose_texts
from ....programs.protocols.judged_files import (
    are_ordered,
    find_file_scale,
    find_judged_file,
    kind_of_folder,
)
from ....programs.scoring.human_labels import CASCADE, CHOSEN_BY, RANDOM, read_items
from ....records.kinds import Cell, LabelFile, check_same_things, file_kind
from ....records.labels import cell_run_aliases, read_labels, rename_runs
from ....records.reading.problems import InputError, Problems

RANDOM_SHARE = 0.5
REST = "rest"
KEPT = 100  # labels of kept items, by default
WEIGHING = ("assignments", "support")  # kinds of files with weights of items
MEASURES = ("V_strict", "A_strict", "support_precision")  # the first one available

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """A cell to label: its index, the criterion that chose it, and its probability if random.

    `probability`: the share of its topic's unlabelled cells that were drawn at random.
    """

    index: int
    chosen_by: str
    probability: float | None


@dataclass(frozen=True)
class Sheet:
    """Rows for people to fill in. `n_by` counts them by criterion, `scale` has the labels."""

    rows: list[dict[str, Any]]
    kind: str
    scale: tuple[str, ...]
    n_by: dict[str, int]
    n_cells: int
    n_labelled: int


def next_labels(
    results: Sequence[Path],
    n: int,
    problems: Problems,
    *,
    labels: Path | None = None,
    kind: str | None = None,
    random_share: float = RANDOM_SHARE,
    seed: int = 0,
) -> Sheet:
    """Choose n cells of the first of `results` and lay them out as rows of a label file.

    Args:
        results: results folders or files of labels, of one judge each.
        n: number of cells, >= 1; all remaining cells if there are fewer.
        labels: existing labels from people; their cells are left out.
        kind: for folders, the judgements to label: nuggets, support, relevance, ratings or
            keypoints.
        random_share: share of n in [0, 1] that is drawn at random within topics, as evenly over
            topics as their numbers of cells allow. These criteria share the rest, if they apply:
            disagreement: judges differ; with ordered labels, a larger distance counts more;
            entropy: the probabilities of a judge do not favour one label;
            margin: the score of a judge without probabilities is near a cut (ordered labels);
            influence: see `influence`.
            The criteria take turns, each taking its best cell. The value of a cell is divided by 1
            plus the number of chosen cells of its topic and of its run.

    Raises: InputError if the files cannot be joined or no cell is left.
    """
    if n < 1 or not 0 <= random_share <= 1:
        what = f"--n {n}, --random-share {random_share:g}"
        raise InputError(f"{what}: wanted --n of at least 1, and a share from 0 to 1")
    first = results[0]
    if first.is_dir():
        kind = kind or kind_of_folder(first)
        first = find_judged_file(first, kind)
    scale = find_file_scale(*results, kind=kind)
    files = [read_labels(first, problems, scale=scale)]
    more = [find_judged_file(path, files[0].kind) for path in results[1:]]
    files += [read_labels(path, problems, scale=scale) for path in more]
    human = (
        read_labels(labels, problems, scale=scale, is_human=True) if labels is not None else None
    )
    problems.raise_errors()
    for path, file in zip([*results, labels], [*files, human], strict=True):
        if path is not None and file is not None:
            check_same_things(first, files[0].key_names, path, file.key_names)
    labelled = _find_labelled(human, files[0]) if human is not None else set()
    cells = [cell for cell in sorted(files[0].cells) if cell not in labelled]
    if not cells:
        raise InputError(f"{first}: all {len(files[0].cells):,} judged cells have a label already")
    values = compute_values(results, files, cells)
    topics, runs = (make_codes(cells, files[0].key_names, name) for name in ("topic_id", "run_id"))
    rng = np.random.default_rng(seed)
    chosen = choose(values, topics, runs, n=n, random_share=random_share, rng=rng)
    chosen.sort(key=lambda choice: choice.index)
    picked = [cells[choice.index] for choice in chosen]
    rows = sheet_rows(results, files[0], picked, chosen, problems)
    n_by = {name: sum(c.chosen_by == name for c in chosen) for name in (RANDOM, *values, REST)}
    if not n_by[REST]:
        del n_by[REST]
    n_labelled = len(files[0].cells) - len(cells)
    return Sheet(rows, files[0].kind, files[0].scale, n_by, len(files[0].cells), n_labelled)


def compute_values(
    results: Sequence[Path], files: Sequence[LabelFile], cells: Sequence[Cell]
) -> dict[str, Floats]:
    """By criterion (see `next_labels`), the value of a label for each of these cells.

    Args:
        results: results folders or files of labels. files: their content.

    Returns: (n_cells,) values >= 0 for each criterion that applies; 0: the cell is not wanted.
    """
    joint = reduce(join_scales, (file.scale for file in files))
    is_ordered = are_ordered(files[0].kind, joint, *results)
    values = {"disagreement": _disagreement(cells, files, joint, is_ordered=is_ordered)}
    unsure = [file for file in files if file.probabilities]
    if unsure:
        values["entropy"] = _entropy(cells, unsure)
    if len(unsure) < len(files):
        plain = [file for file in files if not file.probabilities]
        values["margin"] = _margin(cells, plain if is_ordered else [])
    # The first of the files that has weights of its cells, as lists of labels do not.
    weighing = [p for p in results if file_kind(find_judged_file(p, files[0].kind)) in WEIGHING]
    if weighing:
        values["influence"] = influence(weighing[0], files[0].kind, cells)
    return values


def choose(
    values: Mapping[str, Floats],
    topics: NDArray[np.int64],
    runs: NDArray[np.int64],
    *,
    n: int,
    random_share: float,
    rng: np.random.Generator,
) -> list[Choice]:
    """Choose n of N cells.

    Args:
        values: criterion -> (N,) values >= 0; 0: the criterion does not want this cell.
        topics, runs: (N,) 0-based indices of the topic and run of each cell.

    The random part is drawn first, from all N cells, and its size does not depend on the result:
    within each topic it is a simple random sample, whatever else is chosen. It is larger if the
    criteria want too few cells; `rest` fills up if they want cells that are already drawn.
    """
    order = rng.permutation(len(topics))
    n = min(n, len(topics))
    is_wanted = np.sum(list(values.values()), axis=0) > 0
    n_random = max(round(random_share * n), n - int(is_wanted.sum()))
    drawn = draw_in_turn(order, topics, n_random)
    targeted = _target(values, topics, runs, order, drawn, n - n_random)
    taken = {*map(int, drawn), *(i for i, _ in targeted)}
    rest = [int(i) for i in order if int(i) not in taken][: n - len(taken)]
    n_drawn = np.bincount(topics[drawn], minlength=topics.max() + 1)
    share = n_drawn / np.maximum(np.bincount(topics), 1)
    return [
        *(Choice(int(i), RANDOM, float(share[topics[i]])) for i in drawn),
        *(Choice(i, name, None) for i, name in targeted),
        *(Choice(i, REST, None) for i in rest),
    ]


def draw_in_turn(order: NDArray[np.int64], topics: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The first n cells, if topics take turns and each gives its cells in random order."""
    turn = np.empty(len(order), dtype=np.int64)
    by_topic = np.argsort(topics[order], kind="stable")
    sizes = np.bincount(topics)
    turn[by_topic] = np.concatenate([np.arange(size) for size in sizes])
    drawn: NDArray[np.int64] = order[np.argsort(turn, kind="stable")][:n]
    return drawn


def _target(
    values: Mapping[str, Floats],
    topics: NDArray[np.int64],
    runs: NDArray[np.int64],
    order: NDArray[np.int64],
    drawn: NDArray[np.int64],
    n: int,
) -> list[tuple[int, str]]:
    """Cells by criterion, the criteria in turn; fewer than n if they want fewer."""
    of_topic = np.bincount(topics[drawn], minlength=topics.max() + 1)
    of_run = np.bincount(runs[drawn], minlength=runs.max() + 1)
    left = {name: np.array(value, dtype=float) for name, value in values.items()}
    for value in left.values():
        value[drawn] = 0
    targeted: list[tuple[int, str]] = []
    while len(targeted) < n and left:
        for name in list(left):
            crowd = 1 + of_topic[topics] + of_run[runs]
            worth = left[name] / crowd
            best = int(order[np.argmax(worth[order])])  # ties are broken at random
            if worth[best] <= 0:
                del left[name]
                continue
            targeted.append((best, name))
            of_topic[topics[best]] += 1
            of_run[runs[best]] += 1
            for value in left.values():
                value[best] = 0
            if len(targeted) == n:
                break
    return targeted


def _find_labelled(human: LabelFile, judged: LabelFile) -> set[Cell]:
    """The cells that people labelled, by the judge's run names: a team prefix may differ."""
    cells = set(human.cells) | set(human.annotations)
    names = cell_run_aliases(judged.cells, cells, judged.key_names)
    return {rename_runs(cell, judged.key_names, names) for cell in cells}


def _disagreement(
    cells: Sequence[Cell], files: Sequence[LabelFile], scale: Sequence[str], *, is_ordered: bool
) -> Floats:
    """(N,) mean distance of two judges' labels, as a share of the scale; 0 with one label.

    Without an order, the distance of different labels is 1.
    """
    value = {label: i / max(1, len(scale) - 1) for i, label in enumerate(scale)}
    table = [[value[f.cells[c]] if c in f.cells else np.nan for c in cells] for f in files]
    apart = [np.abs(a - b) for a, b in combinations(np.array(table), 2)]
    if not is_ordered:
        apart = [np.sign(distance) for distance in apart]
    if not apart:
        return np.zeros(len(cells))
    n_pairs = (~np.isnan(apart)).sum(axis=0)
    mean: Floats = np.nansum(apart, axis=0) / np.maximum(n_pairs, 1)
    return mean


def _entropy(cells: Sequence[Cell], files: Sequence[LabelFile]) -> Floats:
    """(N,) Shannon entropy of the least certain judge, as a share of the maximum, in [0, 1].

    0 if no judge gave probabilities.
    """
    values = np.zeros(len(cells))
    for file in files:
        highest = np.log(max(2, len(file.scale)))
        for i, cell in enumerate(cells):
            chances = [p for p in file.probabilities.get(cell, {}).values() if p > 0]
            values[i] = max(values[i], -sum(p * np.log(p) for p in chances) / highest)
    return values


def _margin(cells: Sequence[Cell], files: Sequence[LabelFile]) -> Floats:
    """(N,) how near the nearest judge was to another label, in [0, 1]; 0 if unknown."""
    nearness = np.zeros(len(cells))
    for file in files:
        cuts = _cuts(file)
        for i, cell in enumerate(cells):
            if cuts and (score := file.scores.get(cell)) is not None:
                nearness[i] = max(nearness[i], 1 - min(abs(score - cut) for cut in cuts))
    return nearness


def _cuts(file: LabelFile) -> list[float]:
    """The cuts between a judge's scores of neighbouring labels: half-way between the two."""
    by_label: dict[str, list[float]] = {}
    for cell, score in file.scores.items():
        if cell in file.cells:
            by_label.setdefault(file.cells[cell], []).append(score)
    present = [by_label[label] for label in file.scale if label in by_label]
    return [(max(lower) + min(upper)) / 2 for lower, upper in pairwise(present)]


def make_codes(cells: Sequence[Cell], key_names: Sequence[str], name: str) -> NDArray[np.int64]:
    """(N,) indices of the ids of this name; all 0 if cells have no such id."""
    if name not in key_names:
        return np.zeros(len(cells), dtype=np.int64)
    at = key_names.index(name)
    return np.unique([cell[at] for cell in cells], return_inverse=True)[1].astype(np.int64)


def sheet_rows(
    results: Sequence[Path],
    file: LabelFile,
    picked: Sequence[Cell],
    chosen: Sequence[Choice],
    problems: Problems,
) -> list[dict[str, Any]]:
    texts = cell_texts(results[0], file.kind, picked, problems)
    names = choose_texts(results[0], file.kind, texts.values())
    return [
        {
            **dict(zip(file.key_names, cell, strict=True)),
            **{name: texts[cell].get(name, "") for name in names},
            "label": None,
            "annotator": None,
            "rationale": None,
            CHOSEN_BY: choice.chosen_by,
            "probability": choice.probability,
        }
        for cell, choice in zip(picked, chosen, strict=True)
    ]


def influence(path: Path, kind: str, cells: Sequence[Cell]) -> NDArray[np.float64]:
    """(n_cells,) w / (w + gap), in [0, 1]: how far one label moves a run towards its neighbour.

    w is the change of the run's mean if the label of the cell goes from worst to best, gap the
    distance of the run to its nearest neighbour. The measure is V_strict (A_strict if no nugget is
    vital) or support_precision. A cell without weight in it, or of the only run, is 0.

    Args:
        path: a results folder, nugget assignments or support labels.
    """
    items = read_items(path, kind, Problems())
    by_name = {measure.name: measure for measure in items.measures}
    measure = next((by_name[name] for name in MEASURES if name in by_name), None)
    shares = np.zeros(len(cells))
    if measure is None:
        return shares
    earned = np.nan_to_num(measure.get_gains(items)) * measure.weights
    runs, of_item = np.unique(items.runs, return_inverse=True)
    means = np.bincount(of_item, weights=earned, minlength=len(runs))
    gaps = _gaps(means.astype(np.float64))
    index = {cell: i for i, cell in enumerate(items.cells)}
    for i, cell in enumerate(cells):
        at = index.get(cell)
        if at is not None and measure.weights[at] > 0:
            weight = measure.weights[at]
            shares[i] = weight / (weight + gaps[of_item[at]])
    return shares


def _gaps(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_runs,) the distance of each run to the nearest other run; infinite for a single run."""
    gaps = np.full(len(means), np.inf)
    for one, other in pairwise(np.argsort(means)):
        gap = means[other] - means[one]
        gaps[one], gaps[other] = min(gap, gaps[one]), gap
    return gaps


def make_people_sheet(
    results: Path,
    problems: Problems,
    *,
    kind: str | None = None,
    n: int | None = None,
    n_kept: int = KEPT,
    seed: int = 0,
) -> Sheet:
    """Draw items that a cascade left without a label, and some labelled items, as rows to fill in.

    The `probability` of a row is the drawn share of its topic's items without a label, or of those
    with a label. Scores can be corrected if both parts are drawn.

    Args:
        results: a results folder. kind: kind of its judgements, see `list_judged_kinds`.
        n: the most items without a label, drawn in turn over the topics; None: all.
        n_kept: number of items with a label, drawn in turn over the topics; 0: none.

    Raises: InputError if every item has a label, or if the random part cannot reach each topic.
    """
    kind = kind or kind_of_folder(results)
    path = find_judged_file(results, kind)
    file = read_labels(path, problems, scale=find_file_scale(results, kind=kind))
    problems.raise_errors()
    labelled = sorted(file.cells)
    left = sorted(set(file.lines) - set(file.cells))
    if not left:
        raise InputError(f"{path}: every item has a label; leave out --kept")
    n_topics = len({*make_codes(labelled, file.key_names, "topic_id").tolist()}) if labelled else 0
    if 0 < n_kept < n_topics:
        what = f"wanted {n_topics} or more, one a topic, or 0 without a corrected score"
        raise InputError(f"--kept {n_kept}: {what}")
    rng = np.random.default_rng(seed)
    picked: list[tuple[Cell, Choice]] = []
    for cells, most, why in ((left, n, CASCADE), (labelled, n_kept, RANDOM)):
        topics = make_codes(cells, file.key_names, "topic_id")
        drawn = draw_in_turn(
            rng.permutation(len(cells)), topics, len(cells) if most is None else most
        )
        if not len(drawn):
            continue
        size = np.bincount(topics)
        share = np.bincount(topics[drawn], minlength=len(size)) / size
        picked += [(cells[i], Choice(i, why, float(share[topics[i]]))) for i in drawn.tolist()]
    picked.sort(key=lambda one: one[0])
    chosen = [choice for _, choice in picked]
    rows = sheet_rows([results], file, [cell for cell, _ in picked], chosen, problems)
    n_by = {name: sum(one.chosen_by == name for one in chosen) for name in (CASCADE, RANDOM)}
    return Sheet(rows, file.kind, file.scale, n_by, len(left) + len(labelled), 0)
