"""The labels of a file, and for each the texts that its item was judged by, wherever they stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..judges import ItemJudge
from ..programs.analysis.cell_texts import cell_texts
from ..programs.config.sections import DataConfig
from ..programs.inputs.collection import load_collection
from ..records.instruments.sub_narratives import numbered
from ..records.labels.cells import Cell, Cells, LabelFile
from ..records.labels.items import item_lines, read_items
from ..records.labels.kinds import file_kind
from ..records.labels.label_rows import KEY_FIELDS, labels_of_rows, run_aliases
from ..records.labels.labels import read_labels
from ..records.nuggets import read_nugget_banks
from ..records.reading.fields import Line, read_lines, shorten
from ..records.reading.problems import InputError, Problems
from ..records.rows import Passage, Topic
from ..records.topics import read_passages, read_topics

LABEL_FIELDS = ("label", "annotator", "rationale")
NO_TOPIC = (
    "the labels name no topic_id, and the split goes by topic; "
    "--field topic_id=NAME takes it from another field"
)
_INPUTS = {  # the judges' names for the texts that ids stand for
    "topic_id": "question",
    "run_id": "answer",
    "sentence_id": "sentence",
    "passage_id": "passage",
    "nugget_id": "nugget",
    "criterion_id": "criterion",
}
Texts = dict[str, str]


def labels_and_texts(
    path: Path,
    judge: ItemJudge,
    problems: Problems,
    *,
    data: DataConfig,
    fields: Mapping[str, str],
    where: Mapping[str, Sequence[str]],
    scale: Sequence[str],
) -> tuple[LabelFile, dict[Cell, Texts]]:
    """The labels, and of each cell those of the judge's inputs that are known.

    Args: see `examples.read_examples`.
        scale: the labels that people may have given.

    Raises: InputError for all that is wrong with the rows, labels of another judge, and a file
        that needs texts from elsewhere that `data` does not name.
    """
    is_rows = bool(fields) or _is_rows(path)
    if is_rows:
        labels, texts = _of_rows(path, judge, problems, fields, where, scale)
    elif judge.name == "importance" and file_kind(path) == "nuggets":
        labels, texts = _of_banks(path, judge, problems, where)
    else:
        labels = read_labels(path, problems, where)
        problems.raise_errors()
        if labels.kind != judge.kind != "other":
            raise InputError(f"{path}: labels of {labels.kind}, not what {judge.name} judges")
        texts = cell_texts(path, labels.kind, labels.cells, problems)
        for inputs in texts.values():
            if "answer_text" in inputs:
                inputs.setdefault("answer", inputs["answer_text"])
    if not labels.cells:
        raise InputError(f"{path}: no label in it")
    if "topic_id" not in labels.key_names:
        raise InputError(f"{path}: {NO_TOPIC}")
    has_data = bool(data.topics or data.runs or data.passages or data.nuggets or data.rubrics)
    if has_data:
        _complete(path, labels, texts, data, problems, must_know=is_rows)
    if "response" in judge.inputs:
        for inputs in texts.values():
            if "answer" in inputs:
                inputs.setdefault("response", inputs["answer"])
    wanted = set(judge.inputs)
    lost = [cell for cell in labels.cells if not wanted <= texts.get(cell, {}).keys()]
    if lost and (len(lost) == len(labels.cells) or (is_rows and not has_data)):
        lacking = " and ".join(n for n in judge.inputs if n not in texts.get(lost[0], {}))
        what = f"cell {' '.join(lost[0])} comes without its {lacking}"
        how = (
            "name --topics, --runs, --passages, --nuggets or --rubrics, or --field for other names"
        )
        raise InputError(f"{path}:{labels.lines.get(lost[0], 1)}: {what}; {how}")
    return labels, texts


def _is_rows(path: Path) -> bool:
    """Whether this is a label file: also one whose items are answers with the text beside."""
    kind = file_kind(path)
    if kind != "answers":
        return kind == "labels"
    first = next(read_lines(path, Problems()), None)
    return first is not None and "label" in first.row


def _of_rows(
    path: Path,
    judge: ItemJudge,
    problems: Problems,
    fields: Mapping[str, str],
    where: Mapping[str, Sequence[str]],
    scale: Sequence[str],
) -> tuple[LabelFile, dict[Cell, Texts]]:
    lines = list(item_lines(path, problems, fields, where))
    problems.raise_errors()
    if where and not lines:
        chosen = ", ".join(f"{name}={' or '.join(values)}" for name, values in where.items())
        raise InputError(f"{path}: no row with {chosen}")
    _check_fields(path, judge, lines, fields)
    if lines and not any(line.first(*KEY_FIELDS["topic_id"]) for line in lines):
        raise InputError(f"{path}: {NO_TOPIC}")
    labels = labels_of_rows(path, lines, problems, scale)
    texts: dict[Cell, Texts] = {}
    for item in read_items(lines, judge.inputs, optional=judge.optional, partly=True):
        first_inputs = texts.setdefault(item.cell, item.inputs)
        for name in first_inputs.keys() & item.inputs.keys():
            if first_inputs[name] != item.inputs[name]:
                first = labels.lines.get(item.cell)
                what = f"cell {' '.join(item.cell)} has another {name} here than in line {first}"
                problems.error(path, item.line, "text_differs", f"{what}, wanted one text")
    problems.raise_errors()
    return labels, texts


def _of_banks(
    path: Path, judge: ItemJudge, problems: Problems, where: Mapping[str, Sequence[str]]
) -> tuple[LabelFile, dict[Cell, Texts]]:
    """How important each nugget of a file is, by topic and nugget."""
    if where:
        raise InputError(f"{path}: --where chooses among labels, and these are lists of nuggets")
    cells = Cells(problems)
    texts: dict[Cell, Texts] = {}
    for number, bank in enumerate(read_nugget_banks(path, problems).values(), 1):
        for nugget in bank.nuggets:
            cell = (bank.topic_id, nugget.id)
            cells.add(path, number, cell, nugget.importance and nugget.importance.value)
            texts[cell] = {"question": bank.query, "nugget": nugget.text}
    problems.raise_errors()
    return cells.file("other", judge.scale, judge.key), texts


def _check_fields(
    path: Path, judge: ItemJudge, lines: Sequence[Line], fields: Mapping[str, str]
) -> None:
    """Refuse a field that nobody asks for, and one that no row has."""
    names = (*judge.inputs, *judge.optional, *KEY_FIELDS, *LABEL_FIELDS)
    for ours, theirs in fields.items():
        flag = f"--field {ours}={theirs}"
        if ours not in names:
            raise InputError(f"{flag}: no field {ours!r}, wanted one of {', '.join(names)}")
        if lines and not any(theirs in line.row for line in lines):
            has = shorten(", ".join(map(str, lines[0].row)), 200)
            raise InputError(f"{flag}: no row of {path} has a field {theirs!r}; they have {has}")


@dataclass(frozen=True)
class _Sources:
    """The texts that the data have, and the ids that they should know."""

    ids: Collection[str]
    topics: Mapping[str, Topic]
    passages: Mapping[str, Passage]
    nuggets: Mapping[tuple[str, str], str]  # by topic and nugget
    criteria: Mapping[tuple[str, str], str]  # by topic and criterion
    answers: Mapping[tuple[str, str], str]  # by topic and run
    sentences: Mapping[tuple[str, str, str], str]  # by topic, run and sentence
    documents: Mapping[tuple[str, str, str], str]  # that answers carry: by topic, run and passage

    def texts(self, ids: Mapping[str, str]) -> dict[str, str | None]:
        """By the id that tells them from others of their kind; None: it is not known."""
        topic_id, run_id = ids.get("topic_id", ""), ids.get("run_id", "")
        passage_id = ids.get("passage_id", "")
        topic, passage = self.topics.get(topic_id), self.passages.get(passage_id)
        own = self.documents.get((topic_id, run_id, passage_id))
        return {
            "topic_id": topic.question if topic is not None else None,
            "run_id": self.answers.get((topic_id, run_id)),
            "sentence_id": self.sentences.get((topic_id, run_id, ids.get("sentence_id", ""))),
            "passage_id": own if own or passage is None else passage.text,
            "nugget_id": self.nuggets.get((topic_id, ids.get("nugget_id", ""))),
            "criterion_id": self.criteria.get((topic_id, ids.get("criterion_id", ""))),
        }


def _complete(
    path: Path,
    labels: LabelFile,
    texts: dict[Cell, Texts],
    data: DataConfig,
    problems: Problems,
    *,
    must_know: bool,
) -> None:
    """Add to each cell the texts that the data have.

    Args:
        must_know: an id that the data lack is an error.
    """
    ids = {cell: dict(zip(labels.key_names, cell, strict=True)) for cell in labels.cells}
    sources = _read_data(data, {own.get("passage_id", "") for own in ids.values()}, problems)
    problems.raise_errors()
    runs = {run for _, run in sources.answers}
    names = run_aliases(runs, {own["run_id"] for own in ids.values() if "run_id" in own})
    for cell, own in ids.items():
        if "run_id" in own:
            own["run_id"] = names.get(own["run_id"], own["run_id"])
        of_cell = sources.texts(own)
        for name in own if must_know else ():
            if name in sources.ids and of_cell[name] is None:
                what = f"{name} {own[name]!r} of cell {' '.join(cell)} is not in the data"
                problems.error(path, labels.lines.get(cell, 1), "unknown_id", what)
                break
        passage = sources.passages.get(own.get("passage_id", ""))
        if passage is not None and of_cell["passage_id"] == passage.text and passage.title:
            texts.setdefault(cell, {}).setdefault("title", passage.title)
        topic = sources.topics.get(own.get("topic_id", ""))
        if topic is not None and topic.sub_narratives:
            parts = numbered(topic.sub_narratives)
            texts.setdefault(cell, {}).setdefault("sub_narratives", parts)
        if "question_id" in own:  # the question is a sub-question, not what the topic asks
            of_cell["topic_id"] = None
        for name, text in of_cell.items():
            if text:
                texts.setdefault(cell, {}).setdefault(_INPUTS[name], text)
        if of_cell["topic_id"] and not must_know:  # judgements keep topics without background
            texts[cell]["question"] = of_cell["topic_id"]
    problems.raise_errors()


def _read_data(data: DataConfig, wanted: Collection[str], problems: Problems) -> _Sources:
    passages: dict[str, Passage] = {}
    for file in data.passages:
        passages |= read_passages(file, problems, set(wanted))
    ids = ["passage_id"] if data.passages else []
    if not (data.runs or data.nuggets or data.rubrics):
        topics = read_topics(data.topics, problems) if data.topics else {}
        return _Sources(
            [*ids, *(["topic_id"] if topics else [])], topics, passages, {}, {}, {}, {}, {}
        )
    collection = load_collection(data.model_copy(update={"passages": ()}))
    problems.rows += collection.problems.rows
    answers: dict[tuple[str, str], str] = {}
    sentences: dict[tuple[str, str, str], str] = {}
    documents: dict[tuple[str, str, str], str] = {}
    for answer, own in collection.cited_answers():
        cell = (answer.topic_id, answer.run_id)
        answers[cell] = " ".join(s.text for s in answer.sentences if s.text)
        sentences |= {(*cell, str(s.id)): s.text for s in answer.sentences}
        cited = {citation.passage_id for s in answer.sentences for citation in s.citations}
        documents |= {(*cell, name): own[name].text for name in cited if name in own}
    banks = (collection.banks or {}).values()
    nuggets = {(bank.topic_id, n.id): n.text for bank in banks for n in bank.nuggets}
    ids += ["topic_id", *(["run_id", "sentence_id"] if data.runs else [])]
    rubrics = (collection.rubrics or {}).values()
    criteria = {(rubric.topic_id, c.id): c.text for rubric in rubrics for c in rubric.criteria}
    ids += ["nugget_id"] if data.nuggets else []
    ids += ["criterion_id"] if data.rubrics else []
    return _Sources(
        ids, collection.topics, passages, nuggets, criteria, answers, sentences, documents
    )
