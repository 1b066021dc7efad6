"""Labels of several judges for the same items, from results of a jury or of each judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.jury import JuryMethod, Ties, combine_votes
from ..programs.analysis.agree_labels import get_topics, join_scales
from ..programs.config.judge_sections import list_members
from ..programs.engine.manifest import read_folder_config, read_manifest
from ..programs.protocols.judged_files import (
    are_ordered,
    find_file_scale,
    find_judged_file,
    kind_of_folder,
)
from ..records.kinds import Cell, LabelFile, check_same_things
from ..records.labels import cell_run_aliases, read_labels, with_run_names
from ..records.reading.problems import InputError, Problems

Codes = NDArray[np.int64]
NONE = -1  # code of a missing label


@dataclass(frozen=True)
class JuryVotes:
    """Votes (n items, m members) and human labels (n,), as codes on `scale`; -1: none.

    Attributes:
        cells: the ids of each item. topics: of each, in the same order; None: items have none.
        labels: the jury's own labels, if the votes are a jury's.
        adjudicated: (n,) whether its adjudicator decided.
        method, ties: how the jury combines votes.
        costs: by member, the dollars of its calls; None: unknown price.
        n_off_scale: votes that are not labels of the scale, which count as no vote.
    """

    members: tuple[str, ...]
    scale: tuple[str, ...]
    is_ordered: bool
    key_names: tuple[str, ...]
    cells: tuple[Cell, ...] = field(repr=False)
    topics: tuple[str, ...] | None = field(repr=False)
    votes: Codes = field(repr=False)
    truth: Codes = field(repr=False)
    labels: Codes | None = field(default=None, repr=False)
    adjudicated: NDArray[np.bool_] | None = field(default=None, repr=False)
    method: JuryMethod = "median"
    ties: Ties = "between"
    costs: Mapping[str, float | None] = field(default_factory=dict)
    n_off_scale: int = 0

    def at(self, where: NDArray[np.bool_]) -> JuryVotes:
        """The selected items."""

        def choose(column: Any) -> Any:
            if column is None or isinstance(column, np.ndarray):
                return None if column is None else column[where]
            return tuple(one for one, is_in in zip(column, where, strict=True) if is_in)

        names = ("cells", "topics", "votes", "truth", "labels", "adjudicated")
        return replace(self, **{name: choose(getattr(self, name)) for name in names})

    def decide(
        self, method: JuryMethod | None = None, members: Sequence[int] | None = None
    ) -> Codes:
        """(n,) the label from these members' votes, by default all; -1 for no label or a tie."""
        which = list(range(len(self.members)) if members is None else members)

        @cache
        def one(row: tuple[int, ...]) -> int:
            codes = [code for code in row if code != NONE]
            if not codes:
                return NONE
            label = combine_votes(codes, len(self.scale), method or self.method, self.ties)
            return NONE if label is None else label

        rows = map(tuple, self.votes[:, which].tolist())
        return np.array([one(row) for row in rows], dtype=np.int64)

    def means(self, members: Sequence[int] | None = None) -> NDArray[np.float64]:
        """(n,) mean position of these members' votes on the scale, in [0, 1]; nan without votes."""
        votes = self.votes if members is None else self.votes[:, list(members)]
        there = votes != NONE
        sums = np.where(there, votes, 0).sum(1)
        mean_positions = np.full(len(sums), np.nan)
        np.divide(
            sums, there.sum(1) * (len(self.scale) - 1), out=mean_positions, where=there.any(1)
        )
        np.minimum(mean_positions, 1.0, out=mean_positions)
        return mean_positions


def read_jury_votes(
    paths: Sequence[Path],
    problems: Problems,
    *,
    labels: Path | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    kind: str | None = None,
    votes: str = "votes",
    may_be_one: bool = False,
) -> JuryVotes:
    """Read the votes in one results folder or file of a jury, or in several, one per judge.

    Args:
        labels: the human labels; where: the rows to use.
        kind: of folders, see `list_judged_kinds`.
        votes: in one file, the field of its rows that holds member -> label.
        may_be_one: also accept results of a single judge.

    Raises: InputError for files without votes, or without a common item.
    """
    if labels is not None and kind is None and any(path.is_dir() for path in paths):
        kind = read_labels(labels, Problems(), where).kind
    folders = [path for path in paths if path.is_dir()]
    kind = kind or (kind_of_folder(folders[0]) if folders else None)
    files = [find_judged_file(path, kind or "") for path in paths]
    scale = find_file_scale(*paths, *([labels] if labels else []), kind=kind)
    read = [read_labels(file, problems, scale=scale, votes=votes) for file in files]
    people = None if labels is None else read_labels(labels, problems, where, scale, is_human=True)
    problems.raise_errors()
    for path, one in zip(paths[1:], read[1:], strict=True):
        check_same_things(paths[0], read[0].key_names, path, one.key_names)
    if people is not None and labels is not None:
        check_same_things(paths[0], read[0].key_names, labels, people.key_names)
        if not set(people.cells.values()) & set(chain.from_iterable(one.scale for one in read)):
            gave, may = (", ".join(sorted({*file.scale})) for file in (people, read[0]))
            what = f"people gave {gave}, {paths[0]} has {may}"
            raise InputError(f"{labels}: labels of another scale: {what}")
    read[1:] = [_join(read[0], *each, problems) for each in zip(read[1:], paths[1:], strict=True)]
    if people is not None and labels is not None:
        people = _join(read[0], people, labels, problems)
    whole = read[0].scale if people is None else join_scales(people.scale, read[0].scale)
    for one in read[1:]:
        whole = join_scales(whole, one.scale)
    by_member = _read_votes(paths, read, votes, may_be_one=may_be_one)
    cells = tuple(sorted(set().union(*by_member.values())))
    code = {label: i for i, label in enumerate(whole)}
    rows = [[of.get(cell) for of in by_member.values()] for cell in cells]
    made = JuryVotes(
        members=tuple(by_member),
        scale=whole,
        is_ordered=are_ordered(read[0].kind, whole, *paths, *([labels] if labels else [])),
        key_names=tuple(read[0].key_names),
        cells=cells,
        topics=None if (t := get_topics(cells, read[0].key_names)) is None else tuple(t),
        votes=np.array([[code.get(v or "", NONE) for v in row] for row in rows], np.int64),
        truth=_codes(cells, people, code),
        n_off_scale=sum(v is not None and v not in code for row in rows for v in row),
    )
    if not made.is_ordered:
        made = replace(made, method="vote", ties="unjudged")
    return made if len(paths) > 1 else _as_run(made, paths[0], read[0], code)


def _join(first: LabelFile, other: LabelFile, path: Path, problems: Problems) -> LabelFile:
    """The other file with the first file's run names, if these differ by a team prefix."""
    names = cell_run_aliases(first.cells, other.cells, other.key_names)
    if names:
        what = f"{len(names)} run names were matched without their team prefix"
        problems.keep(path, 0, "run_names", what)
    return with_run_names(other, names)


def _read_votes(
    paths: Sequence[Path], files: Sequence[LabelFile], votes: str, *, may_be_one: bool
) -> dict[str, dict[Cell, str | None]]:
    """By member, the label of each cell; None if it was asked but gave none."""
    by_member: dict[str, dict[Cell, str | None]] = {}
    if len(files) == 1:
        for cell, cell_votes in files[0].votes.items():
            for member, label in cell_votes.items():
                by_member.setdefault(member, {})[cell] = label
        if len(by_member) > 1:
            return by_member
        if not may_be_one:
            what = f"no row has the votes of at least 2 members in its field {votes!r}"
            how = "give the results of a jury (judge run), or the results of each judge"
            raise InputError(f"{paths[0]}: {what}; {how}")
        by_member.clear()
    for path, file in zip(paths, files, strict=True):
        name = path.name if path.is_dir() else path.stem
        name = name if name not in by_member else str(path)
        by_member[name] = dict(file.cells)
    common = set.intersection(*(set(cells) for cells in by_member.values()))
    if not common:
        raise InputError(f"{', '.join(map(str, paths))}: no item with a label from all of them")
    return by_member


def _codes(cells: Sequence[Cell], file: LabelFile | None, code: Mapping[str, int]) -> Codes:
    labels = {} if file is None else file.cells
    return np.array([code.get(labels.get(cell, ""), NONE) for cell in cells], np.int64)


def _as_run(made: JuryVotes, path: Path, file: LabelFile, code: Mapping[str, int]) -> JuryVotes:
    """Add the jury's own labels, its method and its costs, from a results folder."""
    if not path.is_dir():
        return made
    manifest = read_manifest(path)
    juries = manifest.get("judges", {})
    matching = [name for name in juries if set(juries[name].get("members", ())) >= {*made.members}]
    if not matching:
        return made
    settings = juries[matching[0]]["jury"]
    return replace(
        made,
        labels=_codes(made.cells, file, code),
        adjudicated=np.array([cell in file.adjudicated for cell in made.cells]),
        method=settings["how"],
        ties=settings["ties"],
        costs=_costs(path, manifest, matching[0], made.members),
    )


def _costs(
    path: Path, manifest: Mapping[str, Any], name: str, members: Sequence[str]
) -> dict[str, float | None]:
    """By member, the dollars of its replies; None if the price is unknown."""
    from ..backends.budget import compute_cost, get_price

    config = read_folder_config(path)
    prices = {
        member.name: get_price(config.model(member.settings.model))
        for member in list_members(config.judge(name))
    }
    dollars: dict[str, float | None] = {}
    for answered, tokens in manifest.get("tokens_by", {}).items():
        member = answered.partition(": ")[0]
        if member in members:
            counts = [tokens.get(part, 0) for part in ("prompt", "cached", "completion")]
            price, before = prices[member], dollars.get(member, 0.0)
            has_price = price is not None and before is not None
            dollars[member] = (before or 0.0) + compute_cost(price, *counts) if has_price else None
    return dollars
