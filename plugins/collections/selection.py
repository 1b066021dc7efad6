"""Choose sub-questions that separate systems, by which systems answer them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...metrics.inference import compute_randomised_hsd
from ...metrics.rank_correlation import kendall_tau
from ...programs.protocols.coverage.files import QUESTIONS, read_coverage
from ...programs.protocols.coverage.topic import CoverageData, TopicView
from ...programs.protocols.program import Folder
from ...records.questions import question_set_row
from ...records.reading.problems import InputError, Problems
from ...records.writing import write_lines
from ...views.numbers import format_share

By = Literal["spread", "tau"]
Question = tuple[str, int]  # topic, place in its set
MIN_RUNS = 6  # of a check: two halves of three
ALPHA = 0.05
DRAWS, SEED = 20, 0  # random choices that a selection is compared with
RESAMPLES = 2000  # of the test of all pairs


@dataclass(frozen=True)
class Answered:
    """Which answerable questions each run answers.

    Attributes:
        questions: one a row of `table`.
        runs: one a column.
        table: (n_questions, n_runs), 1: answered, 0: not, nan: unknown, a rating is missing.
    """

    questions: Sequence[Question]
    runs: Sequence[str]
    table: NDArray[np.float64]

    def take(self, runs: Sequence[int]) -> Answered:
        """The same for some of the runs."""
        return Answered(self.questions, [self.runs[i] for i in runs], self.table[:, list(runs)])

    def drop_open(self) -> Answered:
        """Keep the questions with a known answer, yes or no, of every run."""
        whole = np.flatnonzero(~np.isnan(self.table).any(axis=1)).tolist()
        return Answered([self.questions[i] for i in whole], self.runs, self.table[whole])


@dataclass(frozen=True)
class Check:
    """How well chosen questions separate the other half of the runs; mean over both halves.

    Attributes:
        name: how the questions were chosen.
        n: number of questions.
        sd: sample standard deviation over runs of their mean coverage.
        n_pairs, n_different: pairs of runs of a half; those that differ (randomised HSD, p < .05).
        tau: tau-b of the runs by these questions and by all; None: undefined.
    """

    name: str
    n: int
    sd: float
    n_pairs: float
    n_different: float
    tau: float | None


def find_answered(data: CoverageData, views: Mapping[str, TopicView]) -> Answered:
    """Find which questions contexts answer, or reports if the folder has no contexts."""
    runs = sorted(data.rankings or data.reports)
    questions: list[Question] = []
    rows = []
    for topic_id, view in views.items():
        best = np.array([_rate(data, view, run) for run in runs])
        for place in np.flatnonzero(view.answerable == 1):
            questions.append((topic_id, int(place)))
            rows.append(best[:, place])
    return Answered(questions, runs, np.array(rows).reshape(len(rows), len(runs)))


def _rate(data: CoverageData, view: TopicView, run_id: str) -> NDArray[np.float64]:
    """(n_questions,) 1: the run answers it, 0: it does not, nan: unknown."""
    if data.rankings:
        ids: Sequence[str] = data.rankings[run_id].get(view.topic_id, ())[: view.k]
    else:
        report = data.reports[run_id].get(view.topic_id)
        ids = () if report is None else (report,)
    ratings = view.matrix(ids)
    is_answered = (ratings >= view.settings.eta).any(axis=0)
    is_open = ~is_answered & np.isnan(ratings).any(axis=0)
    return np.where(is_open, np.nan, is_answered.astype(float))


def score_questions(answered: Answered, by: By) -> NDArray[np.float64]:
    """Score how well each question separates the runs; -inf if nothing is known.

    Args:
        by: `spread`, the standard deviation of its answers over runs, sqrt(p (1 - p)), 0 to 0.5;
            `tau`, tau-b between its answers and the runs' coverage by all other questions, -1 to
            1: a corrected item-total correlation, by ranks.
    """
    table = answered.table
    if by == "spread":
        shares = _mean(table, axis=1)
        return np.where(np.isnan(shares), -np.inf, np.sqrt(shares * (1 - shares)))
    scores = np.full(len(table), -np.inf)
    for i, row in enumerate(table):
        rest = _mean(np.delete(table, i, axis=0), axis=0).round(12)
        known = ~np.isnan(row) & ~np.isnan(rest)
        if known.sum() < 2:
            continue
        tau = kendall_tau(row[known].tolist(), rest[known].tolist())
        scores[i] = -1.0 if tau is None else tau  # all runs answer it, or none does
    return scores


def choose_questions(
    questions: Sequence[Question], scores: NDArray[np.float64], keep: int
) -> list[int]:
    """Return the rows of the `keep` best questions of each topic; ties by their order."""
    by_topic: dict[str, list[int]] = {}
    for i, (topic_id, _) in enumerate(questions):
        by_topic.setdefault(topic_id, []).append(i)
    chosen = []
    for rows in by_topic.values():
        chosen += sorted(rows, key=lambda i: (-scores[i], i))[:keep]
    return sorted(chosen)


def check_choices(answered: Answered, keep: int) -> list[Check]:
    """Compare ways to choose: one half of the runs chooses, the other half is measured.

    Questions with an unknown answer of any run are left out, so all runs are measured by the same
    ones.

    Returns: a check of all questions, then of those chosen by spread, by tau and at random (mean
        of 20 draws); empty with fewer than six runs, or if no questions remain.
    """
    answered, n_runs = answered.drop_open(), len(answered.runs)
    if n_runs < MIN_RUNS or not answered.questions:
        return []
    rng = np.random.default_rng(SEED)
    order = rng.permutation(n_runs).tolist()
    halves = [answered.take(order[: n_runs // 2]), answered.take(order[n_runs // 2 :])]
    folds = [halves, halves[::-1]]
    everything = list(range(len(answered.questions)))
    checks = [_mean_check("all", [_check(other, everything) for _, other in folds])]
    ways: tuple[By, ...] = ("spread", "tau")
    for by in ways:
        chosen = [
            (other, choose_questions(one.questions, score_questions(one, by), keep))
            for one, other in folds
        ]
        checks.append(_mean_check(by, [_check(other, rows) for other, rows in chosen]))
    drawn = [
        _check(other, choose_questions(one.questions, rng.random(len(everything)), keep))
        for one, other in folds
        for _ in range(DRAWS)
    ]
    return [*checks, _mean_check("random", drawn)]


def _check(answered: Answered, rows: Sequence[int]) -> Check:
    """Measure how some questions separate some runs."""
    means = _topic_means(answered, rows)
    p_values = compute_randomised_hsd(means, resamples=RESAMPLES)
    n_runs = len(answered.runs)
    above = np.triu_indices(n_runs, 1)
    by_run = means.mean(axis=0).round(12)
    of_all = _topic_means(answered, range(len(answered.questions))).mean(axis=0).round(12)
    return Check(
        "",
        len(rows),
        float(by_run.std(ddof=1)),
        len(above[0]),
        float((p_values[above] < ALPHA).sum()),
        kendall_tau(by_run.tolist(), of_all.tolist()),
    )


def _topic_means(answered: Answered, rows: Iterable[int]) -> NDArray[np.float64]:
    """(n_topics, n_runs) coverage by these questions, whose answers are all known."""
    by_topic: dict[str, list[int]] = {}
    for i in rows:
        by_topic.setdefault(answered.questions[i][0], []).append(i)
    return np.array([answered.table[of].mean(axis=0) for of in by_topic.values()])


def _mean_check(name: str, checks: Sequence[Check]) -> Check:
    taus = [check.tau for check in checks if check.tau is not None]
    return Check(
        name,
        checks[0].n,
        float(np.mean([check.sd for check in checks])),
        float(np.mean([check.n_pairs for check in checks])),
        float(np.mean([check.n_different for check in checks])),
        float(np.mean(taus)) if taus else None,
    )


def _mean(table: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """The mean of the known values; nan if there is none."""
    n = (~np.isnan(table)).sum(axis=axis)
    means: NDArray[np.float64] = np.nansum(table, axis=axis) / np.maximum(n, 1)
    means[n == 0] = np.nan
    return means


def select_questions(
    results: Path, by: By, keep: int, out: Path, problems: Problems
) -> list[Check]:
    """Write the questions that separate the runs of a folder best, as `questions.jsonl`.

    Questions keep their columns, so files of ratings still fit.

    Args:
        results: a folder of `judge run coverage`.
        out: the folder to write into.

    Returns: a comparison of the ways to choose, see `check_choices`.
    Raises: InputError for a folder without answerable questions or with fewer than two runs, and if
        `out` has the file already.
    """
    data, settings = read_coverage(Folder(results, problems))
    views = {topic: TopicView(data, topic, settings) for topic in data.questions}
    answered = find_answered(data, views)
    if len(answered.runs) < 2 or not answered.questions:
        what = f"{len(answered.runs)} runs and {len(answered.questions)} answerable questions"
        raise InputError(f"{results}: {what}, wanted two runs and a question")
    if (path := out / QUESTIONS).exists():
        raise InputError(f"{path}: exists already; name another --out")
    if n_open := len(answered.questions) - len(answered.drop_open().questions):
        what = f"{n_open:,} questions lack a rating of a run: known runs choose, none is measured"
        problems.skip(results, 0, "open_questions", what)
    chosen = choose_questions(answered.questions, score_questions(answered, by), keep)
    kept: dict[str, set[int]] = {}
    for i in chosen:
        topic_id, place = answered.questions[i]
        kept.setdefault(topic_id, set()).add(place)
    sets = [
        of.model_copy(
            update={"questions": tuple(q for i, q in enumerate(of.questions) if i in kept[topic])}
        )
        for topic, of in data.questions.items()
        if topic in kept
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lines(path, map(question_set_row, sets))
    return check_choices(answered, keep)


def choices_table(checks: Sequence[Check]) -> list[list[str]]:
    """The checks as rows of a table, the header first."""
    header = ["questions", "n", "sd over runs", "pairs that differ", "tau-b to all"]
    rows = [
        [
            check.name,
            f"{check.n:,}",
            format_share(check.sd),
            f"{check.n_different:.1f} of {check.n_pairs:g}",
            format_share(check.tau),
        ]
        for check in checks
    ]
    return [header, *rows]
