"""Asks a judge about human-labelled items, as a separate run, for a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from ..programs.config.sections import Config, ItemsConfig
from ..programs.engine.folders import check_writable
from ..programs.protocols.judged_items import ITEMS
from ..records.columns import TableOptions
from ..records.kinds import ITEM_ID, ROW, LabelFile
from ..records.reading.fields import stem
from ..records.reading.problems import InputError, Problems
from ..records.writing import write_file, writing
from .examples import read_labels_and_texts
from .session import open_judges


@dataclass(frozen=True)
class Asking:
    """Labelled items with their texts, and the config of the run that judges them.

    Attributes:
        labels: human labels by item, after `cut`. items: the ids and texts of each item with all
            its texts. config: of a run of `items`; its file of items is not written yet.
    """

    labels: LabelFile
    items: list[dict[str, str]]
    config: Config

    def write(self, path: Path | None = None) -> Config:
        """Write the items, beside the results unless `path` is given; returns their config."""
        path = path or self.config.run.out.with_suffix(".items.jsonl")
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in self.items)
            write_file(path, b"".join(lines))
        data = self.config.data.model_copy(update={"items": path})
        return self.config.model_copy(update={"data": data})


def prepare_asking(
    path: Path,
    judge: str,
    config: Config,
    problems: Problems,
    *,
    how: TableOptions | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    cut: str | None = None,
) -> Asking:
    """Read human labels and the texts of their items, before anything is asked.

    Args:
        path: labels of any layout, see `read_examples`; missing texts are in `config.data`.
        judge: a judge that labels items, or the YAML file of one.
        config: of models and limits; judgements are stored in `run.out`, or by default in
            `results/LABELS-JUDGE`.
        cut: the lowest positive human label.

    Raises: InputError for a judge that labels no items, and labels that are not on its scale
        without a cut; see `read_labels_and_texts`.
    """
    how = how or TableOptions()
    items = ItemsConfig(judge=judge)
    with open_judges(config) as judges:
        asked = judges.item_judge(judge)
        labels, texts = read_labels_and_texts(
            path,
            asked,
            problems,
            data=config.data,
            fields=how.fields,
            where=where or {},
            scale=() if cut is not None else tuple(how.scale or asked.scale),
            names=how.scale,
            cut=cut,
            missing=how.missing,
            sheet=how.sheet,
            needs_topics=False,
        )
        needed = asked.inputs
        kept = (*needed, *asked.optional)
    problems.raise_errors()
    names = tuple(ITEM_ID if name == ROW else name for name in labels.key_names)
    labels = replace(labels, key_names=names)
    rows = []
    for cell in labels.cells.keys() | labels.annotations.keys():
        inputs = {n: text for n, text in texts.get(cell, {}).items() if n in kept and text.strip()}
        if all(name in inputs for name in needed):
            rows.append({**dict(zip(labels.key_names, cell, strict=True)), **inputs})
        else:
            lacking = next(name for name in needed if name not in inputs)
            what = f"item {' '.join(cell)} has no text of its {lacking}"
            problems.skip(path, labels.lines.get(cell, 1), "no_text", what)
    if not rows:
        raise InputError(f"{path}: no item has its texts: {', '.join(needed)}")
    rows.sort(key=lambda row: tuple(row[name] for name in labels.key_names))
    run = config.run
    if run.out == type(run)().out:
        run = run.model_copy(update={"out": run.out / f"{stem(path)}-{Path(judge).stem}"})
    check_writable(run.out)
    changed = {"program": (ITEMS,), "items": items, "run": run}
    return Asking(labels, rows, config.model_copy(update=changed))
