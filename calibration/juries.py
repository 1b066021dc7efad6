"""The report of a jury: agreement of its members and of their combined votes with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ..metrics.inference import (
    BEYOND_CHANCE,
    SIGNED_DIFFERENCE,
    Draws,
    Ends,
    Interval,
    Resampling,
    resampling,
)
from ..metrics.jury import (
    METHODS,
    MIN_ITEMS,
    MIN_MEMBERS,
    EffectiveVotes,
    dawid_skene,
    effective_votes,
)
from ..metrics.label_coefficients import cohen_kappa, count_confusion
from ..records.reading.problems import InputError, Problems
from ..records.writing import write_file
from .settings import split_folds
from .threshold import get_objective
from .votes import NONE, Codes, JuryVotes, read_jury_votes

Floats = NDArray[np.float64]
Where = NDArray[np.bool_]  # items, by whether they are among them
MAX_FOLDS = 20  # more topics are grouped into this many folds
CHOSEN = "single, chosen on other topics"


@dataclass(frozen=True)
class Method:
    """A source of labels, and its agreement with people.

    Attributes:
        name: of the method. uses: the human labels that it needs: none, labels of other topics, or
            `these` (hindsight, not available in practice).
        n, n_unlabelled: human-labelled items that it labels, and that it does not label.
        kappa: unweighted. value: the objective. minus_chosen: its objective minus that of the
            single judge chosen on other topics, with the interval of the difference.
        why_not: why there are no figures; "" if there are.
    """

    name: str
    uses: str
    n: float = 0
    n_unlabelled: float = 0
    kappa: float | None = None
    value: Interval | None = None
    minus_chosen: Interval | None = None
    why_not: str = ""


def compare_methods(jury: JuryVotes, objective: str, draws: Draws) -> list[Method]:
    """Compare all methods; each topic is judged by what was chosen and fitted on other topics.

    Args:
        jury: with human labels on at least 2 topics.
        draws: of the intervals, which draw topics.

    Raises: ValueError without such labels.
    """
    return _Methods(jury, objective, draws).all()


class _Methods:
    def __init__(self, jury: JuryVotes, objective: str, draws: Draws) -> None:
        labelled = jury.at((jury.truth != NONE) & (jury.votes != NONE).any(1))
        if labelled.topics is None or len(set(labelled.topics)) < 2:
            raise ValueError("wanted human labels on at least 2 topics, to test on other topics")
        self.all_items, self.jury = jury, labelled
        self.k = len(labelled.scale)
        self.sample: Resampling = resampling(labelled.topics, **draws)
        self.topics = np.array(labelled.topics)
        self.objective = get_objective(objective, self.k)
        n_folds = min(len(set(labelled.topics)), MAX_FOLDS)
        self.folds = [
            np.isin(self.topics, split.test)
            for split in split_folds(sorted(set(labelled.topics)), n_folds)
        ]
        self.members = range(len(labelled.members))
        self.of_member = [self._counts(labelled.votes[:, j]) for j in self.members]

    def all(self) -> list[Method]:
        """The methods, the single judges first."""
        jury, chosen = self.jury, self._counts(self._take_best_member())
        self.base: Floats = self._draw_objective(chosen)
        best = int(np.argmax([self._value(counts) for counts in self.of_member]))
        typical = self._by_rank(len(self.of_member) // 2)
        tried = [
            self._measure(
                f"single, best of these ({jury.members[best]})", "these", self.of_member[best]
            ),
            self._measure(CHOSEN, "other topics", chosen),
            self._measure(
                f"single, the middle one ({jury.members[typical]})",
                "none",
                self.of_member[typical],
            ),
            self._measure("vote", "none", self._counts(jury.decide("vote"))),
        ]
        if jury.is_ordered:
            tried += [
                self._measure(method, "none", self._counts(jury.decide(method)))
                for method in ("median", "mean")
            ]
        tried += list(self._dawid_skene())
        return tried

    def _dawid_skene(self) -> Iterator[Method]:
        """Dawid-Skene on all items, also those without human labels."""
        jury = self.all_items
        keep = (jury.votes != NONE).any(1)
        votes, names = jury.votes[keep], np.array(jury.topics)[keep]
        is_ours = jury.truth[keep] != NONE
        groups = {
            "Dawid-Skene, each topic by itself": [names == topic for topic in np.unique(names)],
            "Dawid-Skene, all together": [np.ones(len(votes), bool)],
        }
        for name, parts in groups.items():
            least = min(int(part.sum()) for part in parts)
            if least < MIN_ITEMS or votes.shape[1] < MIN_MEMBERS:
                what = f"wanted {MIN_ITEMS} items and {MIN_MEMBERS} members"
                yield Method(name, "none", why_not=f"{what}, got {least} and {votes.shape[1]}")
                continue
            labels = np.full(len(votes), NONE)
            for part in parts:
                labels[part] = dawid_skene(votes[part], self.k).codes
            yield self._measure(name, "none", self._counts(labels[is_ours]))

    def _take_best_member(self) -> Codes:
        """Labels of the member that is best on other topics."""
        labels = np.full(len(self.topics), NONE)
        for test in self.folds:
            labels[test] = self.jury.votes[test, self._best_member(~test)]
        return labels

    def _best_member(self, train: Where) -> int:
        topics = np.unique(self.sample.topic_of[train])
        return max(self.members, key=lambda j: self._value(self.of_member[j][topics]))

    def _by_rank(self, rank: int) -> int:
        return sorted(self.members, key=lambda j: -self._value(self.of_member[j]))[rank]

    def _value(self, counts: Floats) -> float:
        return float(np.nan_to_num(self.objective(counts[:, :, : self.k].sum(0)), nan=-1.0))

    def _counts(self, labels: Codes) -> Floats:
        """(n_topics, k, k + 1) counts of human (rows) and given labels; the last column: none."""
        counts = np.zeros((self.sample.draws.shape[1], self.k, self.k + 1))
        np.add.at(counts, (self.sample.topic_of, self.jury.truth, labels), 1)  # -1 is the last
        return counts

    def _draw_objective(self, counts: Floats) -> Floats:
        """(1 + resamples,) the objective on all topics, then on each drawn sample."""
        labelled = counts[:, :, : self.k]
        samples = np.tensordot(self.sample.draws.astype(np.float64), labelled, axes=1)
        return np.asarray(self.objective(np.concatenate([labelled.sum(0)[None], samples])))

    def _measure(self, name: str, uses: str, counts: Floats) -> Method:
        drawn, labelled = self._draw_objective(counts), counts[:, :, : self.k]
        away = drawn - self.base

        def of(values: Floats, ends: Ends) -> Interval:
            first = None if np.isnan(values[0]) else float(values[0])
            return self.sample.interval(first, values[1:], ends)

        kappa = float(cohen_kappa(labelled.sum(0)))
        return Method(
            name,
            uses,
            n=float(labelled.sum()),
            n_unlabelled=float(counts[:, :, self.k].sum()),
            kappa=None if np.isnan(kappa) else kappa,
            value=of(drawn, BEYOND_CHANCE),
            minus_chosen=None if name == CHOSEN else of(away, SIGNED_DIFFERENCE),
        )


@dataclass(frozen=True)
class MemberRow:
    """One member of a jury.

    Attributes:
        n, n_unjudged: items with a label, and items without.
        changes: share of the jury's labels that would differ without it, in [0, 1].
        differs: share of its labels that differ from the jury's.
        kappa, value: agreement with people, unweighted and by the objective; None without labels.
        cost: dollars of its replies; None: unknown.
    """

    member: str
    n: int
    n_unjudged: int
    changes: float | None
    differs: float | None
    kappa: float | None = None
    value: float | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Together:
    """The members together.

    Attributes:
        worth: effective votes, by errors against human labels; without these, against the
            jury's own labels, which do not show errors common to all.
        by_people: whether human labels were used. n: items that count.
        unanimous: share of the items on which all members with a label agree.
        n_adjudicated, n_overturned: items that an adjudicator decided, and those where it did
            not give the label of the vote.
    """

    worth: EffectiveVotes
    by_people: bool
    n: int
    unanimous: float | None
    n_adjudicated: int = 0
    n_overturned: int = 0


def list_members(jury: JuryVotes, objective: str) -> list[MemberRow]:
    """Each member, in the order of the jury."""
    whole, m = jury.decide(), len(jury.members)
    rows = []
    for j, name in enumerate(jury.members):
        own = jury.votes[:, j]
        others = [i for i in range(m) if i != j]
        without = jury.decide(members=others) if others else whole
        there = own != NONE
        both = there & (jury.truth != NONE)
        counts = count_confusion(
            [jury.scale[i] for i in jury.truth[both]],
            [jury.scale[i] for i in own[both]],
            jury.scale,
            may_miss=False,
        )
        rows.append(
            MemberRow(
                member=name,
                n=int(there.sum()),
                n_unjudged=int((~there).sum()),
                changes=_share(without != whole, whole != NONE),
                differs=_share(own != whole, there & (whole != NONE)),
                kappa=_or_none(cohen_kappa(counts)),
                value=_or_none(get_objective(objective, len(jury.scale))(counts)),
                cost=jury.costs.get(name),
            )
        )
    return rows


def measure_together(jury: JuryVotes) -> Together:
    """Compute the effective number of independent judges, and their agreement."""
    by_people = bool((jury.truth != NONE).any())
    truth = jury.truth if by_people else jury.decide()
    has_truth = truth != NONE
    votes = jury.votes[has_truth]
    errors = np.where(votes == NONE, np.nan, votes != truth[has_truth][:, None])
    low = np.where(jury.votes == NONE, len(jury.scale), jury.votes).min(1)
    several = (jury.votes != NONE).sum(1) > 1
    decided = jury.adjudicated if jury.adjudicated is not None else np.zeros(len(low), bool)
    overturned = 0
    if jury.labels is not None:
        overturned = int((decided & (jury.decide("vote") != jury.labels)).sum())
    return Together(
        worth=effective_votes(errors.astype(np.float64)),
        by_people=by_people,
        n=int(has_truth.sum()),
        unanimous=_share(low == jury.votes.max(1), several),
        n_adjudicated=int(decided.sum()),
        n_overturned=overturned,
    )


def _share(of: Codes | np.ndarray, where: np.ndarray) -> float | None:
    return float(np.asarray(of)[where].mean()) if where.any() else None


def _or_none(value: np.ndarray) -> float | None:
    return None if np.isnan(value) else float(value)


DAWID_SKENE, BY_TOPIC = "dawid-skene", "dawid-skene-topics"


def make_jury_report(
    paths: Sequence[Path],
    problems: Problems,
    *,
    labels: Path | None,
    where: Mapping[str, Sequence[str]] | None,
    kind: str | None,
    votes: str,
    objective: str | None,
    draws: Draws,
) -> tuple[JuryVotes, dict[str, Any]]:
    """Make the report of the votes: `members`, `worth`, `methods` (see `Method`).

    Args:
        paths, labels, where, kind, votes: see `read_jury_votes`.
        objective: how to measure agreement (see `threshold.fit_cuts`); None: quadratic for an
            ordered scale of at least 3 labels, otherwise kappa.

    Raises: InputError for files that do not fit together, or an unknown objective.
    """
    jury = read_jury_votes(paths, problems, labels=labels, where=where, kind=kind, votes=votes)
    k = len(jury.scale)
    default = "quadratic" if k > 2 and jury.is_ordered else "kappa"
    objective = objective or default
    try:
        get_objective(objective, k)
        is_distance = objective in ("linear", "quadratic")
        if is_distance and not jury.is_ordered:
            raise ValueError(f"objective {objective!r}: the labels have no order")
    except ValueError as error:
        raise InputError(str(error)) from None
    n_labelled = int((jury.truth != NONE).sum())
    if labels is not None and not n_labelled:
        raise InputError(f"{paths[0]} and {labels}: no common item; do their ids agree?")
    try:
        compared = compare_methods(jury, objective, draws) if n_labelled else []
    except ValueError as error:
        raise InputError(f"{labels}: {error}") from None
    return jury, {
        "n_items": len(jury.cells),
        "n_topics": len(set(jury.topics or ())),
        "n_labelled": n_labelled,
        "n_off_scale": jury.n_off_scale,
        "scale": list(jury.scale),
        "method": jury.method,
        "objective": objective,
        **asdict(measure_together(jury)),
        "methods": [asdict(each) for each in compared],
        "members": [asdict(row) for row in list_members(jury, objective)],
    }


def write_combined(path: Path, jury: JuryVotes, method: str) -> None:
    """Write a label file with the combined votes; an undecided item has no label.

    Args:
        method: one of `METHODS`; DAWID_SKENE, for all items together; BY_TOPIC, for each topic.

    Raises: InputError for another name, a file that exists, or too few items.
    """
    if path.exists():
        raise InputError(f"{path}: is there already; name another file")
    if method not in (*METHODS, DAWID_SKENE, BY_TOPIC):
        raise InputError(
            f"--method {method}: wanted one of {', '.join((*METHODS, DAWID_SKENE, BY_TOPIC))}"
        )
    if method in METHODS and method != "vote" and not jury.is_ordered:
        raise InputError(f"--method {method}: the labels have no order; use vote")
    if method in METHODS:
        chances = None
        codes = jury.decide(method)
    else:
        chances = _chances(jury, by_topic=method == BY_TOPIC)
        codes = np.where(np.isnan(chances[:, 0]), NONE, np.nan_to_num(chances).argmax(1))
    means, lines = jury.means(), []
    for i, cell in enumerate(jury.cells):
        row: dict[str, Any] = dict(zip(jury.key_names, cell, strict=True))
        row["label"] = None if codes[i] == NONE else jury.scale[codes[i]]
        if jury.is_ordered and codes[i] != NONE:
            row["score"] = float(means[i])
        if chances is not None and codes[i] != NONE:
            row["probabilities"] = dict(zip(jury.scale, chances[i].tolist(), strict=True))
        row["votes"] = {
            member: None if code == NONE else jury.scale[code]
            for member, code in zip(jury.members, jury.votes[i].tolist(), strict=True)
        }
        lines.append(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    write_file(path, b"".join(lines))


def _chances(jury: JuryVotes, *, by_topic: bool) -> np.ndarray:
    """(n, k) probabilities of the labels, nan for an item without votes."""
    if by_topic and jury.topics is None:
        raise InputError(f"--method {BY_TOPIC}: the items have no topic_id")
    names = np.array(jury.topics) if by_topic else np.zeros(len(jury.cells))
    there = (jury.votes != NONE).any(1)
    chances = np.full((len(names), len(jury.scale)), np.nan)
    for name in np.unique(names):
        part = there & (names == name)
        if part.sum() < MIN_ITEMS or jury.votes.shape[1] < MIN_MEMBERS:
            got = f"{part.sum():,} items and {jury.votes.shape[1]} members"
            where = f" of topic {name}" if by_topic else ""
            wanted = f"{MIN_ITEMS} items and {MIN_MEMBERS} members"
            raise InputError(f"--method {DAWID_SKENE}: wanted {wanted}{where}, got {got}")
        chances[part] = dawid_skene(jury.votes[part], len(jury.scale)).probabilities
    return chances
