"""The items of a results folder or a file, each with all the texts that a judge reads."""

from __future__ import annotations

from pathlib import Path

from ...judges import ItemJudge
from ...records.kinds import file_kind
from ...records.labels import ItemRow
from ...records.reading.problems import InputError, Problems
from ...records.topics import read_topics
from ..config.sections import Config
from ..engine.folders import inputs_of
from ..protocols.items import load_items
from ..scoring.human_labels import read_items as read_judged
from .cell_texts import cell_texts

_JUDGED_KINDS = {"assignments": "nuggets", "support": "support"}  # what files of judgements hold


def read_judge_items(
    source: Path, judge: ItemJudge, config: Config, problems: Problems
) -> list[ItemRow]:
    """The items of a source, each with all that the judge reads.

    Args:
        source: a results folder, nugget assignments, support labels with their texts, or rows
            (JSONL, CSV) with ids and the judge's inputs.
        config: `items` names the judge, and the fields of rows where they are called otherwise.

    Items that lack a text, such as nuggets of an answer without words, are left out and listed.
    Raises: InputError if the source holds other things, an item twice, or none with its texts.
    """
    kind = _kind(source)
    if source.is_dir() or (kind in _JUDGED_KINDS and not config.items.fields):
        if kind in _JUDGED_KINDS and _JUDGED_KINDS[kind] != judge.kind:
            raise InputError(f"{source}: holds {kind}, which is not what {judge.name} judges")
        items = _judged(source, judge, problems)
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
    """As `file_kind`; "" for a folder, and for rows that carry no label."""
    if source.is_dir():
        return ""
    try:
        return file_kind(source)
    except InputError:
        return ""


def _judged(source: Path, judge: ItemJudge, problems: Problems) -> list[ItemRow]:
    """The cells that were judged, with the texts of their file or of the inputs it names."""
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
    """What the user wants, by topic, as a judge is given it; judgements lack the background."""
    inputs = inputs_of(folder)
    path = inputs.config.data.topics
    if path is None or str(path) in inputs.changed:
        return {}
    return {topic.id: topic.question for topic in read_topics(path, Problems()).values()}
