"""A leaderboard as a table: bars, tied ranks, and a sentence about the leader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from ....metrics.inference import LEVEL
from ....records.rows import ScoreRow
from ....views.numbers import format_number, format_share
from ....views.table import Cell, Column, Estimate, Kind, Row, Sides, Style, Styled, Table
from ...protocols.table import meaning
from ..leaderboards import Group, Leaderboard, Line

_NAMED = 3  # runs in the sentence
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def make_leaderboard_table(
    board: Leaderboard,
    judge: str = "",
    *,
    groups: Mapping[str, str] | None = None,
    has_all: bool = False,
    names_excluded: bool = True,
) -> Table:
    """Make the table of a leaderboard.

    Args:
        judge: the judge's name, for the title.
        groups: the group of each run, for an extra column; None: no column.
        has_all: whether a terminal shows measures without room in a table below.
        names_excluded: whether a line names the excluded measures.
    """
    first, *others = board.measures
    estimates = [_estimate(line, first) for line in board.lines]
    axis = _axis([each for each in estimates if each is not None])
    has_missing = any(row.n_unjudged for row in _mean_rows(board, first))
    columns = [
        Column("rank", Kind.NAME, "#"),
        Column("run", Kind.NAME),
        *([Column("group", Kind.NAME)] if groups else []),
        make_measure_column(board, first),
    ]
    if any(estimates):
        columns.append(Column("interval", Kind.BAR, "interval", axis=axis))
    if has_missing:
        columns.append(Column("bounds", Kind.INTERVAL, "if all were judged", optional=1))
    columns += [make_measure_column(board, m) for m in others]
    if first in chain.from_iterable(line.answered for line in board.lines):
        columns.append(Column("answered", Kind.RATIO))
    if has_missing:
        columns.append(Column("unjudged", Kind.RATIO))
    in_order = board.tested or [line.run_id for line in board.lines]
    ranks = {run: rank for rank, run in enumerate(in_order, 1)}
    rows = [
        Row(
            list(_cells(board, line, columns, ranks.get(line.run_id), estimate, groups or {})),
            _style(board, line),
        )
        for line, estimate in zip(board.lines, estimates, strict=True)
    ]
    about = meaning(first).text.rstrip(".")
    title = f"{board.title}   {first}: {about[:1].lower()}{about[1:]}".strip()
    aside = ", ".join(text for text in (_topics(board), judge) if text)
    notes = list(_notes(board))
    return Table(title, columns, rows, aside, _rule(board), notes, has_all, names_excluded)


def make_measure_column(board: Leaderboard, measure: str) -> Column:
    """Make the column of a measure; all but the first are optional."""
    at = list(board.measures).index(measure)
    optional = _optional(board, measure, at) if at else 0
    return Column(measure, *_find_kind(measure), optional=optional, digits=_digits(measure))


def name_judges(names: Sequence[str]) -> str:
    """Return the names of judges in a few words; "" if unknown.

    >>> name_judges(["lexical"]), name_judges(["openai/gpt-4o", "hosted_vllm/judge"])
    ('lexical (word overlap)', 'openai/gpt-4o, hosted_vllm/judge')
    """
    return ", ".join("lexical (word overlap)" if name == "lexical" else name for name in names)


def write_leader_sentence(board: Leaderboard) -> str:
    """Return a sentence: who leads, and who is not significantly worse; "" for a single run."""
    if len(board.tested) < 2:
        return ""
    leader, phrase = board.tested[0], write_group_phrase(board, board.measures[0])
    if not board.test or board.least_topics is not None:
        return f"{leader} scores highest; {phrase}" if phrase else ""
    if len(board.leading) == len(board.tested) - len(board.not_compared) > 1:
        return f"{leader} scores highest, but {phrase}"
    about = meaning(board.measures[0])
    is_better = (
        about.is_quality and not about.is_less_better
    )  # without a better direction, the first run is not a leader
    return f"{leader} {'leads' if is_better else 'is highest'}; {phrase}"


def write_group_phrase(group: Group, measure: str, worse: str = "") -> str:
    """Describe which runs do not differ significantly from the first; "" if nothing was tested.

    Args:
        worse: the word for worse runs; default: "lower" for measures without a better direction.
    """
    about, alpha = meaning(measure), format_share(1 - LEVEL)[:3]
    worse = worse or ("worse" if about.is_quality and not about.is_less_better else "lower")
    if not group.test:
        return group.untested and f"the runs were not tested: {group.untested}"
    if group.least_topics is not None:
        return f"{too_few(group.least_topics, len(group.tested))} ({group.test})"
    tied = group.leading[1:]
    if not tied:
        which = "with which it shares topics " if group.not_compared else ""
        return f"every other run {which}is significantly {worse} ({group.test}, p < {alpha})"
    how = f"({group.test}, p >= {alpha})"
    if len(group.leading) == len(group.tested) - len(group.not_compared):
        return f"no run is significantly {worse} {how}"
    if len(tied) > _NAMED:
        return f"{len(tied)} other runs are not significantly {worse} {how}"
    who = tied[0] if len(tied) == 1 else f"{', '.join(tied[:-1])} and {tied[-1]}"
    return f"{who} {'is' if len(tied) == 1 else 'are'} not significantly {worse} {how}"


def too_few(least_topics: int, n_runs: int) -> str:
    """Return text: no two runs share enough topics for a significant p."""
    return (
        f"too few shared topics to find differences between {n_runs:,} runs: "
        f"at least {least_topics:,} are needed"
    )


def _cells(
    board: Leaderboard,
    line: Line,
    columns: Sequence[Column],
    rank: int | None,
    estimate: Estimate | None,
    groups: Mapping[str, str],
) -> Iterator[Cell]:
    first = board.measures[0]
    row = line.means.get(first)
    for column in columns:
        match column.key:
            case "rank":
                yield _rank(board, line, rank)
            case "run":
                yield line.run_id
            case "group":
                yield groups.get(line.run_id)
            case "interval":
                yield estimate
            case "bounds":
                yield _bounds(row)
            case "answered":
                n = line.answered.get(first)
                yield n if n is None or n[0] == n[1] else Styled(n, Style.WARNING)
            case "unjudged":
                yield _count_unjudged(row)
            case measure:
                yield line.value(measure)


def _estimate(line: Line, measure: str) -> Estimate | None:
    value, interval = line.value(measure), line.intervals.get(measure)
    return None if value is None or interval is None else Estimate(value, *interval)


def _bounds(row: ScoreRow | None) -> tuple[float, float] | None:
    """Return the bounds of the mean if all were judged; None if all are."""
    if row is None or not row.n_unjudged or row.low is None or row.high is None:
        return None
    return row.low, row.high


def _count_unjudged(row: ScoreRow | None) -> Cell:
    """Return missing / all judgements."""
    if row is None or row.n is None or row.n_unjudged is None:
        return None
    missing = (row.n_unjudged, row.n + row.n_unjudged)
    return Styled(missing, Style.UNJUDGED) if row.n_unjudged else missing


def _rank(board: Leaderboard, line: Line, rank: int | None) -> str:
    if rank is None:
        return ""
    return "1=" if rank > 1 and line.run_id in board.leading else str(rank)


def _style(board: Leaderboard, line: Line) -> Style:
    if len(board.tested) < 2 or line.run_id not in board.tested:
        return Style.PLAIN
    if line.run_id == board.tested[0]:
        return Style.LEADING
    is_worse = bool(board.leading) and line.run_id not in {*board.leading, *board.not_compared}
    return Style.TRAILING if is_worse else Style.PLAIN


def _rule(board: Leaderboard) -> int | None:
    """Return the place of the rule: after the last run that is not significantly worse."""
    at = [i for i, line in enumerate(board.lines, 1) if line.run_id in board.leading]
    n_tested = len(board.tested) - len(board.not_compared)
    return at[-1] if len(board.leading) < n_tested and at else None


def _notes(board: Leaderboard) -> Iterator[str]:
    if sentence := write_leader_sentence(board):
        yield sentence
    if n := len(board.not_compared):
        names = ", ".join(board.not_compared[:_NAMED]) + (
            f" and {n - _NAMED:,} more" * (n > _NAMED)
        )
        yield f"not tested, no topic shared with {board.tested[0]}: {names}"
    if unanswered_and_missing := Sides(_count_unanswered(board), _missing(board)):
        yield unanswered_and_missing


def _count_unanswered(board: Leaderboard) -> str:
    """Return a note on unanswered topics and their effect on scores."""
    counts = [line.answered.get(board.measures[0], (0, 0)) for line in board.lines]
    lost = [total - n for n, total in counts if n < total]
    if not lost:
        return ""
    scored = "not in the mean" if board.is_of_answered else "scored 0"
    if len(lost) > 1:
        return f"! {_in_words(len(lost))} runs left topics unanswered, {scored}"
    return f"! {_in_words(lost[0])} topic{'s' * (lost[0] != 1)} unanswered, {scored}"


def _in_words(n: int) -> str:
    return _WORDS[n] if n < len(_WORDS) else f"{n:,}"


def _missing(board: Leaderboard) -> str:
    """Return a note on missing judgements of the first measure; "" if unknown."""
    rows = _mean_rows(board, board.measures[0])
    n_missing = sum(row.n_unjudged or 0 for row in rows)
    n = sum(row.n or 0 for row in rows) + n_missing
    if not n:
        return ""
    of = f"{n_missing:,} of {n:,} judgement{'s' * (n != 1)} missing"
    return f"{of}; intervals use the others" if n_missing else of


def _mean_rows(board: Leaderboard, measure: str) -> list[ScoreRow]:
    return [row for line in board.lines if (row := line.means.get(measure)) is not None]


def _topics(board: Leaderboard) -> str:
    totals = {n for line in board.lines for _, n in line.answered.values()}
    n = max(totals, default=0)
    return f"{format_number(n, 0)} topic{'s' * (n != 1)}" if n else ""


def _find_kind(measure: str) -> tuple[Kind, str]:
    if measure == "length":
        return Kind.NUMBER, "words"
    kind = Kind.NUMBER if meaning(measure).unit else Kind.SHARE
    return kind, measure.replace("_", " ") if len(measure) > len("V_strict") else measure


def _optional(board: Leaderboard, measure: str, at: int) -> int:
    return 1 if measure == "length" or at < board.n_official else at + 1


def _digits(measure: str) -> int:
    return 0 if measure == "length" or meaning(measure).unit else 3


def _axis(estimates: Sequence[Estimate]) -> tuple[float, float]:
    low = min((each.low for each in estimates), default=0.0)
    high = max((each.high for each in estimates), default=1.0)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
