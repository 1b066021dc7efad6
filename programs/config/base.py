"""What all sections of a config share, and the names of tasks and judges that it may use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from ...judges.table import BUILT_IN as JUDGES
from ...judges.table import Variant, judge_names
from ...records.reading.problems import Problems, did_you_mean

SECTIONS = "nuggetjudge.settings"  # of entry points: NAME = "module:Class", a Section with defaults
JUDGE_SETTINGS = "nuggetjudge.judge_settings"  # of entry points: NAME = "module:JudgeSettings"
INPUTS = "nuggetjudge.data"  # of entry points: NAME = "module:object", an Input
Whole = Annotated[int, Field(lt=2**63)]  # what the manifest, JSON, can hold


class Flag(NamedTuple):
    """How the command line has a setting, where that does not follow from its place.

    Attributes:
        panel: the heading of `--help` that it stands under, instead of its section's name.
    """

    panel: str = ""


class Section(BaseModel):
    """Settings that are checked once: an unknown one is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


S = TypeVar("S", bound=Section)


def load_sections() -> dict[str, type[Section]]:
    """The sections that programs of other packages bring, by their names in a config.

    One that cannot be imported is left out, and `broken` says why: the error of a config that
    names it.
    """
    return _load_all(SECTIONS)


class JudgeSettings(Section):
    """Settings of one judge that choose another class in its place: fields of `judges.NAME`.

    Another package subclasses it, and names it by an entry point. Fields have defaults.

    Attributes:
        judge: the name of the judge. variants: all classes that these settings may choose.
    """

    judge: ClassVar[str]
    variants: ClassVar[tuple[Variant, ...]]

    def choose(self) -> Variant | None:
        """What these settings choose; None: the judge itself."""
        return None

    def check(self, asked_for_labels: str) -> None:
        """Raise ValueError, `FIELD: what`, for settings that do not go together.

        Args:
            asked_for_labels: the setting by which a model is asked for the labels of the scale,
                such as `verify`; "": none.
        """


@cache
def load_judge_settings() -> dict[str, type[JudgeSettings]]:
    """The settings of judges that other packages bring, by name; left out as sections are."""
    return _load_all(JUDGE_SETTINGS)


def find_variant(judge: JudgeName, settings: Mapping[str, Any]) -> Variant | None:
    """What the settings of a judge choose in its place; None: the judge itself.

    Args:
        settings: its section of a config that was checked, as a mapping.
    """
    for kind in load_judge_settings().values():
        if kind.judge == judge:
            own = {name: settings[name] for name in kind.model_fields if name in settings}
            if (variant := kind.model_construct(**own).choose()) is not None:
                return variant
    return None


def find_variant_of_scale(judge: JudgeName, labels: Sequence[str]) -> Variant | None:
    """The class that may take the place of a judge and gives these labels; None: there is none."""
    kinds = (kind for kind in load_judge_settings().values() if kind.judge == judge)
    variants = (variant for kind in kinds for variant in kind.variants)
    return next((each for each in variants if each.labels == tuple(labels)), None)


@dataclass(frozen=True)
class Input:
    """Files that a program of another package is given: a field of `data:`.

    Attributes:
        description: of the setting.
        suffixes: of the files that are taken of a folder; (): the setting names one file.
        read: what they hold by topic; in the Collection it is `given[NAME]`.
        is_made: whether a program makes it where none is given (`Program.makes`).
        query: the question of a topic, by what is given for it: a run without a file of topics
            then judges the topics of this file. None: it says none.
        texts: the texts of ids, by what is given for a topic: name of the id -> id -> text, such as
            `{"fact_id": {"f1": "..."}}`. Labels that people gave to such ids then need no texts.
    """

    description: str
    suffixes: tuple[str, ...]
    read: Callable[[Sequence[Path], Problems], Mapping[str, Any]]
    is_made: bool = False
    query: Callable[[Any], str] | None = None
    texts: Callable[[Any], Mapping[str, Mapping[str, str]]] | None = None


@cache
def load_inputs() -> dict[str, Input]:
    """The inputs that programs of other packages bring, by name; left out as sections are."""
    return _load_all(INPUTS)


broken: dict[str, str] = {}  # setting of another package that could not be imported -> why


def _load_all(group: str) -> dict[str, Any]:
    found = {}
    for entry in sorted(entry_points(group=group), key=lambda each: each.name):
        try:
            found[entry.name] = entry.load()
        except Exception as error:  # another package's code may raise anything
            broken[entry.name] = f"{entry.value} cannot be imported ({error!r})"
    return found


PROGRAMS = "nuggetjudge.programs"  # of entry points: NAME = "module:object", a Program
_HOME = __name__.rpartition(".config")[0] + ".protocols"
# Where each is, as an entry point says it; they run, and their scores stand, in this order.
BUILT_IN = {
    "relevance": f"{_HOME}.relevance:Relevance",
    "nuggets": f"{_HOME}.nuggets:Nuggets",
    "support": f"{_HOME}.support:Support",
    "groundedness": f"{_HOME}.groundedness:Groundedness",
    "evidence": f"{_HOME}.evidence:EvidenceSearch",
    "coverage": f"{_HOME}.coverage.program:Coverage",
    "keypoints": f"{_HOME}.keypoints:KeyPoints",
    "items": f"{_HOME}.items:Items",
}


# Other names that a config, a command and Python take for a program.
ALIASES = {"faithfulness": "groundedness"}


def resolve_program(name: str) -> str:
    """The name of a program that may be given by another one (ALIASES)."""
    return ALIASES.get(name, name)


def program_names() -> list[str]:
    """All programs, the built-in ones first."""
    return list(dict.fromkeys((*BUILT_IN, *_list_installed(tuple(sys.path)))))


@cache  # looking through all that is installed takes longer than judging a few answers
def _list_installed(path: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the programs of other packages on the import path."""
    return tuple(entry.name for entry in entry_points(group=PROGRAMS))


HERE = ("local", "batch")  # executors that ask from this process
EXECUTORS = "nuggetjudge.executors"  # of entry points: NAME = "module:Class", an engine.Executor


def executor_names() -> list[str]:
    """All executors, the built-in ones first."""
    return list(dict.fromkeys((*HERE, *(entry.name for entry in entry_points(group=EXECUTORS)))))


class _OneOf:
    """A name that `names` lists; the JSON Schema lists them too."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self.names = names

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "enum": list(self.names())}


def _check_name(what: str, built_in: Iterable[str], names: Callable[[], Iterable[str]]) -> Any:
    def check(name: str) -> str:
        if name not in built_in and name not in names():  # entry points take time to look up
            wanted = ", ".join(names()) + did_you_mean(name, names())
            raise ValueError(f"there is no {what} {name!r}, wanted one of {wanted}")
        return name

    return AfterValidator(check)


ProgramName = Annotated[
    str,
    AfterValidator(resolve_program),
    _check_name("program", BUILT_IN, program_names),
    _OneOf(program_names),
]
ExecutorName = Annotated[str, _check_name("executor", HERE, executor_names), _OneOf(executor_names)]
JudgeName = Annotated[str, _check_name("judge", JUDGES, judge_names), _OneOf(judge_names)]
