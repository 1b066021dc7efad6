"""Labelled items with the texts that a judge reads: what fitting and measuring rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..judges import ItemJudge
from ..programs.cell_texts import cell_texts
from ..programs.collection import Collection as Data
from ..programs.collection import load_collection
from ..programs.config import DataConfig
from ..records.cells import Cell, LabelFile
from ..records.items import item_lines, read_items
from ..records.kinds import file_kind
from ..records.label_rows import labels_of_rows
from ..records.labels import read_labels
from ..records.passages import read_passages
from ..records.problems import InputError, Problems
from ..records.rows import Passage
from ..records.topics import read_topics

FEWEST = 20  # labelled items, below which no figure means anything


@dataclass(frozen=True)
class Example:
    """One labelled item: its ids, its topic, the judge's inputs, and what people said."""

    cell: Cell
    topic_id: str
    inputs: dict[str, str]
    label: str
    rationale: str = ""


@dataclass(frozen=True)
class Examples:
    """All labelled items of a file, in the order of their cells.

    `scale`: the labels of people, worst to best. `n_without_text` cells had a label and no text
    to judge; `n_unlabelled` no label.
    """

    items: tuple[Example, ...]
    scale: tuple[str, ...]
    key_names: tuple[str, ...]
    n_without_text: int = 0
    n_unlabelled: int = 0

    @property
    def topics(self) -> tuple[str, ...]:
        """Their topics, sorted."""
        return tuple(sorted({item.topic_id for item in self.items}))


def read_examples(
    path: Path,
    judge: ItemJudge,
    problems: Problems,
    *,
    data: DataConfig | None = None,
    fields: Mapping[str, str] | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    scale: Mapping[str, str] | None = None,
) -> Examples:
    """Labels of any layout, each with the texts of its item.

    Args:
        path: label rows (JSONL, CSV) that carry the judge's inputs, or ids only; nugget
            assignments; support labels; relevance judgements or qrels.
        data: where texts are that the file lacks: topics, runs, passages, nuggets.
        fields: our name of a field -> its name in the file, for label rows.
        where: only rows whose fields have one of these values.
        scale: the labels of people, worst to best -> what each is called here. None: those of
            the judge.

    Raises: InputError, before anything is fitted, for labels outside the scale, two labels for
        one cell, ids that the data do not know, fewer than 20 labelled items, one label only or
        one topic only; with file and line where there is one.
    """
    labels, texts = _labels_and_texts(path, judge, problems, data, fields or {}, where or {})
    if labels.kind not in (judge.kind, "other") and not texts:
        raise InputError(f"{path}: labels of {labels.kind}, not what {judge.name} judges")
    names = dict(scale) if scale is not None else {label: label for label in judge.scale}
    at = labels.key_names.index("topic_id") if "topic_id" in labels.key_names else None
    if at is None:
        raise InputError(f"{path}: the labels name no topic_id, and the split goes by topic")
    found, n_without = [], 0
    for cell, label in sorted(labels.cells.items()):
        line = labels.lines.get(cell, 1)
        inputs = {name: texts.get(cell, {}).get(name, "") for name in judge.inputs}
        if label not in names:
            wanted = ", ".join(names)
            what = f"label {label!r} of cell {' '.join(cell)} is not on the scale, wanted {wanted}"
            problems.error(path, line, "label", what)
        elif lacking := [name for name, text in inputs.items() if not text.strip()]:
            n_without += 1
            what = f"cell {' '.join(cell)} has a label, but no text of its {lacking[0]}"
            problems.skip(path, line, "no_text", what)
        else:
            remark = labels.rationales.get(cell, "")
            found.append(Example(cell, cell[at], inputs, names[label], remark))
    problems.raise_errors()
    steps = tuple(dict.fromkeys(names.values()))
    examples = Examples(tuple(found), steps, labels.key_names, n_without, labels.n_unlabelled)
    _check(path, examples)
    return examples


def _check(path: Path, examples: Examples) -> None:
    n, n_without = len(examples.items), examples.n_without_text
    if n < FEWEST:
        left = f", and {n_without} without a text (--passages, --runs, --topics?)"
        raise InputError(
            f"{path}: {n} labelled items{left if n_without else ''}, wanted {FEWEST} or more"
        )
    if len(given := {item.label for item in examples.items}) < 2:
        raise InputError(f"{path}: all {n} labels are {given.pop()!r}, wanted 2 or more of them")
    if len(examples.topics) < 2:
        what = f"all labels are of topic {examples.topics[0]!r}"
        raise InputError(f"{path}: {what}, wanted 2 or more topics, for fit and test share none")


def _labels_and_texts(
    path: Path,
    judge: ItemJudge,
    problems: Problems,
    data: DataConfig | None,
    fields: Mapping[str, str],
    where: Mapping[str, Sequence[str]],
) -> tuple[LabelFile, dict[Cell, dict[str, str]]]:
    is_rows = bool(fields) or file_kind(path) == "labels"
    more = data is not None and (data.topics or data.runs or data.passages or data.nuggets)
    if not is_rows:
        labels = read_labels(path, problems, where)
        problems.raise_errors()
        texts = cell_texts(path, labels.kind, labels.cells, problems)
        for found in texts.values():
            if "answer_text" in found:
                found.setdefault("answer", found["answer_text"])
    else:
        lines = list(item_lines(path, problems, fields, where))
        labels = labels_of_rows(path, lines, problems)
        items = read_items(lines, judge.inputs, partly=True)
        texts = {item.cell: dict(item.inputs) for item in items}
        problems.raise_errors()
    if data is not None and more:
        known = _complete(path, labels, texts, data, problems)
        if is_rows:
            _check_ids(path, labels, known, problems)
    wanted = set(judge.inputs)
    lost = [cell for cell in labels.cells if not wanted <= texts.get(cell, {}).keys()]
    if lost and (len(lost) == len(labels.cells) or (is_rows and not more)):
        lacking = " and ".join(n for n in judge.inputs if n not in texts.get(lost[0], {}))
        what = f"cell {' '.join(lost[0])} comes without its {lacking}"
        how = "name --topics, --runs, --passages or --nuggets, or --field for other names"
        raise InputError(f"{path}:{labels.lines.get(lost[0], 1)}: {what}; {how}")
    return labels, texts


def _complete(
    path: Path,
    labels: LabelFile,
    texts: dict[Cell, dict[str, str]],
    data: DataConfig,
    problems: Problems,
) -> dict[str, Collection[str]]:
    """Add to each cell the texts that the data have; return the ids that they know, by name."""
    names = labels.key_names
    ids = {cell: dict(zip(names, cell, strict=True)) for cell in labels.cells}
    if data.runs or data.nuggets:
        held = load_collection(data)
        problems.rows += held.problems.rows
    else:
        topics = read_topics(data.topics, problems) if data.topics else {}
        wanted = {own.get("passage_id", "") for own in ids.values()}
        held = Data(topics, [], passages=_passages(data, wanted, problems))
    problems.raise_errors()
    answers = {
        (answer.topic_id, answer.run_id): {str(s.id): s.text for s in answer.sentences}
        for answer in held.answers()
    }
    banks = (held.banks or {}).values()
    nuggets = {(bank.topic_id, n.id): n.text for bank in banks for n in bank.nuggets}
    for cell, own in ids.items():
        known, topic_id = texts.setdefault(cell, {}), own.get("topic_id", "")
        sentences = answers.get((topic_id, own.get("run_id", "")), {})
        topic, passage = held.topics.get(topic_id), held.passages.get(own.get("passage_id", ""))
        found = {
            "question": topic.question if topic is not None else None,
            "passage": passage.text if passage is not None else None,
            "nugget": nuggets.get((topic_id, own.get("nugget_id", ""))),
            "answer": " ".join(text for text in sentences.values() if text),
            "sentence": sentences.get(own.get("sentence_id", "")),
        }
        for name, text in found.items():
            if text:
                known.setdefault(name, text)
    return {
        "topic_id": held.topics,
        "passage_id": held.passages,
        "nugget_id": {nugget for _, nugget in nuggets},
        "run_id": {run for _, run in answers},
    }


def _check_ids(
    path: Path, labels: LabelFile, known: Mapping[str, Collection[str]], problems: Problems
) -> None:
    """An id that the data should know, for they have others of its kind, is an error."""
    for cell in labels.cells:
        for name, value in zip(labels.key_names, cell, strict=True):
            if known.get(name) and value not in known[name]:
                what = f"{name} {value!r} is not in the data, wanted one of {len(known[name])}"
                problems.error(path, labels.lines.get(cell, 1), "unknown_id", what)


def _passages(data: DataConfig, wanted: set[str], problems: Problems) -> dict[str, Passage]:
    found: dict[str, Passage] = {}
    for file in data.passages:
        found |= read_passages(file, problems, wanted)
    return found


def of_topics(items: Sequence[Example], topics: Iterable[str]) -> list[Example]:
    """The items of these topics, in their order."""
    chosen = set(topics)
    return [item for item in items if item.topic_id in chosen]
