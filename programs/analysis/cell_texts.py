"""The texts that a person needs to judge an item, and explanations of judges."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ...records.kinds import Cell, file_kind
from ...records.labels import ItemRow
from ...records.reading.fields import read_lines
from ...records.reading.problems import InputError, Problems
from ...records.tables.label_rows import label_lines
from ...records.topics import read_topics
from ..config.sections import Config
from ..engine.folders import find_inputs
from ..protocols.items import load_items
from ..protocols.judged_files import find_judged_file, find_task, scale_in
from ..protocols.judgements import OPTIONAL, REMARKS, TEXTS, row_texts, text_fields
from ..protocols.program import CellTexts, Program, Texts
from ..protocols.table import programs
from ..scoring.human_labels import read_items as read_judged

if TYPE_CHECKING:
    from ...judges import ItemJudge

__all__ = [
    "OPTIONAL",
    "REMARKS",
    "TEXTS",
    "cell_texts",
    "choose_texts",
    "list_needed",
    "list_texts",
    "text_fields",
]
_WHERE_KNOWN = ("title", "sub_narratives")


def choose_texts(path: Path, kind: str, texts_of_cells: Iterable[Texts]) -> tuple[str, ...]:
    """Return the names of texts to show a person, in order, from the known texts.

    Titles and sub-narratives are included if an item has them.
    """
    names = {name for texts in texts_of_cells for name in texts}
    if wanted := list_texts(path, kind):
        return tuple(name for name in wanted if name not in _WHERE_KNOWN or name in names)
    return tuple(name for name in text_fields() if name in names)


def list_texts(path: Path, kind: str) -> tuple[str, ...]:
    """Return the texts that a person needs for items of this kind, in order; () if unknown.

    The texts in `OPTIONAL` are included, although items may lack them.
    """
    if (scale := scale_in(path, kind=kind)) is not None:
        return scale.inputs
    program = _find_program(path, kind)
    return program.reads if program is not None else ()


def list_needed(path: Path, kind: str) -> tuple[str, ...]:
    """Return the texts of `list_texts` that are necessary to judge an item."""
    program = None if scale_in(path, kind=kind) is not None else _find_program(path, kind)
    may_lack = {*OPTIONAL, *(program.may_lack if program is not None else ())}
    return tuple(name for name in list_texts(path, kind) if name not in may_lack)


def _find_program(path: Path, kind: str) -> Program | None:
    program = find_task(path, kind) if path.is_dir() else None
    return program or next((one for one in programs() if one.kind == kind), None)


def cell_texts(
    path: Path, kind: str, cells: Collection[Cell], problems: Problems
) -> dict[Cell, Texts]:
    """Return the known texts (`text_fields`, `REMARKS`) of these items, by name.

    For judged items, these are the inputs of their judge instead of `TEXTS`.

    Texts come from the judgements and, for a results folder, from the input files in its
    manifest, if they exist unchanged; otherwise a problem is listed.
    """
    wanted = set(cells)
    texts_of: dict[Cell, Texts] = {cell: {} for cell in cells}
    for cell, texts in _of_file(find_judged_file(path, kind)):
        if cell in wanted:
            _add(texts_of[cell], texts)
    needed = {*list_texts(path, kind)} - {*OPTIONAL}
    if path.is_dir() and any(needed - texts.keys() for texts in texts_of.values()):
        for cell, texts in _of_inputs(path, kind, wanted, problems):
            _add(texts_of[cell], texts)
    return texts_of


def _of_file(path: Path) -> CellTexts:
    """Return the texts beside the labels of a file that was read before."""
    quiet = Problems()
    kind = file_kind(path)
    if kind == "qrels":
        return
    is_table = kind in ("labels", "scores")
    lines = (
        label_lines(path, quiet, texts=tuple(text_fields()))
        if is_table
        else read_lines(path, quiet)
    )
    of_kind = (one for one in programs() if one.file_kind == kind)
    program = next(of_kind, None)
    yield from row_texts(lines) if program is None else program.read_stored_texts(lines)


def _of_inputs(folder: Path, kind: str, wanted: Collection[Cell], problems: Problems) -> CellTexts:
    """Return the texts of a results folder's items from the judged files."""
    try:
        config = find_inputs(folder).check("its texts are not shown")
        file = find_judged_file(folder, kind)
        for program in programs():
            if program.judged == file.name:
                yield from program.texts(config, folder, wanted)
    except InputError as error:
        problems.skip(folder, 0, "no_texts", f"texts are left out: {str(error).splitlines()[0]}")


def _add(collected: Texts, texts: Texts) -> None:
    for name, text in texts.items():
        if text.strip():
            collected.setdefault(name, text)


def read_judge_items(
    source: Path, judge: ItemJudge, config: Config, problems: Problems
) -> list[ItemRow]:
    """Read the items of a source with all inputs of the judge.

    Args:
        source: a results folder, nugget assignments, support labels with texts, or rows (JSONL,
            CSV) with ids and the judge's inputs.
        config: `items` names the judge, and fields of rows with other names.

    Items without a text, such as nuggets of an empty answer, are left out and listed.
    Raises: InputError if the source has other content, duplicate items, or no item with texts.
    """
    kind = _kind(source)
    # Files that can be scored alone contain the texts.
    kinds = {one.file_kind: one.kind for one in programs() if one.is_scored_alone}
    if source.is_dir() or (kind in kinds and not config.items.fields):
        if kind in kinds and kinds[kind] != judge.kind:
            raise InputError(f"{source}: contains {kind}, which {judge.name} does not judge")
        items = _read_judged(source, judge, problems)
    else:
        data = config.data.model_copy(update={"items": source})
        run = config.run.model_copy(update={"limit": None})
        loaded = load_items(config.model_copy(update={"data": data, "run": run}))
        problems.rows += loaded.problems.rows
        items = list(loaded.rows())
    problems.raise_errors()
    complete = [item for item in items if all(text.strip() for text in item.inputs.values())]
    if n_without := len(items) - len(complete):
        what = f"{n_without} of {len(items)} items lack a text of {', '.join(judge.inputs)}"
        problems.skip(source, 0, "no_text", what)
    if not complete:
        wanted = ", ".join(judge.inputs)
        raise InputError(f"{source}: no item has the texts that {judge.name} reads ({wanted})")
    return complete


def _kind(source: Path) -> str:
    """Return `file_kind`; "" for a folder, and for rows without labels."""
    if source.is_dir():
        return ""
    try:
        return file_kind(source)
    except InputError:
        return ""


def _read_judged(source: Path, judge: ItemJudge, problems: Problems) -> list[ItemRow]:
    """Read the judged items, with texts of their file or of its input files."""
    judged = read_judged(source, judge.kind, problems)
    texts = cell_texts(source, judge.kind, judged.cells, problems)
    questions = _questions(source) if source.is_dir() else {}
    items = []
    for line, cell in enumerate(judged.cells, 1):
        ids = dict(zip(judged.key_names, cell, strict=True))
        fields = {"answer": texts[cell].get("answer_text", ""), **texts[cell]}
        if ids.get("topic_id") in questions and "question_id" not in ids:
            fields["question"] = questions[ids["topic_id"]]
        inputs = {name: fields.get(name, "") for name in judge.inputs} | judge.optional_inputs(
            fields
        )
        items.append(ItemRow(line=line, ids=ids, inputs=inputs))
    return items


def _questions(folder: Path) -> dict[str, str]:
    """Return the questions by topic as a judge gets them; judgements lack the background."""
    inputs = find_inputs(folder)
    path = inputs.config.data.topics
    if path is None or str(path) in inputs.changed:
        return {}
    return {topic.id: topic.question for topic in read_topics(path, Problems()).values()}
