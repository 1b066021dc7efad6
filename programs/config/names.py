"""The programs and judges that a config may name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import entry_points
from typing import Annotated, Any

from pydantic import AfterValidator, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from ...judges.table import BUILT_IN as JUDGES
from ...judges.table import judge_names
from ...records.reading.problems import did_you_mean

GROUP = "nuggetjudge.programs"  # of entry points: NAME = "module:object", a Program
_HOME = __name__.rpartition(".config")[0] + ".protocols"
# Where each is, as an entry point says it; they run, and their scores stand, in this order.
BUILT_IN = {
    "relevance": f"{_HOME}.relevance:Relevance",
    "nuggets": f"{_HOME}.nuggets.program:Nuggets",
    "support": f"{_HOME}.support:Support",
    "evidence": f"{_HOME}.evidence.program:EvidenceSearch",
    "coverage": f"{_HOME}.coverage.program:Coverage",
    "keypoints": f"{_HOME}.keypoints.program:KeyPoints",
    "items": f"{_HOME}.items:Items",
}


def program_names() -> list[str]:
    """All programs, the built-in ones first."""
    return list(dict.fromkeys((*BUILT_IN, *_installed(tuple(sys.path)))))


@cache  # looking through all that is installed takes longer than judging a few answers
def _installed(path: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the programs of other packages on the import path."""
    return tuple(entry.name for entry in entry_points(group=GROUP))


class _OneOf:
    """A name that `names` lists; the JSON Schema lists them too."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self.names = names

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "enum": list(self.names())}


def _checked_name(what: str, built_in: Iterable[str], names: Callable[[], Iterable[str]]) -> Any:
    def check(name: str) -> str:
        if name not in built_in and name not in names():  # entry points take time to look up
            wanted = ", ".join(names()) + did_you_mean(name, names())
            raise ValueError(f"there is no {what} {name!r}, wanted one of {wanted}")
        return name

    return AfterValidator(check)


ProgramName = Annotated[
    str, _checked_name("program", BUILT_IN, program_names), _OneOf(program_names)
]
JudgeName = Annotated[str, _checked_name("judge", JUDGES, judge_names), _OneOf(judge_names)]
