"""Properties of judged items (length, position, citations, run), and corrected scores by slices
of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from ...metrics.length import count_words
from ...records.kinds import Cell, find_kind
from ...records.reading.problems import InputError, Problems
from ...records.rows import Answer
from ..engine.folders import find_inputs
from ..inputs import load_collection
from ..protocols.judged_items import Floats, JudgedItems, Measure
from .cell_texts import cell_texts

Regroup = Callable[[JudgedItems], JudgedItems]
RUN = "run"
NAMES = ("length", "position", "rank", "citations", RUN)
OTHER_RUNS = "other runs"
_SHORT_TEXTS = 50  # words; slopes of shorter texts are per ten words, else per hundred


@dataclass(frozen=True)
class Covariate:
    """A property of items.

    Attributes:
        name: its name in options; what: its name for people.
        values: (n_items,) numbers, or names of groups; None: unknown.
        unit: the unit of effects; 0 for groups.
        groups: names of groups in order; numbers have two, cut at the median of the items.
    """

    name: str
    what: str
    values: Sequence[float | str | None] = field(repr=False)
    unit: float = 1.0
    cut: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers, not groups."""
        return self.unit > 0

    @property
    def groups(self) -> list[str]:
        """The names of the groups of items, in order."""
        if self.is_number:
            return [f"up to {self.cut:g}", f"over {self.cut:g}"]
        return sorted({value for value in self.values if isinstance(value, str)},
                      key=lambda name: (name == OTHER_RUNS, name))  # fmt: skip

    def group(self, item: int) -> str | None:
        """Return the group of an item; None: unknown."""
        value = self.values[item]
        if isinstance(value, str) or value is None:
            return value
        return self.groups[int(value > self.cut)]


def covariates(
    names: Sequence[str], path: Path, items: JudgedItems, labels: Path, problems: Problems
) -> list[Covariate]:
    """Return properties of all items.

    Args:
        names: names from `NAMES`, or `run:PATTERN` for matching runs and all others.
        path: the judged file or results folder of the items.
        labels: the file of human labels; its texts are used if the judged file has none.

    Raises: InputError for another name, or a property that these items lack.
    """
    if len(set(names)) < len(names):
        raise InputError(f"--by {','.join(names)}: give each name only once")
    makers: dict[str, Callable[[], Covariate]] = {
        "length": lambda: _length(path, labels, items, problems),
        "position": lambda: _position(items),
        "rank": lambda: _rank(items),
        "citations": lambda: _citations(path, items),
        RUN: lambda: _runs(items, ""),
    }
    chosen = []
    for name in names:
        kind, _, pattern = name.partition(":")
        if kind not in makers or (":" in name and (kind != RUN or not pattern)):
            raise InputError(f"--by {name}: wanted some of {', '.join(NAMES)}, or run:PATTERN")
        covariate = _runs(items, pattern) if pattern else makers[name]()
        if len({value for value in covariate.values if value is not None}) < 2:
            raise InputError(f"--by {name}: it is the same for all items ({covariate.what})")
        chosen.append(covariate)
    return chosen


def _number(name: str, what: str, values: Sequence[float | None], unit: float = 1.0) -> Covariate:
    numbers = [value for value in values if value is not None]
    cut = float(np.median(numbers)) if numbers else 0.0
    if numbers and cut == max(numbers):  # so that some values are above it
        cut = max((value for value in numbers if value < cut), default=cut)
    return Covariate(name, what, values, unit, cut)


def _length(path: Path, labels: Path, items: JudgedItems, problems: Problems) -> Covariate:
    texts_of = cell_texts(path, items.kind, items.cells, problems)
    declared = find_kind(items.kind)
    name, what = (declared and declared.length_of) or ("", "everything that the judge reads")
    if not any(name in texts if name else texts for texts in texts_of.values()):
        texts_of = cell_texts(labels, items.kind, items.cells, Problems())

    def words(cell: Cell) -> float | None:
        texts = texts_of[cell]
        if name:
            return float(count_words(texts[name])) if name in texts else None
        return float(sum(map(count_words, texts.values()))) if texts else None

    values = [words(cell) for cell in items.cells]
    if all(value is None for value in values):
        raise InputError(f"--by length: neither {path} nor {labels} has the texts ({what})")
    middle = float(np.median([value for value in values if value is not None]))
    what = f"words of {what}" if not name else f"words of the {what}"
    return _number("length", what, values, 100.0 if middle >= _SHORT_TEXTS else 10.0)


def _position(items: JudgedItems) -> Covariate:
    """Return the 1-based position of an item, or of a citation's sentence, in its answer."""
    if "run_id" not in items.key_names:
        raise InputError("--by position: these items belong to no answer (run_id)")
    if "sentence_id" in items.key_names:
        at = items.key_names.index("sentence_id")
        if all(cell[at].isdecimal() for cell in items.cells):
            positions = [int(cell[at]) + 1.0 for cell in items.cells]
            return _number("position", "position of the sentence in its answer", positions)
    positions = _positions(zip(items.topics, items.runs, strict=True))
    return _number("position", "rank among the reference items of its answer", positions)


def _positions(groups: Iterable[tuple[str, ...]]) -> list[float]:
    """Return the 1-based rank of each item within its group."""
    seen: Counter[tuple[str, ...]] = Counter()
    positions: list[float] = []
    for group in groups:
        seen[group] += 1
        positions.append(float(seen[group]))
    return positions


def _rank(items: JudgedItems) -> Covariate:
    """Return the 1-based rank of a citation in its sentence."""
    if "sentence_id" not in items.key_names:
        raise InputError(f"--by rank: {items.kind} have no judged citations")
    positions = _positions(cell[:-1] for cell in items.cells)
    return _number("rank", "rank of the citation in its sentence", positions)


def _citations(path: Path, items: JudgedItems) -> Covariate:
    """Return how many passages its sentence or answer cites."""
    has_sentences = "sentence_id" in items.key_names
    what = "citations of its sentence" if has_sentences else "citations of its answer"
    counts: dict[Cell, int] = {}
    if path.is_dir() and "run_id" in items.key_names:
        for answer in _answers(path):
            at = (answer.topic_id, answer.run_id)
            counts[at] = sum(len(sentence.citations) for sentence in answer.sentences)
            counts |= {(*at, str(s.id)): len(s.citations) for s in answer.sentences}
    elif has_sentences:
        counts = dict(Counter(cell[:-1] for cell in items.cells))
    else:
        raise InputError(f"--by citations: {path} has no answers, wanted a results folder of runs")
    n_ids = 3 if has_sentences else 2
    return _number("citations", what, [counts.get(cell[:n_ids]) for cell in items.cells])


def _answers(folder: Path) -> Iterator[Answer]:
    """Return the judged answers from unchanged files."""
    config = find_inputs(folder).check("--by citations needs the answers")
    return iter(load_collection(config.data, config.run.limit).answers())


def _runs(items: JudgedItems, pattern: str) -> Covariate:
    if "run_id" not in items.key_names:
        raise InputError("--by run: these items belong to no run (run_id)")
    if not pattern:
        return Covariate(RUN, "the run", items.runs, 0.0)
    groups = [pattern if fnmatchcase(run, pattern) else OTHER_RUNS for run in items.runs]
    return Covariate(f"{RUN}:{pattern}", "runs by name", groups, 0.0)


def slicer(name: str, path: Path, labels: Path, problems: Problems) -> Regroup:
    """Return a function that replaces runs by slices of items, for `correct_scores`.

    The score of a slice is the mean over its topics of the weighted gains of its items. Measures
    that count items without a judgement, such as recall with uncited sentences, are left out,
    because such items belong to no slice.

    Raises: InputError for all runs; the function raises it if no measure has items of two slices.
    """
    if name == RUN:
        raise InputError(f"--by {name}: scores are already by run; give a group, {RUN}:PATTERN")

    def regroup(items: JudgedItems) -> JudgedItems:
        (covariate,) = covariates([name], path, items, labels, problems)
        slices = [covariate.group(i) or "" for i in range(len(items.cells))]
        measures = [of for of in (_slice(m, items, slices) for m in items.measures) if of]
        if not measures:
            raise InputError(f"--by {name}: no measure has items of both slices")
        runs = [f"{name} {of_item}" if covariate.is_number else of_item for of_item in slices]
        return replace(items, runs=runs, measures=measures)

    return regroup


def _slice(measure: Measure, items: JudgedItems, slices: list[str]) -> Measure | None:
    """Return the measure with weights that sum to 1 over each slice; None without two slices.

    `slices` (n_items,): the slice of each item; "": none.
    """
    counted = set(measure.topics)
    if not _is_whole(measure, items):
        return None
    sums: dict[tuple[str, str], float] = {}
    for topic, of_item, weight in zip(items.topics, slices, measure.weights, strict=True):
        if of_item and topic in counted and weight > 0:
            sums[of_item, topic] = sums.get((of_item, topic), 0.0) + float(weight)
    n_topics = Counter(of_item for of_item, _ in sums)
    if len(n_topics) < 2:
        return None
    weights: Floats = np.array([
        weight / sums[of_item, topic] / n_topics[of_item] if (of_item, topic) in sums else 0.0
        for topic, of_item, weight in zip(items.topics, slices, measure.weights, strict=True)
    ])  # fmt: skip
    return replace(measure, weights=weights, by_own_topics=True)


def _is_whole(measure: Measure, items: JudgedItems) -> bool:
    """Return whether the items of each answer have all its weight."""
    sums: dict[tuple[str, str], float] = {}
    for topic, run, weight in zip(items.topics, items.runs, measure.weights, strict=True):
        if weight > 0:
            sums[topic, run] = sums.get((topic, run), 0.0) + float(weight)
    return all(total > (1 - 1e-9) / len(measure.topics) for total in sums.values())
