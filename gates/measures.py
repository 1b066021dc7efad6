"""Names of measures and runs: those that results hold, and those that a config will give."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..metrics.answer_scores import SUFFIX
from ..programs.analysis.compare_runs import PRIMARY
from ..programs.analysis.leaderboards import measure_groups
from ..programs.config.sections import Config
from ..programs.inputs import ORACLES
from ..programs.pipelines.closed_loop import is_closed_loop
from ..programs.protocols.glossary import meaning
from ..programs.run import load_data, programs_of
from ..records.reading.problems import InputError, did_you_mean
from ..records.rows import ScoreRow
from .bounds import Bound


def main_measures(present: Collection[str]) -> list[str]:
    """What a change is checked by where nobody says: of each program what leaderboards go by."""
    groups = [group for _, group in measure_groups(set(present))]
    chosen = [[m for m in group if m in PRIMARY] or group[:1] for group in groups]
    return [name for group in chosen for name in group if meaning(name).is_quality]


def runs_in(rows: Sequence[ScoreRow]) -> list[str]:
    """The runs that have scores; the oracles of coverage are none."""
    return list(dict.fromkeys(row.run_id for row in rows if row.run_id not in ORACLES))


def check_known(what: str, name: str, known: Collection[str], where: object) -> None:
    """Raise InputError for a name that is not known, with the one it may have been meant as."""
    if name not in known:
        there = (", ".join(known) or "none") + did_you_mean(name, known)
        raise InputError(f"{where}: no {what} {name!r}; there is {there}")


def check_beforehand(bounds: Sequence[Bound], config: Config) -> None:
    """Hold bounds against what a run with this config will score, before anything is asked.

    Raises: InputError for a measure that none of its programs gives, or a run that is not there.
        Where programs of other packages do not say what they give, or the config makes its runs
        itself, such a name is found out at the end.
    """
    check_measures_beforehand([(bound.measure, bound.spelled) for bound in bounds], config)
    if any(bound.run_id for bound in bounds) and not is_closed_loop(config):
        collection = load_data(config)
        runs = [*collection.run_ids, *{r.run_id for r in collection.candidates.values()}]
        for bound in bounds:
            if bound.run_id is not None:
                check_known("run", bound.run_id, runs, bound.spelled)


def check_measures_beforehand(named: Sequence[tuple[str, str]], config: Config) -> None:
    """Hold measures, each with the text that named it, against what the config's programs give.

    Raises: InputError for one that none gives, with the nearest name; nothing where a program of
        another package does not say what it gives.
    """
    by_program = [program.measures(config) for program in programs_of(config)]
    measures = [name for names in by_program for name in names or ()]
    suggested = [name for name in measures if not name.endswith(SUFFIX)]
    for measure, spelled in named if None not in by_program else ():
        if measure not in measures:
            check_known("measure", measure, suggested, spelled)
