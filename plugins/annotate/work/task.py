"""The task that people label: the items of one kind, their texts and their guidelines."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ....programs.analysis.cell_texts import list_texts, text_fields
from ....programs.engine.folders import find_inputs
from ....programs.engine.results import MANIFEST
from ....programs.protocols.judged_files import (
    find_file_scale,
    find_judged_file,
    kinds_in,
    read_judgements,
    scale_in,
)
from ....programs.protocols.judged_items import ITEMS
from ....records.judgements import text_hash
from ....records.kinds import Cell, LabelFile, check_same_things, file_kind, kinds_of_labels
from ....records.labels import read_labels
from ....records.reading.lines import hash_file
from ....records.reading.problems import InputError, Problems
from ...collections.verification import SCALE
from ..store.kinds import Kind
from .bank import BankTexts
from .documents import PointDocuments
from .guidelines import guidelines_sha256, read_guidelines
from .texts import TextReader, Texts
from .verify import INPUTS, KEY_NAMES, Point, read_points, verify_cells
from .wording import (
    ShownText,
    find_variant,
    get_question,
    get_words,
    judge_input,
    name_text,
    write_guidelines,
)

REQUIRED = "required"
_MAX_QUESTION = 200  # characters of the question above an item
_WHERE_KNOWN = ("title", "sub_narratives")  # shown if a text has some


@dataclass(frozen=True, eq=False)
class Task:
    """The judged items of one kind that people label.

    Attributes:
        results: folders or files of one judge each; the first gives items and texts.
        scale: the labels, worst to best; `bank` has none, because people edit there.
        key_names: names of the ids of a cell; the topic comes first.
        inputs: names of the texts that a person reads, in order.
        cells: sorted cells; topics for `bank`, two for each key point for `verify`.
        needs_spans: labels that need marked words that support them.
        guidelines: plain text. fingerprint: identifies the results of the items.
        files: the labels of the judge of each of `results`; () for `bank` and `verify`.
        asks: the question about each item; "": the question of the kind.
        penalties: cells of points with a weight below 0.
        bank, points: the data of `bank` and `verify`. documents: documents of the points.
        expect: called once with the cells whose texts will be needed.
    """

    results: tuple[Path, ...]
    kind: Kind
    scale: tuple[str, ...]
    key_names: tuple[str, ...]
    inputs: tuple[str, ...]
    cells: tuple[Cell, ...]
    guidelines: str
    fingerprint: str
    files: tuple[LabelFile, ...] = ()
    needs_spans: frozenset[str] = frozenset()
    asks: str = ""
    penalties: frozenset[Cell] = frozenset()
    bank: BankTexts | None = None
    points: dict[Cell, Point] = field(default_factory=dict)
    documents: PointDocuments | None = None
    expect: Callable[[Iterable[Cell]], None] = lambda cells: None
    _texts: Callable[[Cell], Texts] = lambda cell: {}

    def texts(self, cell: Cell) -> Texts:
        """The texts of a cell by name; title and sub-narratives only if there are some.

        They are read on demand, together with texts of other cells, first those given to `expect`.
        Raises: InputError if a text is missing that judging needs.
        """
        return self._texts(cell)

    def show_texts(self, cell: Cell) -> list[ShownText]:
        """The texts of a cell as people see them, in order."""
        texts = self.texts(cell)
        return [
            ShownText(
                judge_input(self.kind, name), name_text(self.kind, name), text, text_hash(text)
            )
            for name in self.inputs
            if (text := texts.get(name, "")) or (name not in _WHERE_KNOWN and name in texts)
        ]

    def get_first_label(self, cell: Cell) -> str | None:
        """The label of the first judge. People who label from scratch must not see it."""
        return self.files[0].cells.get(cell) if self.files else None

    def question(self, cell: Cell | None = None) -> str:
        """The question about a cell; None: about cells in general."""
        if cell in self.penalties:
            return get_words(self.kind).penalty_question
        return self.asks or get_question(self.kind, cell[-1] if cell else "")

    def label_words(self, cell: Cell) -> Mapping[str, str]:
        """The words for labels that only this cell has; {}: the words of the kind."""
        return get_words(self.kind).penalty_labels if cell in self.penalties else {}

    def number(self, cell: Cell) -> int:
        """The index of a cell. Raises: KeyError for an unknown cell."""
        return self._numbers[cell]

    def topic(self, cell: Cell) -> str:
        """The topic of a cell; "" if cells have no topic."""
        return cell[0] if self.key_names[0] == "topic_id" else ""

    @property
    def guidelines_sha256(self) -> str:
        """The name of the guidelines in events."""
        return guidelines_sha256(self.guidelines)

    @cached_property
    def _numbers(self) -> dict[Cell, int]:
        return {cell: number for number, cell in enumerate(self.cells)}


def read_task(
    results: Sequence[Path], kind: Kind, problems: Problems, guidelines: Path | None = None
) -> Task:
    """The task of labelling judged items.

    Args:
        results: results folders, label files, or the files of `bank` and `verify`; people label
            the first, the others show where judges differ.
        guidelines: a file of plain text; None: our default.

    Raises: InputError if there are no items of this kind, or a file is invalid.
    """
    first = results[0]
    if kind == "bank":
        return _read_bank_task(results, problems, guidelines)
    if kind == "verify":
        return _read_verify_task(results, problems, guidelines)
    files = _read(results, kind, problems)
    cells = tuple(sorted(files[0].cells or files[0].lines))  # all of a sheet without any label
    if not cells:
        raise InputError(f"{first}: no item has a label of the judge")
    if not files[0].scale:
        what = "has no labels, so the scale is unknown"
        raise InputError(f"{first}: {what}; give results of its judge")
    reader = TextReader(first, files[0].kind, cells, problems)
    about = _about(first, kind, files[0].scale)
    return Task(
        results=tuple(results),
        kind=kind,
        scale=files[0].scale,
        key_names=files[0].key_names,
        inputs=list_texts(first, files[0].kind) or tuple(text_fields()),
        cells=cells,
        guidelines=read_guidelines(kind, guidelines, about),
        fingerprint=_fingerprint(first),
        files=files,
        asks=_first_sentence(about) if kind == ITEMS else "",
        penalties=_penalties(first, kind) if get_words(kind).penalty_labels else frozenset(),
        expect=reader.expect,
        _texts=reader.of,
    )


def _read_bank_task(results: Sequence[Path], problems: Problems, guidelines: Path | None) -> Task:
    """The task of editing the nuggets of each topic."""
    bank = BankTexts(results[0], problems)
    return Task(
        results=tuple(results),
        kind="bank",
        scale=(),
        key_names=("topic_id",),
        inputs=(),
        cells=tuple((topic,) for topic in sorted(bank.banks)),
        guidelines=read_guidelines("bank", guidelines),
        fingerprint=_fingerprint(results[0]),
        bank=bank,
    )


def _read_verify_task(results: Sequence[Path], problems: Problems, guidelines: Path | None) -> Task:
    """The task of checking key points against their source documents."""
    points = read_points(results[0], problems)
    documents = PointDocuments(results[0], (one.point for one in points.values()), problems)
    return Task(
        results=tuple(results),
        kind="verify",
        scale=SCALE,
        key_names=KEY_NAMES,
        inputs=INPUTS,
        cells=tuple(verify_cells(sorted(points))),
        guidelines=read_guidelines("verify", guidelines),
        fingerprint=_fingerprint(results[0]),
        points=points,
        documents=documents,
        expect=lambda cells: documents.read(),
        _texts=lambda cell: points[cell[:2]].texts(),
    )


def with_spans(task: Task, labels: str) -> Task:
    """The task with labels that need marked words.

    Args:
        labels: labels, separated by commas; `required`: all labels of the scale.

    Raises: InputError for an unknown label, or a kind without marked words.
    """
    if task.kind in ("bank", "verify"):
        raise InputError(f"--spans {labels}: --kind {task.kind} has no marked words")
    named = task.scale if labels == REQUIRED else [one.strip() for one in labels.split(",")]
    for name in named:
        if name not in task.scale:
            wanted = ", ".join(task.scale)
            raise InputError(f"--spans {name!r}: wanted {REQUIRED} or some of {wanted}")
    return replace(task, needs_spans=frozenset(named))


def _read(results: Sequence[Path], kind: Kind, problems: Problems) -> tuple[LabelFile, ...]:
    """The labels of each results folder or file."""
    judged = _get_judged_kind(results[0], kind)
    paths = [find_judged_file(path, judged) for path in results]
    scale = find_file_scale(*results, kind=judged)
    files = tuple(read_labels(path, problems, scale=scale) for path in paths)
    problems.raise_errors()
    for path, file in zip(paths, files, strict=True):
        if kind != ITEMS and file.kind != kind:
            raise InputError(f"{path}: has labels of {file.kind}, wanted {kind} (--kind)")
        check_same_things(paths[0], files[0].key_names, path, file.key_names)
    return files


def _get_judged_kind(path: Path, kind: Kind) -> str:
    """The kind of judgements for a kind of labels: items may be those of any custom task."""
    if kind != ITEMS or not path.is_dir() or kind in kinds_in(path):
        return kind
    label_kinds = kinds_of_labels()
    own = (each for each in kinds_in(path) if each not in label_kinds and scale_in(path, kind=each))
    return next(own, kind)


def _about(folder: Path, kind: Kind, scale: Sequence[str]) -> str:
    """The text in place of the guidelines of the kind; "": the guidelines of the kind."""
    if (variant := find_variant(kind, scale)) is not None:
        return write_guidelines(kind, variant)
    return _question_in(folder) if kind == ITEMS else ""


def _first_sentence(text: str) -> str:
    """The start of a question, short enough to show above each item; "" if it is too long."""
    sentence = re.split(r"(?<=[.?!])\s", " ".join(text.split()), maxsplit=1)[0]
    return sentence if len(sentence) <= _MAX_QUESTION else ""


def _penalties(results: Path, kind: Kind) -> frozenset[Cell]:
    """The cells of points with a weight below 0; none if a file has no weights."""
    if file_kind(find_judged_file(results, kind)) == "labels":
        return frozenset()
    judged = read_judgements(results, kind)
    return frozenset(one.cell for one in judged if one.weight is not None and one.weight < 0)


def _question_in(folder: Path) -> str:
    """The instruction of the custom judge of a folder; "" if unknown."""
    if not folder.is_dir():
        return ""
    from ....judges.custom import read_custom_judge  # imports DSPy, which other kinds do not need

    with suppress(InputError):
        own = find_inputs(folder).config.items.own
        return read_custom_judge(own).question if own is not None else ""
    return ""


def _fingerprint(results: Path) -> str:
    """The fingerprint of results: from a folder's manifest, or the hash of a file or judgements."""
    if results.is_dir() and (results / MANIFEST).is_file():
        fingerprint = json.loads((results / MANIFEST).read_bytes()).get("fingerprint")
        if isinstance(fingerprint, str):
            return fingerprint
    if results.is_file():
        return hash_file(results)
    files = sorted(path for path in results.glob("*.jsonl"))
    return hashlib.sha256("".join(map(hash_file, files)).encode()).hexdigest()
