"""What a jury's votes could become, each way measured beside the single judge that one would take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...judges.fitted.correction import Correction
from ...metrics.agreement.coefficients import cohen_kappa
from ...metrics.bootstrap import Draws, Interval, Resampling, resampling
from ...metrics.jury.dawid_skene import LEAST_ITEMS, LEAST_MEMBERS, dawid_skene
from ..split import topic_folds
from ..threshold import objective_named
from ..topic import add_topics, fit_topics
from .ballots import NONE, Ballots, Codes

Floats = NDArray[np.float64]
MOST_FOLDS = 20  # more topics are left out in as many groups
DRAWS = 20  # of the labels of a topic
CHOSEN = "single, chosen on other topics"


@dataclass(frozen=True)
class Way:
    """How labels come about, and how they agree with people's.

    Attributes:
        name: of the way. uses: what of people's labels it needs: none, those of other topics, or
            `N a topic` beside them; `these` of hindsight, which nobody has.
        n, n_unlabelled: items with a label of people that it labels, and that it does not; means
            over draws where labels of the topic are drawn.
        kappa: unweighted. value: the objective. less_chosen: its objective less that of the single
            judge chosen on other topics, with the interval of the difference.
        why_not: why there are no figures; "" where there are.
    """

    name: str
    uses: str
    n: float = 0
    n_unlabelled: float = 0
    kappa: float | None = None
    value: Interval | None = None
    less_chosen: Interval | None = None
    why_not: str = ""


@dataclass(frozen=True)
class Settings:
    """What is tried.

    Attributes:
        objective: what members are chosen by, cuts are fitted by and ways are compared by, see
            `threshold.fit_cuts`.
        best: the mean of so many members is tried too: the best on other topics, each of another
            family. family: of a member, from its name.
        topic_labels: of each topic, drawn `n_draws` times; 0: none.
    """

    objective: str = "quadratic"
    best: int | None = None
    family: Callable[[str], str] = str
    topic_labels: int = 10
    n_draws: int = DRAWS
    seed: int = 0


def ways(ballots: Ballots, settings: Settings, draws: Draws) -> list[Way]:
    """Every way, each topic judged by what was chosen and fitted on others.

    Args:
        ballots: with labels of people, on 2 topics or more.
        draws: of the intervals, which draw topics.

    Raises: ValueError for ballots without those.
    """
    return _Ways(ballots, settings, draws).all()


class _Ways:
    def __init__(self, ballots: Ballots, settings: Settings, draws: Draws) -> None:
        labelled = ballots.at((ballots.truth != NONE) & (ballots.votes != NONE).any(1))
        if labelled.topics is None or len(set(labelled.topics)) < 2:
            raise ValueError("wanted labels of people on 2 topics or more, to test on others")
        self.all_items, self.ballots, self.settings = ballots, labelled, settings
        self.k = len(labelled.scale)
        self.sample: Resampling = resampling(labelled.topics, **draws)
        self.topics = np.array(labelled.topics)
        self.objective = objective_named(settings.objective, self.k)
        n_folds = min(len(set(labelled.topics)), MOST_FOLDS)
        self.folds = [
            np.isin(self.topics, split.test)
            for split in topic_folds(sorted(set(labelled.topics)), n_folds, seed=settings.seed)
        ]
        self.members = range(len(labelled.members))
        self.of_member = [self._counts(labelled.votes[:, j]) for j in self.members]

    def all(self) -> list[Way]:
        """The ways, the single judges first."""
        ballots, chosen = self.ballots, self._counts(self._chosen())
        self.base: Floats = self._drawn(chosen)
        best = int(np.argmax([self._value(counts) for counts in self.of_member]))
        typical = self._by_rank(len(self.of_member) // 2)
        found = [
            self._way(
                f"single, best of these ({ballots.members[best]})", "these", self.of_member[best]
            ),
            self._way(CHOSEN, "other topics", chosen),
            self._way(
                f"single, the middle one ({ballots.members[typical]})",
                "none",
                self.of_member[typical],
            ),
            self._way("vote", "none", self._counts(ballots.decided("vote", weights=()))),
        ]
        if ballots.is_ordered:
            found += [
                self._way(how, "none", self._counts(ballots.decided(how, weights=())))
                for how in ("median", "mean")
            ]
        found += list(self._dawid_skene())
        weighted = self._by_fold(lambda train: partial(self._weighted, self._weights(train)))
        found.append(
            self._way("vote, weights kappa squared", "other topics", self._counts(weighted))
        )
        return found + (self._fitted(best) if ballots.is_ordered else [])

    def _fitted(self, best: int) -> list[Way]:
        """The ways that put cuts on a mean place, without and with labels of the topic itself."""
        m, n, settings = len(self.members), self.settings.topic_labels, self.settings
        means = {f"mean of {m}, cuts": lambda train: list(self.members)}
        if settings.best is not None and settings.best < m:
            means[f"mean of the best {settings.best}, cuts"] = self._best
        found = [self._cut(name, members, 0) for name, members in means.items()]
        if n:
            singles = {
                f"single, best of these ({self.ballots.members[best]}), cuts": lambda train: [best],
                f"{CHOSEN}, cuts": lambda train: self._ranked(train)[:1],
            }
            found += [self._cut(name, of, n) for name, of in {**singles, **means}.items()]
        return found

    def _cut(self, name: str, members: Callable[[Codes], list[int]], n: int) -> Way:
        uses = f"{n} a topic" if n else "other topics"
        parts = []
        for test in self.folds:
            place = self.ballots.means(members(~test))
            there = ~np.isnan(place)
            train = ~test & there
            try:
                fit = fit_topics(
                    place[train],
                    self.ballots.truth[train],
                    self.topics[train].tolist(),
                    self.k,
                    objective=self.settings.objective,
                )
            except ValueError as error:
                return Way(name, uses, why_not=str(error))
            parts.append((place, test, fit))
        if not n:
            given = np.full(len(self.topics), NONE)
            for place, test, fit in parts:
                given[test] = _labels(fit, place[test], None)
            return self._way(name, uses, self._counts(given))
        total = sum(
            self._counts(*self._drawn_labels(parts, n, d)) for d in range(self.settings.n_draws)
        )
        return self._way(name, uses, np.asarray(total) / self.settings.n_draws)

    def _drawn_labels(
        self, parts: Sequence[tuple[Floats, Codes, Correction]], n: int, draw: int
    ) -> tuple[Codes, Codes]:
        """Labels after `n` of each topic were drawn, and which items are left to test on."""
        rng = np.random.default_rng([self.settings.seed, draw])
        given, left = np.full(len(self.topics), NONE), np.ones(len(self.topics), bool)
        for place, test, fit in parts:
            for topic in np.unique(self.topics[test]):
                own = np.flatnonzero((self.topics == topic) & test)
                known = own[~np.isnan(place[own])]
                few = rng.permutation(known)[: min(n, len(known) // 2)]
                left[few] = False
                moved = fit
                if len(few):
                    truth = self.ballots.truth[few]
                    moved = add_topics(fit, place[few], truth, [str(topic)] * len(few))
                given[own] = _labels(moved, place[own], str(topic))
        return given, left

    def _dawid_skene(self) -> Iterator[Way]:
        """On all items, those without labels of people too."""
        ballots = self.all_items
        keep = (ballots.votes != NONE).any(1)
        votes, names = ballots.votes[keep], np.array(ballots.topics)[keep]
        is_ours = ballots.truth[keep] != NONE
        groups = {
            "Dawid-Skene, each topic by itself": [names == topic for topic in np.unique(names)],
            "Dawid-Skene, all together": [np.ones(len(votes), bool)],
        }
        for name, parts in groups.items():
            least = min(int(part.sum()) for part in parts)
            if least < LEAST_ITEMS or votes.shape[1] < LEAST_MEMBERS:
                what = f"wanted {LEAST_ITEMS} items and {LEAST_MEMBERS} members"
                yield Way(name, "none", why_not=f"{what}, got {least} and {votes.shape[1]}")
                continue
            given = np.full(len(votes), NONE)
            for part in parts:
                given[part] = dawid_skene(votes[part], self.k).codes
            yield self._way(name, "none", self._counts(given[is_ours]))

    def _chosen(self) -> Codes:
        return self._by_fold(lambda train: partial(self._of, self._ranked(train)[0]))

    def _of(self, member: int) -> Codes:
        return self.ballots.votes[:, member]

    def _weighted(self, weights: Sequence[float]) -> Codes:
        return self.ballots.decided("vote", weights=weights)

    def _weights(self, train: Codes) -> list[float]:
        """Kappa squared, of no less than 0; all the same where nobody has any."""
        found = [max(self._value_on(j, train), 0.0) ** 2 for j in self.members]
        return found if any(found) else [1.0] * len(found)

    def _by_fold(self, made: Callable[[Codes], Callable[[], Codes]]) -> Codes:
        """Labels of each fold by what the others told."""
        given = np.full(len(self.topics), NONE)
        for test in self.folds:
            given[test] = made(~test)()[test]
        return given

    def _best(self, train: Codes) -> list[int]:
        """The best members on these items, of each family one."""
        found: dict[str, int] = {}
        for j in self._ranked(train):
            found.setdefault(self.settings.family(self.ballots.members[j]), j)
        return list(found.values())[: self.settings.best]

    def _ranked(self, train: Codes) -> list[int]:
        return sorted(self.members, key=lambda j: -self._value_on(j, train))

    def _value_on(self, member: int, where: Codes) -> float:
        topics = np.unique(self.sample.topic_of[where])
        return self._value(self.of_member[member][topics])

    def _by_rank(self, rank: int) -> int:
        return sorted(self.members, key=lambda j: -self._value(self.of_member[j]))[rank]

    def _value(self, counts: Floats) -> float:
        return float(np.nan_to_num(self.objective(counts[:, :, : self.k].sum(0)), nan=-1.0))

    def _counts(self, given: Codes, where: Codes | None = None) -> Floats:
        """(n_topics, k, k) of labels of people (rows) and given ones; the last column: none."""
        k, truth, topics = self.k, self.ballots.truth, self.sample.topic_of
        which = np.ones(len(given), bool) if where is None else where
        found = np.zeros((self.sample.draws.shape[1], k, k + 1))
        np.add.at(found, (topics[which], truth[which], given[which]), 1)  # -1 is the last
        return found

    def _drawn(self, counts: Floats) -> Floats:
        """(1 + resamples,) the objective on all topics, then on each drawn sample."""
        labelled = counts[:, :, : self.k]
        samples = np.tensordot(self.sample.draws.astype(np.float64), labelled, axes=1)
        return np.asarray(self.objective(np.concatenate([labelled.sum(0)[None], samples])))

    def _way(self, name: str, uses: str, counts: Floats) -> Way:
        drawn, labelled = self._drawn(counts), counts[:, :, : self.k]
        away = drawn - self.base

        def of(values: Floats) -> Interval:
            first = None if np.isnan(values[0]) else float(values[0])
            return self.sample.interval(first, values[1:])

        kappa = float(cohen_kappa(labelled.sum(0)))
        return Way(
            name,
            uses,
            n=float(labelled.sum()),
            n_unlabelled=float(counts[:, :, self.k].sum()),
            kappa=None if np.isnan(kappa) else kappa,
            value=of(drawn),
            less_chosen=None if name == CHOSEN else of(away),
        )


def _labels(fit: Correction, places: Floats, topic: str | None) -> Codes:
    """The label of each place by the cuts of a fit; -1 where there is no place."""
    assert fit.cuts is not None
    at = np.array([fit.position(place, topic) if place == place else np.nan for place in places])
    found = np.searchsorted(fit.cuts, at, side="right")
    return np.where(np.isnan(at), NONE, found)
