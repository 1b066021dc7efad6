"""Label files, and rows with texts: tables with a row, or a column, for each annotator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from .columns import TableOptions
from .judgements import Reason
from .kinds import (
    ITEM_ID,
    MAX_LABELS,
    OTHER,
    ROW,
    Cell,
    Cells,
    Kind,
    LabelFile,
    Spell,
    file_kind,
    find_ends,
    find_kind,
    find_scale,
    grade_scale,
    is_graded,
    key_fields,
    kind_of_key,
    kind_of_rows,
    read_head,
    run_fields,
)
from .reading.fields import Line, Where, as_id, as_int, read_lines, show
from .reading.problems import InputError, Problem, Problems
from .relevance import RELEVANCE_KIND, read_qrels
from .rows import Row
from .tables import is_missing, table_lines
from .tables.label_rows import choose_columns, choose_lines, is_table, label_lines, note_columns

BINARY = ("negative", "positive")


def sides(
    labels: Iterable[str], scale: Sequence[str], cut: str, kind: str, path: Path
) -> dict[str, str]:
    """Map each of these labels to negative or positive.

    Args:
        labels: the labels that occur, all of them on the scale.
        scale: worst to best, in order. Whole numbers may be cut at any number above the
            lowest, because a file may lack its best grade.
        kind, path: of the file; any spelling of its kind is accepted, the path is for messages.

    Raises: InputError for a cut that is not a label of the scale, or is the worst label.
    """
    at = cut.strip().lower()
    if at not in scale and (known := find_kind(kind)) is not None and known.spell is not None:
        at = known.spell(at, scale)[0] or at
    with suppress(ValueError):
        numbers = {label: int(label) for label in {*labels, *scale}}
        if int(at) > min(numbers.values()):
            return {label: BINARY[n >= int(at)] for label, n in numbers.items()}
    if at not in scale[1:]:
        wanted = f"wanted one of its labels but the worst: {', '.join(scale[1:])}"
        each = "; for two different cuts use --cut HUMAN,JUDGED"
        raise InputError(f"--cut {cut}: {path} has the labels {', '.join(scale)}, {wanted}{each}")
    return {label: BINARY[rank >= scale.index(at)] for rank, label in enumerate(scale)}


def cut_file(labels: LabelFile, cut: str, path: Path) -> LabelFile:
    """Make the ordered labels of a file negative or positive. Raises: InputError, see `sides`."""
    side = sides(labels.cells.values(), labels.scale, cut, labels.kind, path)
    cells = {cell: side[label] for cell, label in labels.cells.items()}
    return replace(labels, scale=BINARY, cells=cells, probabilities={})


_SURE = ("score", "probabilities", "votes", "method")  # a judge's values beside its label

POST_EDIT = ("post_edit", "post_edited")  # people saw a judge's label, so they agree more often


def labels_of_rows(
    path: Path,
    lines: Iterable[Line],
    problems: Problems,
    scale: Sequence[str] | None = None,
    cut: str | None = None,
    how: TableOptions | None = None,
    *,
    is_human: bool = False,
) -> LabelFile:
    """Read the labels of rows with ids (`key_fields`), `label` and, optionally, `annotator`.

    The ids that occur in any row make the key, and every row must have them. Labels are
    compared in lower case; labels of a kind with spellings by their meaning, if the file has no
    other labels.

    Args:
        scale: the labels, worst to best, if known; any other label is an error.
        cut: the lowest positive label, see `read_labels`.
        how: the words for a missing label, which are counted and reported, and the names of
            people's labels here, which then are the scale.
        is_human: see `read_labels`.
    """
    rows, how = list(lines), how or TableOptions()
    has = set().union(*(line.row for line in rows))
    key = tuple(name for name, names in key_fields().items() if has.intersection(names))
    if ROW in has:  # rows without any other id
        key = (*key, ROW)
    if rows and not key:
        rows[0].missing(*key_fields())
    declared = kind_of_key(key)
    kind = OTHER if declared is None else declared.name
    spell = declared.spell if declared is not None else None
    known = {*(scale or ()), *(how.scale or ()), *(declared.labels if declared else ())}
    words = _MissingWords(how.missing, known, spell)
    allowed = scale
    if is_human and declared is not None and scale is None and cut is None and how.scale is None:
        allowed = None if declared.has_more_grades else declared.labels
    is_strict = allowed is not scale
    if (
        spell is not None
        and not is_strict
        and not all(
            spell(line.row.get("label"), scale)[1] or words.holds(line.row.get("label"))
            for line in rows
        )
    ):
        spell = None  # labels of an unknown scale
    cells, annotations = Cells(problems), dict[Cell, dict[str, str]]()
    first: dict[str, Line] = {}  # by label
    for line in rows if key else []:
        if (cell := _cell(line, key)) is None:
            continue
        if "label" not in line.row:
            line.missing("label")
            continue
        label = None if words.count(line) else _label(line, spell, allowed, how.scale)
        if declared is not None and declared.turn is not None:
            cell, label = declared.turn(cell, label)
        annotator = line.optional_id("annotator")
        if label is not None:
            first.setdefault(label, line)
            if len(first) > MAX_LABELS:
                what = f"label {label!r} comes after {MAX_LABELS} others, wanted no more labels"
                raise InputError(f"{line.path}:{line.number}: {what}")
        cells.lines.setdefault(cell, line.number)
        if remark := line.optional_text("rationale").strip():
            earlier = cells.rationales.get(cell, "").split("\n")
            if remark not in earlier:  # one remark for all annotators of a row
                cells.rationales[cell] = "\n".join(filter(None, (*earlier, remark)))
        if annotator is None:
            label_scores = line.read_label_scores()
            sure: dict[str, Any] = {
                name: label_scores[name] for name in _SURE if name in label_scores
            }
            cells.add(path, line.number, cell, label, **sure)
        elif annotator in annotations.setdefault(cell, {}):
            what = f"annotator {annotator!r} labels item {' '.join(cell)} twice, wanted once"
            line.error("duplicate_annotation", f"{what}{_APART}")
        elif label is not None:
            annotations[cell][annotator] = label
    words.note(path, len(rows), problems)
    if how.scale is not None:
        scale = tuple(dict.fromkeys(how.scale.values()))
    if scale is None:
        _check_spread(kind, first)
    file = _file(path, kind, key, cells, annotations, scale, cut)
    return replace(file, conditions=_count_conditions(rows))


_APART = f"; for two different items, name their ids: --field {ITEM_ID}=COLUMN"


class _MissingWords:
    """Counts the words that mean a missing label."""

    def __init__(self, missing: Collection[str], known: Collection[str], spell: Spell | None):
        self._missing, self._known, self._spell = missing, known, spell
        self._n: Counter[str] = Counter()

    def holds(self, written: object) -> bool:
        """Return whether this is such a word, and not a label."""
        if not is_missing(written, self._missing):
            return False
        word = "" if written is None else str(written).strip().lower()
        is_label = self._spell is not None and self._spell(written, None)[0] is not None
        return word not in self._known and not is_label

    def count(self, line: Line) -> bool:
        """Like `holds`, for the label of a line; counts it."""
        if not self.holds(written := line.row["label"]):
            return False
        self._n[("" if written is None else str(written)).strip().lower() or "empty"] += 1
        return True

    def note(self, path: Path, n: int, problems: Problems) -> None:
        """Report how many labels are missing, if words mark them."""
        if {*self._n} - {"empty"}:
            each = ", ".join(f"{word} {of:,}" for word, of in self._n.most_common())
            problems.note(f"{path}: {self._n.total():,} of {n:,} labels are missing ({each})")


def _check_spread(kind: str, first: Mapping[str, Line]) -> None:
    """Raise InputError for the first label that is too far from others for one scale."""
    if (ends := find_ends(kind, first)) is None or ends[1] - ends[0] < MAX_LABELS:
        return
    middle = median(map(int, first))
    far = max(first, key=lambda label: (abs(int(label) - middle), abs(int(label))))
    other = ends[0] if int(far) == ends[1] else ends[1]
    what = f"label {far} is more than {MAX_LABELS - 1} from {other}, wanted whole numbers closer"
    raise InputError(f"{first[far].path}:{first[far].number}: {what} to each other")


def _count_conditions(rows: Sequence[Line]) -> dict[str, int]:
    """Count the labels given under each condition; {} if no row names one.

    A mix of labels that people gave with and without seeing a judge's label is mentioned.
    """
    n = Counter(str(line.row.get("condition") or "") for line in rows)
    if set(n) <= {""}:
        return {}
    with_label = [name for name in n if name in POST_EDIT]
    if with_label and len(n) > len(with_label):
        each = " and ".join(f"{n[name]:,} {name or 'other'}" for name in sorted(n))
        what = f"{each} labels are used together; to choose, use --where condition={with_label[0]}"
        rows[0].keep("mixed_conditions", what)
    return dict(n)


def _cell(line: Line, key: tuple[str, ...]) -> Cell | None:
    ids = [line.id(*key_fields().get(name, (name,))) for name in key]
    cell = tuple(name for name in ids if name is not None)
    return cell if len(cell) == len(key) else None


def _label(
    line: Line,
    spell: Spell | None,
    scale: Sequence[str] | None,
    names: Mapping[str, str] | None = None,
) -> str | None:
    """The label as text: true as "true", 2.0 as "2", our labels by name; null is none.

    Args:
        names: the names of people's labels here.
    """
    written = line.row["label"]
    plain = _plain_label(line, written)
    if plain is not None and names is not None:
        ours = spell(plain, None)[0] if spell is not None and plain not in names else None
        if (label := names.get(plain) or names.get(ours or "")) is None:
            line.bad("label", written, f"one of {', '.join(names)} (--scale)")
        return label
    if plain is None or plain in (scale or ()):
        return plain
    if spell is not None:
        meant, is_known = spell(plain, scale)
        plain = meant if is_known else plain
    if scale is not None and plain is not None and plain not in scale:
        wanted = f"one of {', '.join(scale)}; translate other labels with --scale THEIRS=OURS,..."
        line.bad("label", written, wanted)
        return None
    return plain


def _plain_label(line: Line, written: object) -> str | None:
    if isinstance(written, bool):
        return str(written).lower()
    number = as_int(written)
    name = str(number) if number is not None else as_id(written)
    if name is None and written is not None and not isinstance(written, str):
        line.bad("label", written, "text or a whole number")
    return name.lower() if name is not None else None


def _file(
    path: Path,
    kind: str,
    key: tuple[str, ...],
    cells: Cells,
    annotations: dict[Cell, dict[str, str]],
    scale: Sequence[str] | None,
    cut: str | None,
) -> LabelFile:
    problems = cells.problems
    by_annotators = (label for by_name in annotations.values() for label in by_name.values())
    labels = {label for label in (*cells.labels.values(), *by_annotators) if label is not None}
    declared = find_kind(kind)
    if scale is None and declared is not None and labels and labels <= set(declared.coarse):
        scale = declared.coarse
    ordered = tuple(scale) if scale is not None else find_scale(kind, labels)
    if ordered is None and cut is not None:
        what = f"labels {', '.join(sorted(labels)) or 'none'} have no known order"
        raise InputError(f"{path}: {what}, so --cut does not apply")
    if ordered is None:
        what = f"labels {', '.join(sorted(labels)) or 'none'} are not of a known scale"
        problems.keep(path, 1, "unknown_scale", f"{what}; ordered by name")
        ordered = tuple(sorted(labels))
    if cut is not None:
        side = sides(labels, ordered, cut, kind, path)
        ordered = BINARY
        annotations = {
            cell: {name: side[label] for name, label in by_name.items()}
            for cell, by_name in annotations.items()
        }
        cells.labels = {cell: label and side[label] for cell, label in cells.labels.items()}
        cells.probabilities = {}
    for cell, by_name in annotations.items():
        if cell in cells.labels:
            what = f"item {' '.join(cell)} has labels with and without an annotator"
            problems.error(path, 1, "duplicate_cell", f"{what}, wanted one kind")
        cells.labels[cell] = _majority(path, cells.lines.get(cell, 1), cell, by_name, problems)
    return replace(cells.file(kind, ordered, key), annotations=annotations)


def _majority(
    path: Path, number: int, cell: Cell, by_name: dict[str, str], problems: Problems
) -> str | None:
    if not by_name:
        return None
    ((label, n_for),) = Counter(by_name.values()).most_common(1)
    if 2 * n_for > len(by_name):
        return label
    what = f"item {' '.join(cell)} has no majority among its {len(by_name)} annotators"
    problems.keep(path, number, "no_majority", what)
    return None


def run_aliases(truth: Collection[str], judged: Collection[str]) -> dict[str, str]:
    """Map judged runs to true runs: one is the other behind a team prefix, and no other fits."""
    aliases: dict[str, str] = {}
    missing = sorted(set(truth) - set(judged))
    for name in sorted(set(judged) - set(truth)):
        fits = [t for t in missing if name.endswith(f".{t}") or t.endswith(f".{name}")]
        if len(fits) == 1:
            aliases[name] = fits[0]
    taken = list(aliases.values())
    return {name: run for name, run in aliases.items() if taken.count(run) == 1}


def cell_run_aliases(
    truth: Iterable[Cell], judged: Iterable[Cell], key_names: Sequence[str]
) -> dict[str, str]:
    """Like `run_aliases`, for the runs of cells with these ids; none if cells have no run."""
    positions = _run_positions(key_names)
    runs = [{cell[at] for cell in cells for at in positions} for cells in (truth, judged)]
    return run_aliases(*runs)


def rename_runs(cell: Cell, key_names: Sequence[str], names: Mapping[str, str]) -> Cell:
    """A cell with these ids, with runs renamed by `names`."""
    if not names:
        return cell
    positions = _run_positions(key_names)
    return tuple(names.get(id, id) if at in positions else id for at, id in enumerate(cell))


def with_run_names(file: LabelFile, names: Mapping[str, str]) -> LabelFile:
    """The file with runs renamed, see `rename_runs`."""
    by_cell = ("cells", "annotations", "scores", "probabilities", "lines", "rationales", "votes")
    moved: dict[str, Any] = {
        name: {
            rename_runs(cell, file.key_names, names): of for cell, of in getattr(file, name).items()
        }
        for name in by_cell
    }
    return replace(file, **moved) if names else file


def _run_positions(key_names: Sequence[str]) -> list[int]:
    """The places of run names among the ids of a cell."""
    return [at for at, name in enumerate(key_names) if name in run_fields()]


BETWEEN = "\n\n"  # between the texts of an input that is a list


class ItemRow(Row):
    """One item: `line` in its file, its ids by name (as in label files), and its texts.

    `failed`: why nuggetjudge could not make one of its texts, which is then missing.
    """

    line: int
    ids: dict[str, str]
    inputs: dict[str, str]
    failed: Reason | None = None

    @property
    def cell(self) -> Cell:
        """The values of its ids, in the order of a label file's key."""
        return tuple(self.ids.values())


def item_lines(
    path: Path,
    problems: Problems,
    fields: Mapping[str, str] | None = None,
    where: Where | None = None,
) -> Iterator[Line]:
    """Read the rows of a table of items one by one.

    Args:
        fields: our name of a field -> its name in this file; a missing field is left for its
            reader.
        where: use only rows whose fields (under the file's names) have one of these values.
    """
    lines = choose_lines(path, problems, table_lines(path, problems), where)
    return (map_fields(line, fields) for line in lines) if fields else lines


def find_item_fields(
    path: Path, fields: Mapping[str, str], inputs: Sequence[str], problems: Problems
) -> dict[str, str]:
    """Find the ids and texts of a table of items, from its first rows.

    Args:
        fields: a person's choice, which takes precedence.
        inputs: the texts that the judge reads.

    Returns: `fields` with the guesses, which are recorded in `problems`.
    """
    head = read_head(path)
    there = {name: theirs for name, theirs in fields.items() if theirs in head.columns}
    columns = choose_columns(head, TableOptions(there), inputs, beside=("annotator",))
    note_columns(head, columns, problems, "--set items.fields.")
    return {**fields, **{name: columns[name] for name in columns.guessed}}


def map_fields(line: Line, fields: Mapping[str, str]) -> Line:
    """The object with our names for its fields too; see `item_lines`."""
    ours = {name: line.row[theirs] for name, theirs in fields.items() if theirs in line.row}
    return replace(line, row={**line.row, **ours}, theirs=fields)


def read_items(
    lines: Iterable[Line],
    inputs: Sequence[str],
    *,
    optional: Sequence[str] = (),
    partly: bool = False,
) -> Iterator[ItemRow]:
    """Read the items of these rows, lazily.

    The ids of an item are the `key_fields` that its row has; an input is text, a number, or a
    list of texts, which are joined by an empty line.

    Args:
        optional: further inputs, which may be missing; an empty one counts as missing.
        partly: the other inputs may be missing too.

    A row with `failed` needs no inputs.

    Errors reported: a row without an id or an input, an input of another type, an unknown reason.
    """
    keys: list[tuple[str, tuple[str, ...]]] = []  # possible keys of a row
    fields: list[str] | None = None
    for line in lines:
        why = line.read_failure()
        if (here := list(line.row)) != fields:
            fields = here
            every = key_fields().items()
            keys = [(n, names) for n, names in every if not {*names}.isdisjoint(here)]
        ids = ((name, line.optional_id(*names)) for name, names in keys)
        named = {name: value for name, value in ids if value is not None}
        if ROW in line.row:
            named[ROW] = str(line.row[ROW])
        wanted = [name for name in inputs if not partly or line.row.get(name) is not None]
        wanted += [name for name in optional if line.row.get(name) not in (None, "")]
        wanted = wanted if why is None else []
        texts = {name: _text(line, name) for name in wanted}
        present = {name: text for name, text in texts.items() if text is not None}
        if not named:
            line.missing(*key_fields())
        elif len(present) == len(wanted):
            yield ItemRow(line=line.number, ids=named, inputs=present, failed=why)


def _text(line: Line, name: str) -> str | None:
    value: Any = line.row.get(name)
    if value is None:
        line.missing(name)
        return None
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return BETWEEN.join(value)
    if isinstance(value, str):
        return value
    if as_int(value) is not None or isinstance(value, float):
        return str(value)
    line.error("bad_field", f"field {line.name(name)!r} is {show(value)}, wanted text")
    return None


VOTES = "votes"


def read_labels(
    path: Path,
    problems: Problems,
    where: Where | None = None,
    scale: Sequence[str] | None = None,
    cut: str | None = None,
    *,
    votes: str = VOTES,
    how: TableOptions | None = None,
    key: Sequence[str] = (),
    is_human: bool = False,
) -> LabelFile:
    """Read the labels of any file with labels, recognised by content.

    Accepts nugget assignments, support files, relevance judgements, qrels, ratings of
    sub-questions, entailments of key points, judgements of other declared kinds, and label files:
    tables of any layout with ids (`key_fields`), labels, and optionally annotators and `rationale`,
    see `label_lines`. Sentence ids are 0-based positions as text. Support labels become full,
    partial, none in any spelling; a sentence without citations needs no judgement, so it is not an
    item. The question id of a rating is its column as text; -1 and -2 are not labels. Two citations
    of one sentence to one passage ask the same question: with one label they are one cell, and
    mentioned; with two labels they are an error.

    Errors reported: an id or label missing, a cell with two labels, an annotator twice in a cell.

    Args:
        path: the file with the labels.
        problems: collects the faults of the file, by line.
        where: use only rows whose top-level fields have one of these values.
        scale: the labels of a label file, worst to best, if known; the scale of relevance grades
            includes at least these.
        cut: the lowest label that becomes "positive"; each annotator's label is cut on its own.
        votes: the field with the labels of a jury's members, by their names.
        how: the columns, labels and missing values of a table.
        key: see `label_lines`.
        is_human: True: a label outside the scale of its kind is an error; False: it counts as not
            judged. `cut` and `how` may name another scale.

    Returns: the labels of the file, by the ids of their items.
    Raises: InputError for a file without labels, an unusable `where` or `cut`, or if nothing is
        left.
    """
    where = where or {}
    kind = "labels" if is_table(path, how) else file_kind(path)
    if kind == "qrels":
        if where:
            raise InputError(f"{path}: qrels have no field {next(iter(where))!r} for --where")
        labels = _qrels(path, problems)
    elif kind == "labels":
        rows = _read_votes(label_lines(path, problems, where, how, key=key), votes)
        labels = labels_of_rows(path, rows, problems, scale, cut, how, is_human=is_human)
    elif (judged := kind_of_rows(kind)) is not None:
        if is_human and how is not None and how.scale:
            raise InputError(f"{path}: its labels are {', '.join(judged.labels)}; omit --scale")
        found = Problems()
        labels = _read_judged(judged, _read_votes(read_lines(path, found, where), votes), found)
        problems.rows += map(_refuse_label, found) if is_human else found
        problems.notes |= found.notes
    else:
        wanted = "labels, assignments, support, ratings, entailments, verdicts or qrels"
        how_to = "; name the labels with --field label=COLUMN, if it has any"
        raise InputError(f"{path}: it holds {kind}, wanted {wanted}{how_to}")
    if where and not labels.cells and not labels.n_unlabelled:
        chosen = ", ".join(f"{name}={' or '.join(values)}" for name, values in where.items())
        raise InputError(f"{path}: no labels with {chosen}")
    if scale is not None and is_graded(labels.kind) and kind != "labels":
        with suppress(ValueError):  # labels that are not grades
            labels = replace(labels, scale=grade_scale((*labels.scale, *scale)))
    return labels if cut is None or kind == "labels" else cut_file(labels, cut, path)


def _refuse_label(row: Problem) -> Problem:
    """The problem; a label that is not on the scale as an error."""
    if row.kind not in ("label", "grade") or ", wanted " not in row.what:
        return row
    return replace(row, action="error", what=row.what.removesuffix("; not judged"))


def _read_votes(lines: Iterable[Line], field: str) -> Iterable[Line]:
    """The lines with the votes of a jury in this field."""
    if field == VOTES:
        return lines
    return (replace(line, row={**line.row, VOTES: line.row.get(field)}) for line in lines)


def _qrels(path: Path, problems: Problems) -> LabelFile:
    cells: dict[Cell, str] = {
        (topic_id, passage_id): str(grade)
        for topic_id, grades in read_qrels(path, problems).items()
        for passage_id, grade in grades.items()
    }
    return LabelFile("relevance", grade_scale(cells.values()), cells, RELEVANCE_KIND.key)


def _read_judged(kind: Kind, lines: Iterable[Line], problems: Problems) -> LabelFile:
    cells = Cells(problems)
    for line, cell, label, sure in kind.read(lines) if kind.read is not None else ():
        cells.add(line.path, line.number, cell, label, **sure)
    return cells.of(kind.name)
