"""Whether two results folders were measured alike, so that a difference is the systems' own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..programs.engine.manifest import config_of
from ..programs.protocols.nuggets.program import MEASURES as OF_NUGGETS
from ..programs.protocols.program import Program
from ..programs.protocols.table import chosen
from ..programs.scoring.result import Result
from ..programs.scoring.topic_scores import note_other_instruments
from ..records.reading.problems import Problems, cell

_ANYWHERE = ("endpoint", "recording")  # of a model: the same one may answer elsewhere


def measured_otherwise(new: Path, baseline: Path, measure: str) -> list[str]:
    """What differs in how a measure was made, each in a few words; [] where nothing is known to.

    Judges with their versions, prompts and models, the settings of the programs that give the
    measure, and the nuggets, where it counts those.

    Args:
        new, baseline: results folders.
    """
    now, then = Result(new).manifest, Result(baseline).manifest
    config = config_of(new)
    ran = chosen([name for name in config.program if name in then["config"]["program"]])
    of_measure = [program for program in ran if _gives(program, measure, config)]
    judges = {name for program in of_measure for name in program.judges_of(config)}
    sections = [program.name for program in of_measure]
    differences = [
        *_differing(now["judges"], then["judges"], judges),
        *_differing(now["config"], then["config"], sections),
    ]
    if measure in OF_NUGGETS:
        problems = Problems()
        note_other_instruments((baseline, new), problems)
        differences += [cell(row.what) for row in problems if row.kind == "other_nuggets"]
    return differences


def _gives(program: Program, measure: str, config: Any) -> bool:
    names = program.measures(config)
    return names is None or measure in names


def _differing(now: Mapping[str, Any], then: Mapping[str, Any], names: Any) -> Iterator[str]:
    """What differs below these names, of what both have, by its dotted name."""
    for name in sorted(now.keys() & then.keys() & set(names)):
        yield from _below(name, now[name], then[name])


def _below(name: str, now: Any, then: Any) -> Iterator[str]:
    if isinstance(now, dict) and isinstance(then, dict):
        for key in sorted(now.keys() & then.keys() - set(_ANYWHERE)):
            yield from _below(f"{name}.{key}", now[key], then[key])
    elif now != then:
        yield cell(f"{name} is {now}, was {then}", 200)
