"""export.json: what an AutoJudge folder holds, so that a changed or missing file is found."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ....records.reading.lines import hash_of
from ....records.reading.problems import InputError
from ....records.reading.settings import read_json_file
from ....records.writing import write_file

NAME, FORMAT = "export.json", "nuggetjudge.autojudge/1"
RESULTS, INPUTS, CACHE = "results", "inputs", "cache"


class About(BaseModel):
    """What export.json says.

    Attributes:
        name: what the names of the tables begin with. veiled: whether names are pseudonyms.
        timestamp, versions: of the run that was exported.
        unjudged_by_reason: of that run. A replay cannot know why a reply was none: there all
            of them are `error`.
        replies: how many are in the cache, by alias of the endpoint.
        files: SHA-256 of each other file, by its path in the folder.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    format: str = FORMAT
    name: str
    veiled: bool
    timestamp: str
    versions: dict[str, str]
    unjudged_by_reason: dict[str, int]
    replies: dict[str, int]
    files: dict[str, str] = {}


def files_in(folder: Path) -> dict[str, Path]:
    """All its files but export.json, by their paths in it, sorted."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in paths}
    named.pop(NAME, None)
    return named


def write_about(folder: Path, about: About) -> About:
    """Write export.json, of the files that are there now."""
    hashes = {name: hash_of(path) for name, path in files_in(folder).items()}
    whole = about.model_copy(update={"files": hashes})
    write_file(folder / NAME, whole.model_dump_json(indent=2) + "\n")
    return whole


def read_about(folder: Path) -> About:
    """Read it. Raises: InputError if the folder is no export."""
    what = "an export of judge export autojudge"
    if not (folder / NAME).is_file():
        raise InputError(
            f"{folder}: no export, {NAME} is missing; judge export autojudge writes one"
        )
    return read_json_file(folder / NAME, About, FORMAT, what)


def changed_files(folder: Path, about: About) -> list[str]:
    """What is not as it was written, in words: changed, missing and further files."""
    there = files_in(folder)
    changes = [f"{folder / name}: is not there" for name in about.files if name not in there]
    changes += [
        f"{folder / name}: is not what was exported (SHA-256)"
        for name, digest in about.files.items()
        if name in there and hash_of(there[name]) != digest
    ]
    return changes + [
        f"{folder / name}: was not exported" for name in there if name not in about.files
    ]
