"""Kinds of judgements and of files, and the labels of a file by the ids of its items.

A kind of judgements is declared once: ids, labels and their gains, and the rows of its files. A
kind of this package is beside the reader of its rows. Another package adds its own with an entry
point of the group `nuggetjudge.kinds`: NAME = "module:object", a Kind.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from typing import Any

from .columns import find_measures, guess_columns, has_name_of_labels
from .reading.fields import Line, is_envelope, read_lines, shorten, show
from .reading.lines import first_line, is_json, text_lines
from .reading.problems import InputError, Problems
from .rows import Label
from .tables import Table, find_binary_kind, find_encoding, list_columns, table_lines

Cell = tuple[str, ...]  # the ids of one item
# A row, the item, its label (None: not judged), and the judge's scores.
Labelled = tuple[Line, Cell, str | None, Mapping[str, Any]]

# The label that is meant, given the known labels; and whether the spelling is one of ours.
Spell = Callable[[Any, Sequence[str] | None], tuple[str | None, bool]]

GROUP = "nuggetjudge.kinds"  # of entry points
SCALES = "nuggetjudge.scales"  # of entry points: NAME = "module:labels", worst first
OTHER = "other"  # the kind of labels without a declared kind
_HOME = __name__.rpartition(".")[0]
_BUILT_IN = {
    "nuggets": f"{_HOME}.nuggets:NUGGET_KIND",
    "support": f"{_HOME}.support:SUPPORT_KIND",
    "ratings": f"{_HOME}.questions:RATING_KIND",
    "keypoints": f"{_HOME}.key_points:KEY_POINT_KIND",
    "relevance": f"{_HOME}.relevance:RELEVANCE_KIND",
    "groundedness": f"{_HOME}.groundedness:GROUNDEDNESS_KIND",
}


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of judgements, for its task, its judge and every reader of labels.

    Attributes:
        name: its name in label files, configs and on the command line.
        key: the ids that identify an item, in label files and results.
        also: other names that files have for an id.
        runs: the ids that identify runs.
        scale: the labels, worst to best; a Label class gives each a meaning.
        gains: the gain of each label, in [0, 1].
        many: the plural name of its items; "": the name of the kind.
        length_of: the text whose length is measured, and its name; (): all texts of the judge.
        judge: the judge that gives such labels; "": no single judge.
        rows: the kind of files with such judgements, see `file_kind`; "": plain label files only.
        read: reads the judgements in objects of such files; None: from plain label files only.
        files: how to recognise files of this kind: by kind of file, whether an object is the first
            of one.
        spell: the label that a label file means; None: labels are compared as written.
        turn: the item and label of a row that may name its ids in another order; None: not needed.
        columns: our measures by their names in metric rows of other tools.
        words: TOML with the words for people who label; None: the app has them.
        coarse: the two labels, worst first, of people who answer yes or no to a scale with
            more labels; (): none.
        has_more_grades: whether a file may have whole grades beyond `scale`.

    >>> gains = {"absent": 0.0, "present": 1.0}
    >>> Kind("facts", ("topic_id", "run_id", "fact_id"), ("absent", "present"), gains).labels
    ('absent', 'present')
    """

    name: str
    key: tuple[str, ...]
    scale: type[Label] | tuple[str, ...]
    gains: Mapping[str, float]
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runs: tuple[str, ...] = ("run_id",)
    many: str = ""
    length_of: tuple[str, str] | tuple[()] = ()
    judge: str = ""
    rows: str = ""
    read: Callable[[Iterable[Line]], Iterator[Labelled]] | None = None
    files: Mapping[str, Callable[[Mapping[str, Any]], bool]] = field(default_factory=dict)
    spell: Spell | None = None
    turn: Callable[[Cell, str | None], tuple[Cell, str | None]] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    words: Path | None = None
    coarse: tuple[str, ...] = ()
    has_more_grades: bool = False

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return the labels as text, worst to best."""
        return tuple(getattr(label, "value", label) for label in self.scale)


@cache
def _load_built_in() -> dict[str, Kind]:
    return {name: _load(place) for name, place in _BUILT_IN.items()}


def _load(place: str) -> Kind:
    module, _, attribute = place.partition(":")
    kind: Kind = getattr(import_module(module), attribute)
    return kind


@cache  # searching all installed packages is slow
def _load_installed(path: tuple[str, ...]) -> dict[str, Kind]:
    """The kinds of other packages on the import path; a kind that cannot be loaded is left out."""
    found = {}
    for entry in entry_points(group=GROUP):
        try:
            kind = entry.load()
        except Exception:  # another package's code may raise anything
            continue
        if isinstance(kind, Kind):
            found[kind.name] = kind
    return found


def load_kinds() -> dict[str, Kind]:
    """All kinds by name, the built-in ones first."""
    return _load_built_in() | _load_installed(tuple(sys.path))


def kinds_of_labels() -> tuple[str, ...]:
    """Names of the kinds that labels of a file may have; OTHER if none is declared."""
    return (*load_kinds(), OTHER)


def find_kind(name: str) -> Kind | None:
    """Find a kind by its name; None if none is declared."""
    return _load_built_in().get(name) or load_kinds().get(name)


def kind_named(name: str) -> Kind:
    """Like `find_kind`. Raises: InputError if there is none."""
    if (kind := find_kind(name)) is None:
        raise InputError(f"unknown kind of labels {name!r}, not one of {', '.join(load_kinds())}")
    return kind


def kind_of_key(key: tuple[str, ...]) -> Kind | None:
    """Find the kind whose items have these ids; None if none is declared."""
    return next((kind for kind in load_kinds().values() if kind.key == key), None)


def kind_of_rows(name: str) -> Kind | None:
    """Find the kind whose judgements are in files of this kind; None if none is declared."""
    return next((kind for kind in load_kinds().values() if name and kind.rows == name), None)


def kind_of_object(row: Mapping[str, Any]) -> str | None:
    """Recognise the kind of file that an object belongs to, by the declared kinds."""
    for kind in load_kinds().values():
        for name, is_of in kind.files.items():
            if is_of(row):
                return name
    return None


ITEM_ID = "item_id"  # of items without other ids
ROW = "row number"  # the id of items without any id in the file: the number of their row

# Ids of items of several kinds, each with the names that files have for it.
_SHARED_IDS: dict[str, tuple[str, ...]] = {
    "topic_id": ("topic_id", "qid", "query_id"),
    "run_id": ("run_id",),
    "sentence_id": ("sentence_id", "sentence_idx"),
    "passage_id": ("passage_id", "docid", "report_id"),
}


def run_fields() -> frozenset[str]:
    """The ids of runs, in the declared kinds."""
    return _run_fields(tuple(sys.path))


@cache
def _run_fields(path: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for kind in load_kinds().values() for name in kind.runs)


def key_fields() -> dict[str, tuple[str, ...]]:
    """The ids of an item, in the order of a key, each with the names that files have for it.

    These are the ids of the declared kinds.
    """
    return _key_fields(tuple(sys.path))


@cache
def _key_fields(path: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    fields = dict(_SHARED_IDS)
    for kind in load_kinds().values():
        for name in kind.key:
            fields.setdefault(name, (name, *kind.also.get(name, ())))
    return {**fields, ITEM_ID: (ITEM_ID,)}


FileKind = str  # such as answers, topics or scores; for judgements see the declared kinds

_PASSAGE_IDS = ("docid", "id", "_id", "docno")
_PASSAGE_TEXTS = ("text", "contents", "segment")
_QUESTIONS = ("subquestions", "sub_questions", "questions")
_REPORTS = ("report", "summary", "reference_summary")
_NEEDS = ("title", "narrative", "problem_statement", "request", "query", "topic", "text")
_GRADES = frozenset("01234")  # grades of the longest scale in six-column qrels
_HEAD_BYTES = 2**16  # bytes that decide the encoding of a file
_UTF8 = ("utf-8", "utf-8-sig")
_LOOKED_AT = 50  # lines that distinguish qrels from a leaderboard


@cache
def read_measures() -> Mapping[str, str]:
    """Return our measures by the columns of metric rows of other tools (`Kind.columns`)."""
    return {c: name for kind in load_kinds().values() for c, name in kind.columns.items()}


def is_metric_row(names: Collection[str]) -> bool:
    """Whether an object, or the header of a CSV file, is a row of metrics."""
    return not read_measures().keys().isdisjoint(names) and "nuggets" not in names


def is_csv(first: str) -> bool:
    """Whether this is the header of metric rows; a header of means without a topic is not."""
    names = dict.fromkeys(first.split(","))
    return is_metric_row(names) and ("qid" in names or "topic_id" in names)


def file_kind(path: Path) -> FileKind:
    """Recognise the kind of a file; only its beginning is read.

    Four columns are qrels if the second is 0 or Q0 and the fourth a grade, otherwise a
    leaderboard. Six columns are a retrieval run, or qrels with confidence if the fourth holds
    grades from 0 to 4 and one occurs twice in a topic, which no rank does.

    A table with another header has labels or scores if its columns look like them.

    Args:
        path: the file.

    Returns:
        The name of the kind, such as answers, nuggets or qrels.

    Raises: InputError for an empty file, or one whose first record is of an unknown kind.
    """
    if find_binary_kind(path) is not None or find_encoding(path, _HEAD_BYTES) not in _UTF8:
        return _table_kind(path) or _unknown_table(path)
    if not (first := first_line(path)):
        raise InputError(f"{path}:1: the file is empty, wanted records")
    if not is_json(path):
        return _columns_kind(path, first)
    problems = Problems()
    line = next(read_lines(path, problems), None)
    if line is None:
        problems.raise_errors()
        raise InputError(f"{path}:1: no record, wanted at least one")
    kind = _object_kind(line.row)
    if kind in (None, "topics"):  # a topic may be labelled
        kind = _table_kind(path, needs_name=kind is not None) or kind
    if kind is None:
        fields = shorten(", ".join(map(str, line.row)) or "no fields", 200)
        wanted = "answers, assignments, support, relevance, nuggets, scores, labels or other input"
        state = "an empty envelope" if is_envelope(line.row) else f"an object with {fields}"
        raise InputError(f"{path}:{line.number}: {state}, wanted a record of {wanted}")
    return kind


def _object_kind(row: Mapping[str, Any]) -> FileKind | None:
    has = row.__contains__
    lists = {name for name, value in row.items() if isinstance(value, list)}
    has_passage = any(map(has, (*_PASSAGE_IDS, "passage_id")))
    if (declared := kind_of_object(row)) is not None:
        return declared
    if is_metric_row(row) or (has("measure") and has("value")):
        return "scores"
    if has("label"):  # the judged text may be beside it: `answer`, `report`
        return "labels"
    if has("relevances") or lists & {"rating", "ratings"}:
        return "ratings"
    if lists.intersection(_QUESTIONS):
        return "questions"
    if has("answer") or has("responses"):
        return "answers"
    if has("candidates") or has("docids"):
        return "candidates"
    if has("documents") and has("summary"):
        return "summaries"
    if has("judgment") or (has_passage and (has("grade") or has("relevance"))):
        return "relevance"
    if has_passage and any(map(has, _PASSAGE_TEXTS)):
        return "passages"
    if any(map(has, _REPORTS)):
        return "reports"
    return "topics" if any(map(has, _NEEDS)) else None


def _columns_kind(path: Path, first: str) -> FileKind:
    names = [name.strip().strip('"') for name in re.split(r"[,;|\t]", first)]
    if len(names) > 1 and "label" in names:
        return "labels"
    if is_csv(first):
        return "scores"
    if has_header(path) and (kind := _table_kind(path)):
        return kind
    columns = first.split()
    if len(columns) == 6 and columns[1].upper() == "Q0":
        return "qrels" if _are_confident(path) else "run"
    if len(columns) == 4:
        head = _head(path)
        if all(_is_qrel(line) for line in head):
            return "qrels"
        if any(_is_number(line[-1]) for line in head):
            return "scores"
    if len(first.split("\t")) == 2:
        return "topics"
    if len(columns) == 3 and _is_number(columns[-1]):
        return "scores"
    if has_header(path):
        _unknown_table(path)
    wanted = "JSON, CSV with a label column, topics (tab), qrels, a run or a leaderboard"
    raise InputError(f"{path}:1: {shorten(first)!r} is of no known kind, wanted {wanted}")


def has_header(path: Path) -> bool:
    """Whether the first line of a text file has names of columns, none of which is a number."""
    names = [name.strip().strip('"') for name in re.split(r"[,;|\t]", first_line(path))]
    return len(names) > 1 and not any(map(_is_number, names))


def read_head(path: Path, sheet: str | None = None, n: int = 300) -> Table:
    """The first rows of a table; faults in them are not recorded."""
    notes: list[str] = []
    rows = list(islice(table_lines(path, Problems(), sheet=sheet, notes=notes), n))
    return Table(path, list_columns(rows), rows, tuple(notes))


def _table_kind(path: Path, *, needs_name: bool = False) -> FileKind | None:
    """`labels` or `scores`, by the apparent columns of a table; None: neither.

    Args:
        needs_name: values without a suitable name are not labels.
    """
    try:
        table = read_head(path)
    except InputError:
        return None
    wanted = (*key_fields(), "label", "annotator", "judge")
    columns = guess_columns(table, wanted, names=key_fields())
    if "label" in columns and needs_name:
        return "labels" if has_name_of_labels(columns) else None
    if find_measures(table, columns):
        return "scores"
    return "labels" if "label" in columns else None


def _unknown_table(path: Path) -> FileKind:
    """Raise InputError, with the names of the columns, for a table without labels or scores."""
    table = read_head(path)
    has = shorten(", ".join(table.columns) or "no columns", 200)
    what = f"a table of {has}, none of which looks like labels or scores"
    raise InputError(f"{path}:1: {what}; name the labels with --field label=COLUMN")


def _head(path: Path) -> list[list[str]]:
    return [line.split() for _, line in islice(text_lines(path), _LOOKED_AT)]


def _are_confident(path: Path) -> bool:
    """Whether six columns have a grade where a run has the rank."""
    rows = [columns for columns in _head(path) if len(columns) == 6]
    pairs = [(columns[0], columns[3]) for columns in rows]
    return len({*pairs}) < len(pairs) and {grade for _, grade in pairs} <= _GRADES


def _is_qrel(columns: list[str]) -> bool:
    if len(columns) != 4 or columns[1].upper() not in ("0", "Q0"):
        return False
    grade = columns[3].lower()
    return grade in ("true", "false") or (_is_number(grade) and float(grade).is_integer())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


ADJUDICATED = "adjudicated"  # `method` of a label from the adjudicator of a jury
VERIFIED = "verified"  # `method` of a label that was judged once more,
FIRST, VERIFIER = "first", "verifier"  # and the sources of its votes
EXPLAINER = "explainer"  # the model that explains another judge's labels

OTHER_SCALES = (  # without a declared kind
    ("no", "yes"),
    ("false", "true"),
)
HIGHEST_GRADE = 3  # of UMBRELA's scale; a file with higher grades has a longer one
MAX_LABELS = 101  # of a scale such as 0 to 100: tables of labels have a cell for each pair


@dataclass(frozen=True)
class LabelFile:
    """The labels of a file, by the ids of their items.

    A cell is the ids of one item, the values of `key_names` in that order. If the file names
    annotators, a cell has the label of more than half of its annotators.

    Attributes:
        kind: the kind of judgements, such as nuggets or support; "other" for an unknown kind.
        scale: the labels, worst to best.
        cells: the label of each labelled cell.
        key_names: the names of the ids.
        n_unlabelled: the number of cells without a label: not judged, or without a majority.
        annotations: the label of each annotator of a cell; {} if the file names none.
        scores: the judge's score of a label, in [0, 1], if it gave one.
        probabilities: the probability of each label, in [0, 1], if the judge gave them.
        lines: the first line of each cell in the file, for messages.
        rationales: the reasons for labels, for people.
        votes: the label of each member of a jury; None is a member without a label.
        adjudicated: the cells that the adjudicator of a jury decided.
        conditions: the number of human labels given under each condition; "" is an unknown one.
    """

    kind: str
    scale: tuple[str, ...]
    cells: dict[Cell, str] = field(repr=False)  # too long for a message
    key_names: tuple[str, ...]
    n_unlabelled: int = 0
    annotations: dict[Cell, dict[str, str]] = field(default_factory=dict, repr=False)
    scores: dict[Cell, float] = field(default_factory=dict, repr=False)
    probabilities: dict[Cell, dict[str, float]] = field(default_factory=dict, repr=False)
    lines: dict[Cell, int] = field(default_factory=dict, repr=False, compare=False)
    rationales: dict[Cell, str] = field(default_factory=dict, repr=False, compare=False)
    votes: dict[Cell, dict[str, str | None]] = field(default_factory=dict, repr=False)
    adjudicated: set[Cell] = field(default_factory=set, repr=False)
    conditions: dict[str, int] = field(default_factory=dict, repr=False, compare=False)


def check_labelled(labels: LabelFile, path: Path) -> None:
    """Raise InputError for a file without any label, such as a sheet to fill in."""
    if labels.n_unlabelled and not labels.cells and not any(labels.annotations.values()):
        raise InputError(f"{path}: none of its {labels.n_unlabelled:,} items has a label yet")


def check_same_things(
    path: Path, key_names: Sequence[str], other: Path, other_names: Sequence[str]
) -> None:
    """Raise InputError unless both files identify their items by the same ids."""
    for one, names, second in ((path, key_names, other), (other, other_names, path)):
        if ROW in names:
            what = f"no column identifies its items, so they cannot be matched with {second}"
            raise InputError(f"{one}: {what}; name one with --field topic_id=COLUMN")
    if key_names != other_names:
        keys = " and ".join(", ".join(names) for names in (key_names, other_names))
        raise InputError(f"{path} and {other}: labels of different kinds of items ({keys})")


class Cells:
    """Labels while they are read; a repeated cell is mentioned, two labels for it are an error."""

    def __init__(self, problems: Problems) -> None:
        self.labels: dict[Cell, str | None] = {}
        self.scores: dict[Cell, float] = {}
        self.probabilities: dict[Cell, dict[str, float]] = {}
        self.lines: dict[Cell, int] = {}
        self.rationales: dict[Cell, str] = {}
        self.votes: dict[Cell, dict[str, str | None]] = {}
        self.adjudicated: set[Cell] = set()
        self.problems = problems

    def add(
        self,
        path: Path,
        number: int,
        cell: Cell,
        label: str | None,
        score: float | None = None,
        probabilities: dict[str, float] | None = None,
        votes: dict[str, str | None] | None = None,
        method: str | None = None,
    ) -> None:
        """Add the label in this line; None: the cell has no label."""
        self.lines.setdefault(cell, number)
        if cell not in self.labels:
            self.labels[cell] = label
            if score is not None:
                self.scores[cell] = score
            if probabilities is not None:
                self.probabilities[cell] = probabilities
            if votes is not None:
                self.votes[cell] = votes
            if method == ADJUDICATED:
                self.adjudicated.add(cell)
        elif self.labels[cell] == label:
            what = f"item {' '.join(cell)} occurs twice with label {show(label)}"
            self.problems.keep(path, number, "duplicate_cell", f"{what}; counted once")
        else:
            what = f"item {' '.join(cell)} has {show(label)} here and {show(self.labels[cell])}"
            self.problems.error(path, number, "duplicate_cell", f"{what} before, wanted one label")

    def of(self, kind: str) -> LabelFile:
        """Like `file`, with the scale and the ids of a kind."""
        declared = kind_named(kind)
        scale = grade_scale(self.labels.values()) if declared.has_more_grades else declared.labels
        return self.file(kind, scale, declared.key)

    def file(self, kind: str, scale: tuple[str, ...], key: tuple[str, ...]) -> LabelFile:
        """The labels that were added; cells without a label are counted."""
        cells = {cell: label for cell, label in self.labels.items() if label is not None}
        return LabelFile(
            kind,
            scale,
            cells,
            key,
            n_unlabelled=len(self.labels) - len(cells),
            scores=self.scores,
            probabilities=self.probabilities,
            lines=self.lines,
            rationales=self.rationales,
            votes=self.votes,
            adjudicated=self.adjudicated,
        )


def grade_scale(labels: Iterable[str | None]) -> tuple[str, ...]:
    """Every whole grade from the lowest to the highest of these, at least 0 to 3."""
    grades = [int(label) for label in labels if label is not None]
    return tuple(map(str, range(min([0, *grades]), max([HIGHEST_GRADE, *grades]) + 1)))


@cache
def _load_scales(path: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The scales of other packages on the import path; one that cannot be loaded is left out."""
    found = []
    for entry in entry_points(group=SCALES):
        with suppress(Exception):  # another package's code may raise anything
            found.append(tuple(entry.load()))
    return tuple(found)


def find_scale(kind: str, labels: set[str]) -> tuple[str, ...] | None:
    """Find the scale with all these labels: one of ours, or their range as whole numbers.

    Without labels, it is the scale of the kind. None if there is no such scale, or if it would have
    more than MAX_LABELS labels.
    """
    own = [known.labels] if (known := find_kind(kind)) is not None else []
    if own and not labels:
        return own[0]
    of_kinds = (  # whole numbers without a kind have their own range
        each.labels for each in load_kinds().values() if not each.labels[0].isdecimal()
    )
    for scale in (*own, *OTHER_SCALES, *_load_scales(tuple(sys.path)), *of_kinds):
        if labels and labels <= set(scale):
            return scale
    if (ends := find_ends(kind, labels)) is None or ends[1] - ends[0] >= MAX_LABELS:
        return None
    return tuple(map(str, range(ends[0], ends[1] + 1)))


def find_ends(kind: str, labels: Iterable[str]) -> tuple[int, int] | None:
    """The lowest and highest of labels that are whole numbers; for grades at least 0 to 3.

    None without labels, or if there are other labels.
    """
    with suppress(ValueError):
        numbers = {label: int(label) for label in labels}
        if any(str(number) != label for label, number in numbers.items()):
            return None  # 1_000, or digits of another script
        if is_graded(kind):
            numbers |= {"0": 0, str(HIGHEST_GRADE): HIGHEST_GRADE}
        return (min(numbers.values()), max(numbers.values())) if numbers else None
    return None


def is_graded(kind: str) -> bool:
    """Whether labels of this kind are whole grades, which a file may exceed."""
    return (known := find_kind(kind)) is not None and known.has_more_grades
