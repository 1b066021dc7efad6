"""The base of config sections, and the names of tasks and judges in a config."""

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

SECTIONS = "nuggetjudge.settings"  # entry points: NAME = "module:Class", a Section with defaults
JUDGE_SETTINGS = "nuggetjudge.judge_settings"  # entry points: NAME = "module:JudgeSettings"
INPUTS = "nuggetjudge.data"  # entry points: NAME = "module:object", an Input
Whole = Annotated[int, Field(lt=2**63)]  # the largest integer of JSON in the manifest


class Flag(NamedTuple):
    """How the command line shows a setting.

    Attributes:
        panel: its heading in `--help`; default: the name of its section.
    """

    panel: str = ""


class Section(BaseModel):
    """A section of a config; an unknown setting is an error.

    Write a subclass whose fields are the settings. Each field has a default and a description.

    >>> class LengthConfig(Section):
    ...     most_words: int = Field(default=200, ge=1, description="words of a brief answer")
    >>> LengthConfig(most_words=150).most_words
    150
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


S = TypeVar("S", bound=Section)


def load_sections() -> dict[str, type[Section]]:
    """Load the sections of tasks from other packages, by name in a config.

    A section that cannot be imported is left out; `broken` keeps the reason for the error.
    """
    return _load_all(SECTIONS)


class JudgeSettings(Section):
    """Settings of one judge that select another class for it: fields of `judges.NAME`.

    Another package subclasses it and names it in an entry point. Fields have defaults.

    Attributes:
        judge: the name of the judge.
        variants: all classes that these settings may select.

    >>> class Titles(JudgeSettings):
    ...     judge, variants = "support", ()
    ...     language: str = Field(default="en", description="language of the passages")
    >>> Titles().choose() is None  # the judge itself
    True
    """

    judge: ClassVar[str]
    variants: ClassVar[tuple[Variant, ...]]

    def choose(self) -> Variant | None:
        """Return the class that these settings select; None: the judge itself."""
        return None

    def check(self, asked_for_labels: str) -> None:
        """Check that the settings can be combined; a subclass may override it.

        Args:
            asked_for_labels: a setting that asks a model for the labels of the scale, such as
                `verify`; "": none.

        Raises: ValueError for settings that cannot be combined, as `FIELD: what is wrong`.
        """


@cache
def load_judge_settings() -> dict[str, type[JudgeSettings]]:
    """Load the settings of judges from other packages, by name; see `load_sections`."""
    return _load_all(JUDGE_SETTINGS)


def find_variant(judge: JudgeName, settings: Mapping[str, Any]) -> Variant | None:
    """Return the class that a judge's settings select; None: the judge itself.

    Args:
        settings: its checked section of a config, as a mapping.
    """
    for kind in load_judge_settings().values():
        if kind.judge == judge:
            own = {name: settings[name] for name in kind.model_fields if name in settings}
            if (variant := kind.model_construct(**own).choose()) is not None:
                return variant
    return None


def find_variant_of_scale(judge: JudgeName, labels: Sequence[str]) -> Variant | None:
    """Return the variant of a judge that gives these labels; None if there is none."""
    kinds = (kind for kind in load_judge_settings().values() if kind.judge == judge)
    variants = (variant for kind in kinds for variant in kind.variants)
    return next((each for each in variants if each.labels == tuple(labels)), None)


@dataclass(frozen=True)
class Input:
    """Input files for a task of another package: a field of `data:`.

    Attributes:
        description: the description of the setting.
        suffixes: the suffixes of files to read from a folder; (): the setting names one file.
        read: reads the files; returns their content by topic, `given[NAME]` of the Collection.
        is_made: whether a task creates it if no file is given (`Program.makes`).
        query: returns the question of a topic from its content, so that a run needs no file of
            topics. None: the files have no questions.
        texts: returns the texts of ids from a topic's content: id name -> id -> text, such as
            `{"fact_id": {"f1": "..."}}`. Human labels with such ids then need no texts.

    >>> def read_facts(paths, problems):
    ...     return {path.stem: path.read_text().splitlines() for path in paths}  # by topic
    >>> Input("facts of the topics", (".txt",), read_facts).suffixes
    ('.txt',)
    """

    description: str
    suffixes: tuple[str, ...]
    read: Callable[[Sequence[Path], Problems], Mapping[str, Any]]
    is_made: bool = False
    query: Callable[[Any], str] | None = None
    texts: Callable[[Any], Mapping[str, Mapping[str, str]]] | None = None


@cache
def load_inputs() -> dict[str, Input]:
    """Load the inputs of tasks from other packages, by name; see `load_sections`."""
    return _load_all(INPUTS)


broken: dict[str, str] = {}  # setting of another package that could not be imported -> reason


def _load_all(group: str) -> dict[str, Any]:
    found = {}
    for entry in sorted(entry_points(group=group), key=lambda each: each.name):
        try:
            found[entry.name] = entry.load()
        except Exception as error:  # code of another package may raise any error
            broken[entry.name] = f"{entry.value} cannot be imported ({error!r})"
    return found


PROGRAMS = "nuggetjudge.programs"  # entry points: NAME = "module:object", a Program
_HOME = __name__.rpartition(".config")[0] + ".protocols"
# The place of each task, as in an entry point. This is the order of tasks and of their scores.
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


# Other names for a task, in configs, commands and Python.
ALIASES = {"faithfulness": "groundedness"}
# Words that people try as the name of a task -> the task to suggest.
_SUGGESTED = {
    "hallucination": "groundedness",
    "hallucinations": "groundedness",
    "completeness": "nuggets (in Python: nuggetjudge.completeness)",
}


def resolve_program(name: str) -> str:
    """Return the name of a task; resolves ALIASES."""
    return ALIASES.get(name, name)


def suggest_program(name: str, names: Iterable[str]) -> str:
    """Return the end of an error about an unknown task: the name that may be meant, or ""."""
    other = _SUGGESTED.get(name)
    return f"; did you mean {other}?" if other else did_you_mean(name, names)


def program_names() -> list[str]:
    """Return the names of all tasks, built-in tasks first."""
    return list(dict.fromkeys((*BUILT_IN, *_list_installed(tuple(sys.path)))))


@cache  # looking through installed packages takes longer than judging a few answers
def _list_installed(path: tuple[str, ...]) -> tuple[str, ...]:
    """List the names of tasks from other packages on the import path."""
    return tuple(entry.name for entry in entry_points(group=PROGRAMS))


HERE = ("local", "batch")  # executors that send requests from this process
EXECUTORS = "nuggetjudge.executors"  # entry points: NAME = "module:Class", an engine.Executor


def executor_names() -> list[str]:
    """Return the names of all executors, built-in executors first."""
    return list(dict.fromkeys((*HERE, *(entry.name for entry in entry_points(group=EXECUTORS)))))


class _OneOf:
    """A name from the list `names`, which is also in the JSON Schema."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self.names = names

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "enum": list(self.names())}


def _check_name(what: str, built_in: Iterable[str], names: Callable[[], Iterable[str]]) -> Any:
    def check(name: str) -> str:
        if name not in built_in and name not in names():  # looking up entry points is slow
            wanted = ", ".join(names()) + suggest_program(name, names())
            raise ValueError(f"unknown {what} {name!r}; wanted one of {wanted}")
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
