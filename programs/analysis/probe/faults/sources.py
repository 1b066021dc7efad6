"""The items that faults are planted in, what their labels are, and who judged them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .....judges import ItemJudge
from .....judges.table import item_judges, kind_of
from .....records.labels.items import ItemRow
from .....records.labels.kinds import file_kind
from .....records.reading.problems import InputError, Problems
from ....config.sections import Config
from ....engine.manifest import config_of
from ....protocols.item_scores import ITEMS
from ....protocols.judged_files import kinds_in
from ....scoring.judged_items import read_items
from ...judge_items import read_judge_items
from .cases import Form, SourceLabels

_REPORT = ":report:"  # in the id of an answer that is rated; see `answer_id`


def judges_in(source: Path) -> list[str]:
    """The judges whose judgements a results folder has, as `--judge` takes them.

    Raises: InputError for a file, which does not say it.
    """
    if not source.is_dir():
        raise InputError(f"{source}: is no results folder; name the judge of its items (--judge)")
    config, kinds = config_of(source), kinds_in(source)
    by_name = ((name, kind_of(name)) for name in reversed(item_judges()))
    of_kind = {kind.load().kind: name for name, kind in by_name if kind is not None}
    of_kind |= {ITEMS: str(config.items.judge)}
    if not (judges := [of_kind[kind] for kind in kinds if kind in of_kind]):
        raise InputError(f"{source}: holds no judgements of items that can be asked again")
    return judges


def fault_items(
    source: Path, judge: ItemJudge, form: Form, config: Config, problems: Problems
) -> list[ItemRow]:
    """As `read_judge_items`; of texts that are rated only the answers, where there are any."""
    items = read_judge_items(source, judge, config, problems)
    if judge.name == "answerability":
        reports = [item for item in items if _REPORT in item.ids.get("passage_id", "")]
        return reports or items
    return items


def source_labels(source: Path, judge: ItemJudge, scale: Sequence[str]) -> SourceLabels:
    """The labels that a source has for its items, if it has any."""
    best = scale[-1] if judge.is_ordered else None
    if not source.is_dir():
        try:
            file_kind(source)
        except InputError:  # rows without labels
            return SourceLabels({}, best)
    items = read_items(source, judge.kind, Problems())
    return SourceLabels(dict(zip(items.cells, items.labels, strict=True)), best)
