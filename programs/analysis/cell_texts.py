"""What a person needs to judge a cell: its texts, and what a judge wrote about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ...records.kinds import Cell, file_kind
from ...records.labels import KEY_FIELDS, csv_lines
from ...records.nuggets import assignments_with_lines, read_nuggets
from ...records.reading.fields import Line, as_int, read_lines
from ...records.reading.lines import is_json
from ...records.reading.problems import InputError, Problems
from ..engine.folders import inputs_of
from ..protocols.judged_files import judged_by, judged_file, scale_in
from ..protocols.program import CellTexts, Texts
from ..protocols.table import programs

# What a person is shown, in this order, each with the names that files have for it.
TEXTS = {
    "question": ("question", "query", "topic"),
    "sub_narratives": ("sub_narratives",),
    "answer_text": ("answer_text",),
    "sentence": ("sentence", "text"),
    "title": ("title",),
    "nugget": ("nugget",),
    "key_point": ("key_point",),
    "criterion": ("criterion",),
    "response": ("response",),
    "passage": ("passage",),
    "context": ("context",),
}
OPTIONAL = ("answer_text", "title", "sub_narratives")  # which may well be empty
_WHERE_KNOWN = ("title", "sub_narratives")
# What a judge or a person wrote beside a label.
REMARKS = {
    "rationale": ("rationale", "reasoning"),
    "raw": ("raw", "raw_output", "prediction"),
    "quote": ("evidence",),
}
_CITED = {"sentence": ("text",), "title": ("title",), "passage": ("passage",)}
# Where no key point is judged, `evidence` may well be the text that was.
_WITHOUT_QUOTE = {name: fields for name, fields in REMARKS.items() if name != "quote"}


def shown_texts(path: Path, kind: str, texts_of_cells: Iterable[Texts]) -> tuple[str, ...]:
    """The texts that a person is shown of cells, in order, of those that are known.

    Titles and sub-narratives are among them where a cell has some.
    """
    names = {name for texts in texts_of_cells for name in texts}
    if wanted := wanted_texts(path, kind):
        return tuple(name for name in wanted if name not in _WHERE_KNOWN or name in names)
    return tuple(name for name in TEXTS if name in names)


def wanted_texts(path: Path, kind: str) -> tuple[str, ...]:
    """The texts that a person needs of a cell of this kind, in order; () where that is not known.

    Those of `OPTIONAL` are among them, though a cell need not have them.
    """
    if (scale := scale_in(path, kind=kind)) is not None:
        return scale.inputs
    program = judged_by(path, kind) if path.is_dir() else None
    of_kind = (one.reads for one in programs() if one.kind == kind)
    return program.reads if program is not None else next(of_kind, ())


def cell_texts(
    path: Path, kind: str, cells: Collection[Cell], problems: Problems
) -> dict[Cell, Texts]:
    """The names of `TEXTS` and `REMARKS` that are known of these cells, each with its text.

    Of judged items it is the inputs of their judge instead of `TEXTS`.

    They come from the judgements themselves and, for a results folder, from the input files that
    its manifest names, if those are there and have not changed; if not, that is listed.
    """
    wanted = set(cells)
    texts_of: dict[Cell, Texts] = {cell: {} for cell in cells}
    for cell, texts in _of_file(judged_file(path, kind)):
        if cell in wanted:
            _add(texts_of[cell], texts)
    needed = {*wanted_texts(path, kind)} - {*OPTIONAL}
    if path.is_dir() and any(needed - texts.keys() for texts in texts_of.values()):
        for cell, texts in _of_inputs(path, kind, wanted, problems):
            _add(texts_of[cell], texts)
    return texts_of


def _of_file(path: Path) -> CellTexts:
    """The texts beside the labels of a file; its readers have reported on it before."""
    quiet = Problems()
    kind = file_kind(path)
    if kind == "qrels":
        return
    lines = read_lines(path, quiet) if is_json(path) else csv_lines(path, quiet, {})
    if kind == "assignments":
        for line, answer in assignments_with_lines(lines):
            texts = {"question": answer.query, "answer_text": answer.answer_text}
            for nugget, item in read_nuggets(line.objects("nuggets") or []):
                yield (
                    (answer.topic_id, answer.run_id, nugget.id),
                    {**texts, "nugget": nugget.text, **_named(item, REMARKS)},
                )
    elif kind == "support":
        yield from _of_support(lines)
    else:
        for line in lines:
            ids = [line.first(*names) for names in KEY_FIELDS.values()]
            remarks = REMARKS if "key_point_id" in line.row else _WITHOUT_QUOTE
            yield (
                tuple(str(named[1]).strip() for named in ids if named),
                {**_named(line, TEXTS), **_named(line, remarks)},
            )


def _of_support(lines: Iterator[Line]) -> CellTexts:
    for line in lines:
        named = [line.first(*names) for names in (("topic_id", "narrative_id", "qid"), ("run_id",))]
        answer = [str(value[1]).strip() for value in named if value]
        question = _named(line, {"question": TEXTS["question"]})
        if "sentences" not in line.row:
            ids = [line.first(name) for name in ("sentence", "citation")]
            texts = _named(line, {**_CITED, **REMARKS})
            yield (*answer, *(str(value[1]).strip() for value in ids if value)), texts
            continue
        for position, item in enumerate(line.objects("sentences") or []):
            _, number = item.first("sentenceID", "sentence_id") or ("", position)
            texts = question | _named(item, {"sentence": ("text", "sentence")})
            for citation in item.objects("citations") or []:
                name = citation.first("docid", "reference", "passage_id", "citation")
                cell = (*answer, str(as_int(number)), str(name[1]).strip() if name else "")
                yield cell, {**texts, **_named(citation, REMARKS)}


def _of_inputs(folder: Path, kind: str, wanted: Collection[Cell], problems: Problems) -> CellTexts:
    """The texts of a results folder's cells in the files that were judged."""
    try:
        config = inputs_of(folder).checked("its texts are not shown")
        file = judged_file(folder, kind)
        for program in programs():
            if program.judged == file.name:
                yield from program.texts(config, folder, wanted)
    except InputError as error:
        problems.skip(folder, 0, "no_texts", f"texts are left out: {str(error).splitlines()[0]}")


def _named(line: Line, names: dict[str, tuple[str, ...]]) -> Texts:
    """The text fields of an object, under our names."""
    texts = {}
    for name, fields in names.items():
        if (field := line.first(*fields)) and isinstance(field[1], str) and field[1].strip():
            texts[name] = field[1]
    if "rationale" in names and (evidence := line.why().get("evidence")):
        texts["quote"] = " | ".join(each.quote for each in evidence)
    return texts


def _add(collected: Texts, texts: Texts) -> None:
    for name, text in texts.items():
        if text.strip():
            collected.setdefault(name, text)
