"""Join labels of people with the judgements of a results folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...gates.certificate import find_labelling_judges
from ...judges.fitted import read_judge_file
from ...programs.analysis.agree_labels import get_topics, join_scales
from ...programs.engine.folders import find_inputs
from ...programs.protocols.judged_files import are_ordered, find_file_scale, find_judged_file
from ...programs.scoring.human_labels import note_hard_labels
from ...records.columns import TableOptions
from ...records.kinds import LabelFile, check_labelled, check_same_things, find_kind
from ...records.labels import cell_run_aliases, read_labels, with_run_names
from ...records.reading.problems import InputError, Problems
from .certifying import Identity
from .items import Items, make_by_row
from .scales import Label, Scale


def read_judged_items(
    labels: Path,
    folder: Path,
    problems: Problems,
    where: Mapping[str, Sequence[str]],
    how: TableOptions | None = None,
) -> tuple[Items, Identity]:
    """Read the items that people or the judge labelled, joined by their ids, and the judge.

    Items of topics that the judge was fitted on are left out.

    Args:
        how: what people's labels are called, see `read_labels`.

    Raises: InputError if the two have different ids or scales, or no item in common.
    """
    human = read_labels(labels, problems, where, how=how, is_human=True)
    judged = read_labels(find_judged_file(folder, human.kind), problems)
    problems.raise_errors()
    check_labelled(human, labels)
    note_hard_labels(labels, where, problems)
    check_same_things(labels, human.key_names, folder, judged.key_names)
    judged = with_run_names(judged, cell_run_aliases(human.cells, judged.cells, human.key_names))
    identity = _identity(folder, human.kind)
    fitted_on = _find_fitted_on(folder, identity)
    known = sorted({*human.cells, *human.annotations, *judged.cells})
    of_all = get_topics(known, human.key_names)
    at = [i for i in range(len(known)) if of_all is None or of_all[i] not in fitted_on]
    cells = [known[i] for i in at]
    if not any(cell in human.cells and cell in judged.cells for cell in cells):
        why = f" outside the {len(fitted_on)} topics that it was fitted on" if fitted_on else ""
        raise InputError(f"{labels} and {folder}: no item has a label from both{why}")
    _check_scale(human, folder, labels)
    scale = join_scales(human.scale, judged.scale)
    names = sorted({name for of in human.annotations.values() for name in of})
    ratings: dict[str, list[Label]] = {
        name: [human.annotations.get(cell, {}).get(name) for cell in cells] for name in names
    } or {labels.name: [human.cells.get(cell) for cell in cells]}
    truth = [human.cells.get(cell) for cell in cells]
    topics = None if of_all is None else [of_all[i] for i in at]
    left = len(known) - len(cells)
    return Items(
        scale=Scale(scale, are_ordered(human.kind, scale, folder)),
        ratings=ratings,
        truth=truth,
        judge=[judged.cells.get(cell) for cell in cells],
        clusters=topics or make_by_row(len(cells)),
        cluster_by="topic_id" if topics else "",
        repeats=[],
        n_rows=len(cells),
        n_no_majority=sum(
            label is None and bool(human.annotations.get(cell))
            for cell, label in zip(cells, truth, strict=True)
        ),
        cut=None,
        covariates=[],
        notes=(f"Left out: {left:,} items of topics that the judge was fitted on.",) * (left > 0),
    ), identity


def _check_scale(human: LabelFile, folder: Path, path: Path) -> None:
    """Raise InputError for a label of people that is not on the judge's scale, if that is known."""
    declared, scale = find_kind(human.kind), find_file_scale(folder, kind=human.kind)
    if scale is None and declared is not None and not declared.has_more_grades:
        scale = declared.labels
    given = [(cell, label) for cell, label in human.cells.items()]
    given += [(cell, x) for cell, of in human.annotations.items() for x in of.values()]
    for cell, label in given:
        if scale is not None and label not in scale:
            what = f"label {label!r} is not on the judge's scale: {', '.join(scale)}"
            how = "translate labels with --scale THEIRS=OURS,..."
            raise InputError(f"{path}:{human.lines.get(cell, 1)}: {what}; {how}")


def _identity(folder: Path, kind: str) -> Identity:
    judges = find_labelling_judges(folder)
    declared = find_kind(kind)
    name = declared.judge if declared is not None else ""
    if name not in judges and len(judges) == 1:
        name = next(iter(judges))
    if name not in judges:
        raise InputError(
            f"{folder}: cannot tell which judge labelled {kind}; it has {', '.join(judges)}"
        )
    return Identity(name, judges[name])


def _find_fitted_on(folder: Path, identity: Identity) -> frozenset[str]:
    """The topics that the judge was fitted or trained on. Raises: InputError for a missing file."""
    inputs = find_inputs(folder)
    state = inputs.config.judge(identity.name).state
    models = [model for _, model in inputs.config.get_models(identity.name)]
    trained = [m.file for m in models if m.way == "trained" and m.file is not None]
    files = trained if state is None else [*trained, state]
    inputs.check(f"cannot tell which topics {identity.name} was fitted on", files)
    found = set() if state is None else {*read_judge_file(state).fitted_on}
    now = {then: path for path, then in inputs.moved.items()}
    for file in trained:
        path = Path(now.get(str(file), file))
        found |= {*json.loads(path.read_text("utf-8"))["fitted_on"]}
    return frozenset(found)
