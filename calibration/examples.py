"""Human labels, each with the texts by which its item was judged, wherever these are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path

import numpy as np

from ..judges import ItemJudge
from ..judges.items import answers
from ..programs.analysis.cell_texts import cell_texts
from ..programs.config.base import load_inputs
from ..programs.config.sections import DataConfig
from ..programs.data_kinds import check_kinds
from ..programs.inputs import load_collection
from ..records.columns import TableOptions
from ..records.kinds import Cell, Cells, LabelFile, file_kind, find_kind, key_fields
from ..records.labels import (
    labels_of_rows,
    read_items,
    read_labels,
    run_aliases,
)
from ..records.nuggets import BANKS, read_nugget_banks
from ..records.reading.fields import read_lines
from ..records.reading.problems import InputError, Problems
from ..records.rows import Passage, Topic
from ..records.tables import DEFAULT_MISSING
from ..records.tables.label_rows import label_lines
from ..records.topics import number_texts, read_passages, read_topics

NO_TOPIC = (
    "the labels name no topic_id, and the split goes by topic; "
    "to take it from another field, use --field topic_id=NAME"
)
# The parent id of an id, if it is not only the topic.
_WITHIN = {
    "topic_id": (),
    "sentence_id": ("topic_id", "run_id"),
    "passage_id": ("topic_id", "run_id"),
}
Texts = dict[str, str]


def read_labels_and_texts(
    path: Path,
    judge: ItemJudge,
    problems: Problems,
    *,
    data: DataConfig,
    fields: Mapping[str, str],
    where: Mapping[str, Sequence[str]],
    scale: Sequence[str],
    missing: frozenset[str] = DEFAULT_MISSING,
    sheet: str | None = None,
    names: Mapping[str, str] | None = None,
    cut: str | None = None,
    needs_topics: bool = True,
) -> tuple[LabelFile, dict[Cell, Texts]]:
    """Read the labels, and for each cell the known inputs of the judge.

    Args: see `examples.read_examples`.
        scale: the possible human labels.
        names: the names of human labels here, if the caller does not rename them.
        cut: the lowest positive label, see `read_labels`.
        needs_topics: labels without a topic_id are an error.

    Raises: InputError for every fault of the rows, labels for another judge, and a file whose
        texts are neither in it nor in `data`.
    """
    is_rows = bool(fields or sheet) or _is_rows(path)
    if is_rows:
        table = TableOptions(fields, names, missing, sheet)
        labels, texts = _read_rows(
            path, judge, problems, table, where, scale, cut, needs_topics=needs_topics
        )
    elif judge.name == "importance" and file_kind(path) == BANKS:
        labels, texts = _of_banks(path, judge, problems, where)
    else:
        labels = read_labels(path, problems, where, cut=cut, is_human=True)
        problems.raise_errors()
        if labels.kind != judge.kind != "other":
            raise InputError(f"{path}: labels of {labels.kind}, which {judge.name} does not judge")
        texts = cell_texts(path, labels.kind, labels.cells, problems)
        for inputs in texts.values():
            if "answer_text" in inputs:
                inputs.setdefault("answer", inputs["answer_text"])
    if not labels.cells:
        raise InputError(f"{path}: no label in it")
    if needs_topics and "topic_id" not in labels.key_names:
        raise InputError(f"{path}: {NO_TOPIC}")
    others = [name for name, one in load_inputs().items() if one.texts is not None]
    has_data = any((data.topics, data.runs, data.passages, data.nuggets)) or any(
        getattr(data, name) for name in others
    )
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
        what = f"item {' '.join(lost[0])} has no text of its {lacking}"
        files = " or ".join(f"data.{name}" for name in ("nuggets", *others))
        how = f"give --topics, --runs, --passages, {files}, or use --field"
        raise InputError(f"{path}:{labels.lines.get(lost[0], 1)}: {what}; {how}")
    return labels, texts


def _is_rows(path: Path) -> bool:
    """Whether this is a label file, even one whose items are answers with the text beside."""
    kind = file_kind(path)
    if kind != "answers":
        return kind == "labels"
    first = next(read_lines(path, Problems()), None)
    return first is not None and "label" in first.row


def _read_rows(
    path: Path,
    judge: ItemJudge,
    problems: Problems,
    how: TableOptions,
    where: Mapping[str, Sequence[str]],
    scale: Sequence[str],
    cut: str | None,
    *,
    needs_topics: bool,
) -> tuple[LabelFile, dict[Cell, Texts]]:
    names = (*judge.inputs, *judge.optional)
    lines = list(label_lines(path, problems, where, how, texts=names))
    problems.raise_errors()
    if where and not lines:
        chosen = ", ".join(f"{name}={' or '.join(values)}" for name, values in where.items())
        raise InputError(f"{path}: no row with {chosen}")
    if needs_topics and lines and not any(line.first(*key_fields()["topic_id"]) for line in lines):
        raise InputError(f"{path}: {NO_TOPIC}")
    labels = labels_of_rows(path, lines, problems, scale or None, cut, how)
    texts: dict[Cell, Texts] = {}
    for item in read_items(lines, judge.inputs, optional=judge.optional, partly=True):
        first_inputs = texts.setdefault(item.cell, item.inputs)
        for name in first_inputs.keys() & item.inputs.keys():
            if first_inputs[name] != item.inputs[name]:
                first = labels.lines.get(item.cell)
                what = f"item {' '.join(item.cell)} has a different {name} in line {first}"
                problems.error(path, item.line, "text_differs", f"{what}, wanted one text")
    problems.raise_errors()
    return labels, texts


def _of_banks(
    path: Path, judge: ItemJudge, problems: Problems, where: Mapping[str, Sequence[str]]
) -> tuple[LabelFile, dict[Cell, Texts]]:
    """The importance of each nugget of a file, by topic and nugget."""
    if where:
        raise InputError(f"{path}: --where chooses labels, but these are lists of nuggets")
    cells = Cells(problems)
    texts: dict[Cell, Texts] = {}
    for number, bank in enumerate(read_nugget_banks(path, problems).values(), 1):
        for nugget in bank.nuggets:
            cell = (bank.topic_id, nugget.id)
            cells.add(path, number, cell, nugget.importance and nugget.importance.value)
            texts[cell] = {"question": bank.query, "nugget": nugget.text}
    problems.raise_errors()
    return cells.file("other", judge.scale, judge.key), texts


def _get_input(name: str) -> str:
    """The judges' name for the text of an id."""
    return {"topic_id": "question", "run_id": "answer"}.get(name, name.removesuffix("_id"))


def _key(name: str, ids: Mapping[str, str]) -> Cell:
    within = _WITHIN.get(name, ("topic_id",))
    return (name, *(ids.get(other, "") for other in within), ids.get(name, ""))


@dataclass(frozen=True)
class _Sources:
    """The content of the data: the ids that they should know, and the text of each id (`_key`)."""

    ids: Collection[str]
    topics: Mapping[str, Topic]
    passages: Mapping[str, Passage]
    texts: Mapping[Cell, str]
    runs: Collection[str]

    def of(self, ids: Mapping[str, str]) -> dict[str, str | None]:
        """The text of each of these ids; None if unknown."""
        found = {name: self.texts.get(_key(name, ids)) for name in ids}
        passage = self.passages.get(ids.get("passage_id", ""))
        if passage is not None and not found["passage_id"]:
            found["passage_id"] = passage.text
        return found


def _complete(
    path: Path,
    labels: LabelFile,
    texts: dict[Cell, Texts],
    data: DataConfig,
    problems: Problems,
    *,
    must_know: bool,
) -> None:
    """Add the texts of the data to each cell.

    Args:
        must_know: an id that is missing in the data is an error.
    """
    ids = {cell: dict(zip(labels.key_names, cell, strict=True)) for cell in labels.cells}
    try:
        sources = _read_data(data, {own.get("passage_id", "") for own in ids.values()}, problems)
        problems.raise_errors()
    except InputError:
        check_kinds(data)
        raise
    names = run_aliases(sources.runs, {own["run_id"] for own in ids.values() if "run_id" in own})
    for cell, own in ids.items():
        if "run_id" in own:
            own["run_id"] = names.get(own["run_id"], own["run_id"])
        of_cell = sources.of(own)
        for name in own if must_know else ():
            if name in sources.ids and of_cell[name] is None:
                what = f"{name} {own[name]!r} of item {' '.join(cell)} is not in the data"
                problems.error(path, labels.lines.get(cell, 1), "unknown_id", what)
                break
        passage = sources.passages.get(own.get("passage_id", ""))
        if passage is not None and of_cell["passage_id"] == passage.text and passage.title:
            texts.setdefault(cell, {}).setdefault("title", passage.title)
        topic = sources.topics.get(own.get("topic_id", ""))
        if topic is not None and topic.sub_narratives:
            parts = number_texts(topic.sub_narratives)
            texts.setdefault(cell, {}).setdefault("sub_narratives", parts)
        if "question_id" in own:  # the question is a sub-question, not the topic's question
            of_cell["topic_id"] = None
        for name, text in of_cell.items():
            if text:
                texts.setdefault(cell, {}).setdefault(_get_input(name), text)
        if (question := of_cell.get("topic_id")) and not must_know:
            texts[cell]["question"] = question  # judgements store topics without background
    problems.raise_errors()


def _read_data(data: DataConfig, wanted: Collection[str], problems: Problems) -> _Sources:
    passages: dict[str, Passage] = {}
    for file in data.passages:
        passages |= read_passages(file, problems, set(wanted))
    ids = ["passage_id"] if data.passages else []
    others = {name: one.texts for name, one in load_inputs().items() if one.texts is not None}
    if not (data.runs or data.nuggets or any(getattr(data, name) for name in others)):
        topics = read_topics(data.topics, problems) if data.topics else {}
        ids += ["topic_id"] if topics else []
        return _Sources(ids, topics, passages, _questions(topics), ())
    collection = load_collection(data.model_copy(update={"passages": ()}))
    problems.rows += collection.problems.rows
    texts, runs = _questions(collection.topics), set[str]()
    for answer, own in collection.read_cited_answers():
        cell = (answer.topic_id, answer.run_id)
        runs.add(answer.run_id)
        texts["run_id", *cell] = " ".join(s.text for s in answer.sentences if s.text)
        texts |= {("sentence_id", *cell, str(s.id)): s.text for s in answer.sentences}
        cited = {citation.passage_id for s in answer.sentences for citation in s.citations}
        texts |= {("passage_id", *cell, name): own[name].text for name in cited if name in own}
    for topic_id, bank in (collection.banks or {}).items():
        texts |= {("nugget_id", topic_id, one.id): one.text for one in bank.nuggets}
    ids += ["topic_id", *(["run_id", "sentence_id"] if data.runs else [])]
    ids += ["nugget_id"] if data.nuggets else []
    for name, texts_of in others.items():
        for topic_id, given in collection.given.get(name, {}).items():
            for key, by_id in texts_of(given).items():
                ids += [key] if key not in ids else []
                texts |= {(key, topic_id, id): text for id, text in by_id.items()}
    return _Sources(ids, collection.topics, passages, texts, runs)


def _questions(topics: Mapping[str, Topic]) -> dict[Cell, str]:
    return {("topic_id", name): topic.question for name, topic in topics.items()}


MIN_ITEMS = 20  # with fewer labelled items, no figure is meaningful


@dataclass(frozen=True)
class Example:
    """One labelled item: its ids by name, the judge's inputs, and the human label."""

    ids: dict[str, str]
    inputs: dict[str, str]
    label: str
    rationale: str = ""

    @property
    def cell(self) -> Cell:
        """The values of its ids."""
        return tuple(self.ids.values())

    @property
    def topic_id(self) -> str:
        """Its topic, which labels for a fit always have."""
        return self.ids["topic_id"]


@dataclass(frozen=True)
class Examples:
    """All labelled items of a file, in the order of their cells.

    For a judge that takes several items a call, answers are in the order of their cells, and the
    items of each in the order of the file, so that calls are the same as in a run on that file.

    `scale`: the human labels, worst to best. `judge_labels`: each label of the judge on that scale;
    None: unknown. `n_without_text` cells had a label but no text to judge; `n_unlabelled` had no
    label.
    """

    items: tuple[Example, ...]
    scale: tuple[str, ...]
    key_names: tuple[str, ...]
    judge_labels: Mapping[str, str] | None
    n_without_text: int = 0
    n_unlabelled: int = 0

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, sorted."""
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
    missing: frozenset[str] = DEFAULT_MISSING,
    sheet: str | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Examples:
    """Read labels of any layout, each with the texts of its item.

    Args:
        path: label rows (JSONL, CSV) with the judge's inputs, or with ids only; nugget
            assignments; support labels; relevance judgements or qrels.
        data: where to find texts that the file lacks: topics, runs, passages, nuggets.
        fields: our name of a field -> its name in the file, for label rows.
        where: use only rows whose fields have one of these values.
        scale: the human labels, worst to best -> the name of each here; neighbours may
            share a name. None: the judge's labels.
        missing: words, in lower case, for a missing label. sheet: of a workbook.
        limit: largest number of items, drawn at random and evenly from the topics; for a judge
            that takes several items a call, all items of an answer or none.

    Raises: InputError, before anything is fitted, for labels outside the scale, two labels for
        one cell, ids that the data lack, fewer than 20 labelled items, a single label or a single
        topic; with file and line if possible.
    """
    names = _names(judge, scale)
    labels, texts = read_labels_and_texts(
        path,
        judge,
        problems,
        data=data or DataConfig(),
        fields=fields or {},
        where=where or {},
        scale=tuple(names),
        missing=missing,
        sheet=sheet,
    )
    if scale is None:
        _check_fineness(path, judge, labels.cells.values())
    items = list(_join_texts(path, judge, labels, texts, names, problems))
    problems.raise_errors()
    steps = tuple(dict.fromkeys(names.values()))
    groups = [[items[i] for i in indices] for indices in answers(judge, items)]
    groups.sort(key=lambda group: min(item.cell for item in group))
    examples = Examples(
        tuple(chain.from_iterable(_limit(groups, limit, seed))),
        steps,
        labels.key_names,
        _judge_labels(judge.scale, names, steps),
        sum(label in names for label in labels.cells.values()) - len(items),
        labels.n_unlabelled,
    )
    _check(path, examples)
    return examples


def _check_fineness(path: Path, judge: ItemJudge, labels: Collection[str]) -> None:
    """Raise InputError if people used only the coarse labels of a kind with a finer scale."""
    kind = find_kind(judge.kind)
    if kind and kind.coarse and {*labels} <= {*kind.coarse}:
        what = f"all labels are {' or '.join(kind.coarse)}, but {judge.kind} go up to"
        what += f" {judge.scale[-1]}; define their meaning"
        raise InputError(f"{path}: {what}, such as --scale 0=0,1={judge.scale[-1]}")


def _join_texts(
    path: Path,
    judge: ItemJudge,
    labels: LabelFile,
    texts: Mapping[Cell, Mapping[str, str]],
    names: Mapping[str, str],
    problems: Problems,
) -> Iterator[Example]:
    """Yield each labelled item with its texts; one without a text is skipped and listed.

    Args:
        texts: the known inputs of the judge, by cell.
        names: the name of each human label on the judge's scale; other labels are errors.
    """
    for cell, label in labels.cells.items():
        line = labels.lines.get(cell, 1)
        inputs = {name: texts.get(cell, {}).get(name, "") for name in judge.inputs}
        if label not in names:
            wanted = ", ".join(names)
            what = f"label {label!r} of cell {' '.join(cell)} is not on the scale, wanted {wanted}"
            problems.error(path, line, "label", what)
        elif lacking := [name for name, text in inputs.items() if not text.strip()]:
            what = f"item {' '.join(cell)} has a label, but no text of its {lacking[0]}"
            problems.skip(path, line, "no_text", what)
        else:
            remark = labels.rationales.get(cell, "")
            ids = dict(zip(labels.key_names, cell, strict=True))
            inputs |= judge.optional_inputs(texts.get(cell, {}))
            yield Example(ids, inputs, names[label], remark)


def select_topics(items: Sequence[Example], topics: Iterable[str]) -> list[Example]:
    """The items of these topics, in order."""
    chosen = set(topics)
    return [item for item in items if item.topic_id in chosen]


def _names(judge: ItemJudge, scale: Mapping[str, str] | None) -> dict[str, str]:
    """The name of each human label here.

    Raises: InputError for fewer than 2 names, or a name on both sides of another.
    """
    if scale is None:
        return {label: label for label in judge.scale}
    names = {theirs.strip().lower(): ours.strip().lower() for theirs, ours in scale.items()}
    steps = [name for name, _ in groupby(names.values())]
    if len(set(steps)) < 2:
        raise InputError(f"scale {_as_option(scale)}: wanted at least 2 labels, worst to best")
    if len(set(steps)) < len(steps):
        raise InputError(f"scale {_as_option(scale)}: a label is on both sides of another")
    declared = find_kind(judge.kind)
    if declared is not None and declared.spell is not None:  # 2 and full may be one label
        called = {declared.spell(theirs, judge.scale): ours for theirs, ours in names.items()}
        names |= {label: ours for (label, is_one), ours in called.items() if is_one and label}
    return names


def _as_option(scale: Mapping[str, str]) -> str:
    return ",".join(f"{theirs}={ours}" for theirs, ours in scale.items())


def _judge_labels(
    judge_scale: Sequence[str], names: Mapping[str, str], steps: Sequence[str]
) -> dict[str, str] | None:
    """Each label of the judge on the human scale; None if unknown.

    A label of both scales is itself; other labels have people's names if people have a name for
    all of them; otherwise, on a scale of two, the judge's best label is the better one and all
    others are the other one.
    """
    on_scale = {}
    for label in judge_scale:
        if label in steps:
            on_scale[label] = label
        elif set(judge_scale) <= names.keys():
            on_scale[label] = names[label]
        elif len(steps) == 2:
            on_scale[label] = steps[label == judge_scale[-1]]
        else:
            return None
    return on_scale


def _limit(groups: list[list[Example]], n: int | None, seed: int) -> list[list[Example]]:
    """Groups with at most n items in all, in order."""
    if n is None or n >= sum(map(len, groups)):
        return groups
    rng = np.random.default_rng(seed)
    ranked: list[tuple[int, int]] = []
    by_topic: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        by_topic.setdefault(group[0].topic_id, []).append(i)
    for indices in by_topic.values():
        order = rng.permutation(len(indices))
        ranked += [(rank, indices[i]) for rank, i in enumerate(order)]
    chosen: set[int] = set()
    for _, i in sorted(ranked):
        if len(groups[i]) <= n:
            chosen.add(i)
            n -= len(groups[i])
    return [group for i, group in enumerate(groups) if i in chosen]


def _check(path: Path, examples: Examples) -> None:
    n, n_without = len(examples.items), examples.n_without_text
    if n < MIN_ITEMS:
        left = f", and {n_without} without a text (--passages, --runs, --topics?)"
        raise InputError(
            f"{path}: {n} labelled items{left if n_without else ''}, wanted {MIN_ITEMS} or more"
        )
    if len(labels := {item.label for item in examples.items}) < 2:
        raise InputError(f"{path}: all {n} labels are {labels.pop()!r}, wanted 2 or more of them")
    if len(examples.topics) < 2:
        what = f"all labels are of topic {examples.topics[0]!r}"
        raise InputError(f"{path}: {what}, wanted 2 or more topics, for fit and test share none")
