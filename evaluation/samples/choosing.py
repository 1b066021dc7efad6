"""Which programs or judge: those that were named, or all that samples have something for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from ...judges.table import item_judges
from ...programs.config.base import program_names
from ...records.reading.problems import InputError, did_you_mean
from ...records.writing import write_file

if TYPE_CHECKING:
    from ...judges import OwnJudge

Program: TypeAlias = "str | Path | Sequence[str] | OwnJudge | None"
Judge: TypeAlias = "str | Path | OwnJudge"

ITEMS = "items"
# By program the files of which it needs one, and the fields of samples that give them.
_NEEDS = {
    "relevance": (("candidates",), "contexts"),
    "nuggets": (("nuggets", "candidates"), "nuggets, or contexts to make them from"),
    "support": (("passages",), "contexts"),
    "evidence": (("passages",), "contexts"),
    "coverage": (("questions", "reference"), "questions, or a reference to make them from"),
    "keypoints": (("keypoints",), "key_points"),
}


def chosen(program: Program, judge: Judge | None) -> tuple[list[str], Judge | None]:
    """Programs, [] for those that fit; or the program of items, and its judge.

    Raises: InputError for a name of neither.
    """
    if program is None and judge is None:
        return [], None
    if hasattr(program, "definition"):
        return [ITEMS], program  # type: ignore[return-value]
    listed = [program] if isinstance(program, str | Path) else list(program or [ITEMS])
    names = [part.strip() for each in listed for part in str(each).split(",")]
    if judge is not None:
        if names != [ITEMS]:
            raise InputError(f"judge: is of the program {ITEMS}, not of {', '.join(names)}")
        return names, judge
    if names == [ITEMS]:
        what = "name the judge alone, or beside it (judge=)"
        raise InputError(f"program: {ITEMS} are labelled by one judge; {what}")
    if len(names) == 1 and _is_judge(names[0]):
        return [ITEMS], names[0]
    for name in names:
        if name not in program_names():
            choices = [*program_names(), *item_judges()]
            what = (
                f"no program or judge {name!r}, wanted one of {', '.join(choices)}, or a YAML file"
            )
            raise InputError(f"program: {what}{did_you_mean(name, choices)}")
    return names, None


def judge_file(judge: Judge, folder: Path) -> str:
    """The name or file of a judge; one that was made in Python is written there."""
    if isinstance(judge, str | Path):
        return str(judge)
    definition = getattr(judge, "definition", None)
    if definition is None:
        what = "wanted its name, a YAML file or an OwnJudge"
        raise InputError(f"judge: is {type(judge).__name__}, {what}")
    path = folder / "judge.yaml"  # JSON is YAML
    about = definition.model_dump(mode="json", by_alias=True, exclude_none=True)
    write_file(path, orjson.dumps(about, option=orjson.OPT_INDENT_2))
    return str(path)


def fitting(data: Mapping[str, Any]) -> list[str]:
    """The programs that these files have something for, by the names of `data:`."""
    programs = ["nuggets"] if data.keys() & {"nuggets", "candidates"} else []
    programs += ["support"] if "passages" in data else []
    # A reference alone asks for many judgements, so only where there is nothing else.
    programs += ["coverage"] if "questions" in data else []
    programs += ["keypoints"] if "keypoints" in data else []
    return programs or (["coverage"] if "reference" in data else [])


def check_needs(programs: Sequence[str], data: Mapping[str, Any]) -> None:
    """Raise InputError for a program without what it judges by, naming the field."""
    for name in programs:
        files, fields = _NEEDS.get(name, ((), ""))
        if files and not data.keys() & set(files):
            raise InputError(f"samples: {name} needs {fields}, and no sample has any")


def read_by(programs: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """The files that these programs read: candidates only where needed, as texts take memory.

    Those of programs of other packages are all of them.
    """
    ours = not set(programs) - _NEEDS.keys()
    is_read = not ours or bool({"nuggets", "relevance"} & set(programs))
    return {name: path for name, path in data.items() if name != "candidates" or is_read}


def anything() -> str:
    """The fields by which answers can be judged."""
    return "contexts, nuggets, key_points, questions or a reference"


def defaults(programs: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that fit samples: what of a bank is missing is made of contexts; of coverage all
    questions count, and what a sample names is its context.
    """
    settings: dict[str, Any] = {"nuggets.fill": True} if "nuggets" in programs else {}
    if "coverage" in programs:
        settings["coverage.answerable"] = "all"
        if "passages" in data:
            settings["coverage.contexts"] = "answers"
    return settings


def _is_judge(name: str) -> bool:
    if name.endswith((".yaml", ".yml")):
        return True
    return name not in program_names() and name in item_judges()
