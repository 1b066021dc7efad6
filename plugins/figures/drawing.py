"""Figures for a paper: what `judge figure` and `Result.figure` draw, and their captions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from ...metrics.inference import LEVEL
from ...programs.analysis.agree import SCORES, agree
from ...programs.analysis.compare import compare_judges
from ...programs.analysis.compare_runs import (
    compare_scores,
    compare_with_length,
    make_score_table,
)
from ...programs.analysis.groups import DOCUMENTS, NO_GROUP, get_mean, read_group_means
from ...programs.analysis.tables.leaderboards import name_judges
from ...programs.protocols.scoreboard import LENGTH
from ...programs.protocols.table import meaning
from ...programs.scoring.corrected import correct_scores
from ...programs.scoring.result import Result
from ...programs.scoring.topic_scores import (
    TopicScores,
    merge_sources,
    note_other_instruments,
    topic_scores,
)
from ...records.kinds import file_kind
from ...records.reading.problems import InputError, Problems, did_you_mean
from ...views.numbers import format_p, format_short_share
from . import panels
from .coverage.pictures import draw_annotators, draw_measures
from .filtering import draw_filter
from .labels import draw_label_pairs, draw_labels
from .levels import choose_measure, draw_length_levels, draw_tau_levels, read_levels
from .panels import find_format, save, use_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Kind = Literal[
    "leaderboard", "tau", "topics", "length", "groups", "labels", "confusion", "measures",
    "annotators", "filter",
]  # fmt: skip
Width = Literal["column", "page"]
INCHES = {"column": 3.3, "page": 6.9}  # of one column, and of both


def write_figure(
    kind: Kind,
    results: Sequence[Path],
    out: Path,
    problems: Problems,
    *,
    measure: str | None = None,
    labels: Path | None = None,
    by: str | None = None,
    width: Width = "column",
    levels: str | None = None,
    run_groups: Path | None = None,
) -> str:
    """Draw results for a paper, and return a caption.

    The same results give the same bytes with the same matplotlib.

    Args:
        kind: `leaderboard`, a forest plot of the runs' means; `tau`, the scores of the runs by two
            judges; `topics`, a heat map of scores by run and topic; `length`, score and words;
            `groups`, means by group of topics: a radar, or lines by length of the documents;
            `labels`, the labels that each judge gave; `confusion`, those of two judges in pairs;
            `measures`, tau-b of every two measures of coverage; `annotators`, coverage by people
            and by the judge; `filter`, the scores of a build's key point filter.
        results: results folders, or files of judgements or scores; for `tau` and `confusion` two,
            or one and labels.
        out: where to; its ending is the format: .pdf, .svg or .png.
        measure: by default the first that leaderboards are compared by.
        labels: people's labels or scores; a leaderboard has the scores corrected with them.
        by: for `groups`, how topics are grouped, see `read_topic_groups`; None: category.
        levels: for `tau` and `length`, some of runs, topics (`tau` only) and cells, with commas.
        run_groups: for the same two, a file with the group of each run, drawn by shape and colour.

    Raises: InputError for another ending, a measure that is not there, what has nothing to draw,
        or if matplotlib is not installed.
    """
    if kind not in (kinds := get_args(Kind)):
        wanted = f"wanted {', '.join(kinds)}{did_you_mean(kind, kinds)}"
        raise InputError(f"figure {kind!r}: {wanted}")
    form = find_format(out)
    marks = _Marks(read_levels(levels), run_groups)
    for name, value, kinds_with in (
        ("--labels", labels, ("leaderboard", "tau", "confusion", "annotators")),
        ("--by", by, ("groups",)),
        ("--levels", levels, ("tau", "length")),
        ("--run-groups", run_groups, ("tau", "length")),
    ):
        if value is not None and kind not in kinds_with:
            raise InputError(f"{name} {value}: judge figure {kind} does not take it")
    with use_matplotlib():
        if kind == "groups":
            figure, caption = _groups(results, problems, measure, by or "category", INCHES[width])
        elif kind == "tau":
            figure, caption = _tau(results, problems, measure, labels, INCHES[width], marks)
        elif kind == "confusion":
            one, other = _pair(results, labels)
            names = _name_sides(one, other)
            figure, caption = draw_label_pairs(one, other, names, problems, INCHES[width])
        elif kind == "measures":
            figure, caption = draw_measures(results, problems, INCHES[width])
        elif kind == "annotators":
            figure, caption = draw_annotators(results, labels, problems, INCHES[width])
        elif kind == "filter":
            figure, caption = draw_filter(results, INCHES[width])
        elif kind == "labels":
            figure, caption = draw_labels(results, problems, INCHES[width])
        else:
            scores = _read(results, problems, measure)
            if kind == "length":
                figure, caption = _length(scores, INCHES[width], marks)
            else:
                draw = {"leaderboard": _leaderboard, "topics": _topics}[kind]
                figure, caption = draw(scores, labels, INCHES[width])
        save(figure, out, form)
    return caption


class _Marks(NamedTuple):
    """The levels of points in a scatter, and the file with the groups of runs."""

    levels: tuple[str, ...]
    groups: Path | None

    @property
    def are_plain(self) -> bool:
        """Whether only runs are drawn, without groups."""
        return self.levels == ("runs",) and self.groups is None


@dataclass(frozen=True)
class _Scores:
    """Scores of the runs by one measure, and how they compare."""

    paths: Sequence[Path]
    problems: Problems
    by_topic: TopicScores
    measure: str
    compared: Mapping[str, Any]

    @property
    def judge(self) -> str:
        judges = [name for p in self.paths if p.is_dir() for name in Result(p).judged_by]
        return name_judges(list(dict.fromkeys(judges)))

    @property
    def about(self) -> str:
        """The measure, what it says and who judged, for a caption."""
        words = meaning(self.measure).text.rstrip(".")
        what = f"{self.measure} ({words[:1].lower()}{words[1:]})" if words else self.measure
        return f"{what}, {self.compared['n_topics']:,} topics" + (
            f", judged by {self.judge}" if self.judge else ""
        )


def _read(paths: Sequence[Path], problems: Problems, measure: str | None) -> _Scores:
    if len(paths) > 1:
        note_other_instruments(paths, problems)
    scores = merge_sources(paths, [topic_scores(path, problems) for path in paths])
    name = choose_measure(measure, scores.values, " and ".join(map(str, paths)))
    return _Scores(paths, problems, scores, name, compare_scores(scores, name))


def _leaderboard(scores: _Scores, labels: Path | None, width: float) -> tuple[Figure, str]:
    rows = [row for row in scores.compared["runs"] if row["mean"] is not None]
    if not rows:
        raise InputError(f"{scores.paths[0]}: no run has a mean {scores.measure}")
    corrected = {} if labels is None else _correct(scores, labels)
    leading = find_leading_runs(scores.compared)
    figure = panels.draw_forest(rows, leading, corrected, scores.measure, width)
    caption = f"Mean {scores.about}, with {LEVEL:.0%} intervals over topics."
    test, alpha = scores.compared["test"], format_p(1 - LEVEL)
    if few := scores.compared["least_topics"]:
        caption += f" Too few shared topics to test the order: at least {few} are needed."
    elif leading and len(leading) < len(rows):
        below = "Open circles: significantly lower than the first run"
        caption += f" {below} ({test}, p < {alpha}); dashed line: end of the group that is not."
    elif leading:
        caption += f" No run is significantly lower than the first ({test}, p >= {alpha})."
    if corrected:
        caption += f" Diamonds: corrected with human labels ({labels.name if labels else ''})."
    return figure, caption


def _correct(scores: _Scores, labels: Path) -> dict[str, panels.CorrectedMean]:
    """By run the score corrected with people's labels, and its interval over topics."""
    if len(scores.paths) > 1:
        raise InputError(f"--labels {labels}: corrects one result, {len(scores.paths)} are given")
    (path,) = scores.paths
    found = correct_scores(path, labels, scores.problems, ignore_others=True).scores
    of_runs = {}
    for one in found:
        if one.measure == scores.measure and (mean := one.corrected) is not None:
            like = mean.like_these
            of_runs[one.run_id] = panels.CorrectedMean(mean.value, like.low, like.high)
    return of_runs


def _topics(scores: _Scores, labels: Path | None, width: float) -> tuple[Figure, str]:
    runs = [row["run_id"] for row in scores.compared["runs"]]
    topics = list(scores.by_topic.topics[scores.measure])
    table = make_score_table(scores.by_topic, scores.measure, runs).T
    values = scores.by_topic.values[scores.measure]
    answered = [[topic in values[run] for topic in topics] for run in runs]
    figure = panels.draw_heat_map(runs, topics, table, answered, scores.measure, width)
    caption = f"By run and topic: {scores.about}."
    caption += " Topics from the highest mean to the lowest."
    if np.isnan(table).any():
        caption += " Hatched: not judged."
    if not all(map(all, answered)):
        caption += " –: no answer."
    return figure, caption


def _length(scores: _Scores, width: float, marks: _Marks) -> tuple[Figure, str]:
    if LENGTH not in scores.by_topic.values:
        what = "no length of answers, which judge run nuggets and keypoints count"
        raise InputError(f"{scores.paths[0]}: {what}")
    lengths = compare_scores(scores.by_topic, LENGTH, is_tested=False)["runs"]
    words = {row["run_id"]: row["mean"] for row in lengths}
    found = compare_with_length(scores.measure, scores.compared, words)
    if not found["points"]:
        raise InputError(f"{scores.paths[0]}: no run has both {scores.measure} and a length")
    more = ""
    if marks.are_plain:
        figure = panels.draw_lengths(found["points"], found["front"], scores.measure, width)
    else:
        figure, more = draw_length_levels(
            *(found, scores.by_topic, scores.measure, *marks, scores.problems, width)
        )
    caption = f"Mean {scores.about}, and mean words of an answer. "
    caption += "Line: no run is both shorter and better."
    if (rho := found["spearman"]) is not None:
        caption += f" Spearman's rank correlation {format_short_share(rho)}."
    return figure, f"{caption}{more}"


def _groups(
    results: Sequence[Path], problems: Problems, measure: str | None, by: str, width: float
) -> tuple[Figure, str]:
    (means,) = read_group_means(results, by, None if measure is None else [measure], problems)
    is_ordered = by.startswith(DOCUMENTS)
    names = [name or NO_GROUP for name in means.groups]
    values = {
        run: [
            nan if (value := get_mean(of.get(group))) is None else value for group in means.groups
        ]
        for run, (_, of) in means.runs.items()
    }
    if len(names) < (2 if is_ordered else 3):
        what = f"{len(names)} {'length' if is_ordered else by} in all topics, wanted "
        raise InputError(f"{results[0]}: {what}{'two' if is_ordered else 'three'} or more to draw")
    heads = [f"{name} ({n:,})" for name, n in zip(names, means.groups.values(), strict=True)]
    draw = panels.draw_group_lines if is_ordered else panels.draw_radar
    figure = draw(heads, values, means.measure, width)
    groups = "words of the documents of a topic" if is_ordered else f"{by} of the topic"
    text = meaning(means.measure).text.rstrip(".")
    caption = f"Mean {means.measure} ({text[:1].lower()}{text[1:]}) by {groups}, "
    caption += f"{means.n_topics:,} topics; in brackets: topics of each group."
    if len(values) > panels.MAX_LINES:
        caption += f" The first {panels.MAX_LINES} of {len(values):,} runs by their mean."
    return figure, caption


def _tau(
    results: Sequence[Path],
    problems: Problems,
    measure: str | None,
    labels: Path | None,
    width: float,
    marks: _Marks,
) -> tuple[Figure, str]:
    one, other = _pair(results, labels)
    names = _name_sides(one, other)
    if not marks.are_plain:
        return draw_tau_levels((one, other), names, *marks, problems, measure, width)
    is_of_scores = labels is None or file_kind(labels) == SCORES
    rank = _by_scores if is_of_scores else _by_labels
    points, tau, interval, name, conditions = rank(one, other, problems, measure)
    if len(points) < 2:
        raise InputError(f"{one} and {other}: {len(points)} run in common, wanted two or more")
    text = f"Kendall's tau-b {format_short_share(tau)}"
    if interval is not None:
        text += f" [{', '.join(map(format_short_share, interval))}]"
    figure = panels.draw_ranks(points, [f"{name}, {side}" for side in names], text, width)
    caption = f"{name} of {len(points):,} runs by {names[0]} and by {names[1]}. {text}. "
    if conditions:
        caption += f"Human labels: {' and '.join(conditions)}. "
    return figure, f"{caption}Dashed line: equal scores."


def _pair(results: Sequence[Path], labels: Path | None) -> tuple[Path, Path]:
    """The two inputs to compare. Raises: InputError for another number of inputs."""
    paths = [*([labels] if labels is not None else []), *results]
    if len(paths) != 2:
        what = f"wanted two results, or one and --labels; got {len(results)}"
        raise InputError(f"{' and '.join(map(str, results))}: {what}")
    return paths[0], paths[1]


class _Ranked(NamedTuple):
    """Runs with both scores, tau-b and its interval, the measure, the labels' conditions."""

    points: Sequence[tuple[str, float, float]]
    tau: float | None
    interval: tuple[float, float] | None
    measure: str
    conditions: Collection[str] = ()


def _by_scores(one: Path, other: Path, problems: Problems, measure: str | None) -> _Ranked:
    measures = agree(one, other, problems, kind=SCORES)["measures"]
    name = choose_measure(measure, measures, f"{one} and {other}")
    found = measures[name]
    points = [(run, s["human"], s["judged"]) for run, s in found["run_scores"].items()]
    interval = found["intervals"]["run_level"]["tau_b"]
    low, high = interval["low"], interval["high"]
    bounds = None if low is None or high is None else (low, high)
    return _Ranked(points, interval["value"], bounds, name)


def _by_labels(one: Path, other: Path, problems: Problems, measure: str | None) -> _Ranked:
    compared = compare_judges(one, other, problems, resamples=0)
    ranking = compared["ranking"]
    if not ranking:
        raise InputError(f"{one} and {other}: these labels give runs no scores, so no order")
    name = choose_measure(measure, ranking, f"{one} and {other}")
    points = [(row["run_id"], row["score"], row["other_score"]) for row in ranking[name]["scores"]]
    return _Ranked(points, ranking[name]["tau_b"], None, name, compared["conditions"])


def _name_sides(one: Path, other: Path) -> tuple[str, str]:
    """Who judged each: by model where these differ, else by the name of the folder or file."""
    judges = [name_judges(Result(p).judged_by) if p.is_dir() else "" for p in (one, other)]
    if not one.is_dir() and judges[1]:
        return "human labels", judges[1]
    if all(judges) and judges[0] != judges[1]:
        return judges[0], judges[1]
    return one.stem, other.stem


def find_leading_runs(compared: Mapping[str, Any]) -> list[str]:
    """The first run of a measure and those that are not significantly worse.

    Empty where nothing was tested, or over too few topics (`least_topics`).
    """
    if not compared["pairs"] or compared["least_topics"] is not None:
        return []
    first = compared["runs"][0]["run_id"]
    of_first = [p for p in compared["pairs"] if p["run_id"] == first and p["p"] is not None]
    is_worse = {p["other_run_id"]: p["is_significant"] and p["difference"] > 0 for p in of_first}
    return [first, *(run for run, worse in is_worse.items() if not worse)]
