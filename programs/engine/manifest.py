"""manifest.json: the inputs, settings, judges and results of a run."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Collection as Names
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import (
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from typing_extensions import TypedDict

from ...backends.budget import Usage
from ...backends.config import ModelConfig
from ...judges.instruments.files import read_instrument
from ...records.reading.fields import shorten
from ...records.reading.lines import hash_file
from ...records.reading.problems import InputError, Problems
from ...records.reading.settings import Keys, NotYaml, find_line, plain_error, read_yaml
from ..config.judge_sections import JudgeConfig, answering
from ..config.reading import config_before
from ..config.sections import Config, DataConfig
from ..inputs import RETRIEVAL_FILES, Collection, expand_runs, find_given_files
from .results import MANIFEST, Results

if TYPE_CHECKING:
    from .session import Session


STARTED = "journal/started.json"
# Distributions, with their modules, whose version can change a result or how one is reached.
_PACKAGES = {
    **{name: name for name in ("nuggetjudge", "dspy", "litellm", "pydantic", "aiohttp")},
    **{name: name for name in ("diskcache", "numpy", "scipy", "bm25s", "vllm")},
    "ir-measures": "ir_measures",
}


class _DataFiles(TypedDict, total=False):
    candidates: StrictStr | None


class _Settings(TypedDict, total=False):
    program: list[StrictStr]
    data: _DataFiles
    support: dict[str, Any]
    coverage: dict[str, Any]
    run: dict[str, Any]


class _Data(TypedDict, total=False):
    topic_ids: list[StrictStr]
    run_ids: list[StrictStr]
    failed: list[tuple[StrictStr, StrictStr, StrictStr]]


class _MadeIn(TypedDict):
    directory: StrictStr
    folder: StrictStr


class _Always(TypedDict):
    fingerprint: StrictStr
    config: _Settings
    data: _Data
    unjudged: dict[str, StrictInt]
    judged: dict[str, StrictInt]
    share_missing: StrictFloat
    limit_reached: StrictStr | None


class _ReadBack(_Always, total=False):
    """The values that are read from a manifest again, including all of `_Always`."""

    inputs: dict[str, StrictStr]
    files: dict[str, StrictStr]
    made_in: _MadeIn
    partial: bool
    judges: dict[str, Any]
    labels: dict[str, dict[str, StrictInt]]
    calls: dict[str, StrictInt]
    tokens: dict[str, StrictInt]
    tokens_by: dict[str, dict[str, StrictInt]]
    this_time: dict[str, StrictFloat | None]
    independence: dict[str, list[StrictStr]]
    agents: dict[str, dict[str, StrictInt | dict[str, StrictInt]]]
    # Notes of programs.
    cells_without_bank: list[tuple[StrictStr, StrictStr] | tuple[StrictStr, StrictStr, StrictInt]]
    cells_without_key_points: list[tuple[StrictStr, StrictStr]]
    topics_without_nuggets: list[StrictStr]
    topics_without_bank: list[StrictStr]
    topics_without_questions: list[StrictStr]
    topics_without_key_points: list[StrictStr]
    topics_with_failed_key_points: list[StrictStr]
    topics_with_missing_grades: dict[str, StrictInt]


# Notes of other packages' programs, by the beginning of their names.
_NOTES: Mapping[str, Any] = {
    "topics_with": dict[str, list[StrictStr]],
    "cells_with": dict[str, list[tuple[StrictStr, StrictStr]]],
}


def make_fingerprint(config: Config, inputs: Mapping[str, str]) -> str:
    """Hash the inputs and every setting that can change a result."""
    of_run = {"limit": config.run.limit, "explain": config.run.explain}
    settings = config.model_dump(mode="json", exclude={"run"}) | of_run
    text = orjson.dumps([settings, inputs], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()


def input_files(config: Config) -> list[Path]:
    """List every file that a run reads."""
    data = config.data
    named = (data.topics, data.candidates, data.qrels, data.nuggets, data.items, *data.passages,
             data.questions, data.reference, data.pool, data.keypoints, data.documents,
             *data.ratings)  # fmt: skip
    start = config.nuggets.start
    named += (config.generate.instructions, config.evidence.labels)
    named += (start if isinstance(start, Path) else None,)
    recordings = (model.file for model in config.models.values())
    sections = [one for judge in config.judges.values() for one in (judge, *answering(judge))]
    of_judges = [path for judge in sections for path in _list_files(judge)]
    files = [p for p in (*named, config.items.own, *recordings, *of_judges) if p is not None]
    retrieval = expand_runs(data.retrieval, suffixes=RETRIEVAL_FILES)
    given = [path for paths in find_given_files(data).values() for path in paths]
    return files + expand_runs(data.runs) + retrieval + given


def _list_files(judge: JudgeConfig) -> list[Path]:
    """List the files that a judge's section names, and the files that its prompt file names."""
    texts = judge.instructions if isinstance(judge.instructions, Path) else None
    cascade = judge.cascade.state if judge.cascade is not None else None
    named = (judge.state, judge.demonstrations, judge.prompt, texts, cascade)
    files = [path for path in named if path is not None]
    if judge.prompt is not None:
        with suppress(InputError):  # opening the judges complains
            files += read_instrument(judge.prompt).files[1:]
    return files


def input_hashes(config: Config) -> dict[str, str]:
    """Hash each input file that can be read; the readers report the others."""
    hashes = {}
    for path in input_files(config):
        with suppress(InputError):
            hashes[str(path)] = hash_file(path)
    return hashes


def check_unchanged(config: Config, inputs: Mapping[str, str]) -> None:
    """Raise InputError if a file, which is read more than once, changed after it was hashed."""
    now = input_hashes(config)
    for path in dict.fromkeys((*inputs, *now)):
        if now.get(path) != inputs.get(path):
            raise InputError(f"{path}: changed while the run went on; start it again")


def check_not_input(config: Config, names: Container[str]) -> None:
    """Raise InputError if a file of the folder that will be written is an input."""
    folder = config.run.out
    for path in input_files(config):
        if path.name in names and path.resolve().parent == folder.resolve():
            raise InputError(
                f"{path}: is read by this run, which writes that file; name another --out"
            )


def is_finished(folder: Path, fingerprint: str, program: str | None = None) -> bool:
    """Return whether this very run, or build by `program`, is finished in this folder."""
    path = folder / MANIFEST
    return path.is_file() and read_manifest(folder, program).get("fingerprint") == fingerprint


def read_manifest(folder: Path, program: str | None = None) -> dict[str, Any]:
    """The manifest of a results folder, or of the collection that `program` made.

    Raises: InputError if there is none, it is broken or of the other kind.
    """
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = orjson.loads(path.read_bytes())
    except OSError:
        raise InputError(
            f"{folder}: no results folder, {MANIFEST} is missing{_how(folder)}"
        ) from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}:1: not JSON ({error})") from None
    if isinstance(manifest, dict):
        _rename_old(manifest)
    kind = manifest.get("program") if isinstance(manifest, dict) else program
    if kind != program:
        raise InputError(f"{folder}: {_kind(kind)}, not {_kind(program)}; name another folder")
    if not isinstance(manifest, dict) or not manifest.keys() >= _Always.__required_keys__:
        raise InputError(f"{path}: not written by this version; name another folder (run.out)")
    _check_values(path, manifest)
    return manifest


def _rename_old(manifest: dict[str, Any]) -> None:
    """Rename fields of an earlier version to their current names."""
    of_data = manifest.get("data")
    for values in (manifest, of_data if isinstance(of_data, dict) else {}):
        for old in tuple(values):
            name = {"not_made": "failed", "left_out": "excluded"}.get(old, old)
            if (name := name.replace("_with_unmade_", "_with_failed_")) != old:
                values.setdefault(name, values.pop(old))


def _how(folder: Path) -> str:
    """Say what to do about a folder without a manifest."""
    if not (folder / STARTED).is_file():
        return ""
    return "; its run was stopped: the same `judge run` goes on, `judge score` reads what there is"


def _check_values(path: Path, manifest: Mapping[str, Any]) -> None:
    """Raise InputError, with the line, for a value of an unexpected type."""
    try:
        _read_back().validate_python(manifest)
        for name in manifest.keys() - _ReadBack.__annotations__.keys():
            for beginning in _NOTES:
                if name.startswith(beginning):
                    _note(beginning).validate_python({name: manifest[name]})
    except ValidationError as error:
        at, what = plain_error(error.errors(include_url=False)[0])
        where = f"{path}:{find_line(at, _find_lines(path))}"
        raise InputError(f"{where}: {'.'.join(at)}: {shorten(what, 200)}") from None


@cache  # making one takes longer than all that it checks
def _read_back() -> TypeAdapter[Any]:
    return TypeAdapter(_ReadBack)


@cache
def _note(beginning: str) -> TypeAdapter[Any]:
    return TypeAdapter(_NOTES[beginning])


def _find_lines(path: Path) -> Mapping[Keys, int]:
    """The line of each value, for JSON is YAML but for a little: a tab, a key without a space."""
    try:
        return read_yaml(path.read_text(encoding="utf-8"))[1]
    except NotYaml:
        return {}


def read_folder_config(folder: Path) -> Config:
    """Read the config of a finished run. Raises: InputError if this version cannot read it."""
    try:
        return config_before(read_manifest(folder)["config"])
    except ValidationError:
        raise InputError(f"{folder / MANIFEST}: its config is not of this version") from None


def describe_data(collection: Collection) -> dict[str, Any]:
    """Describe the data of a run for manifest.json."""
    return {
        "topic_ids": list(collection.topics),
        "run_ids": collection.run_ids,
        "topics": len(collection.topics),
        "runs": len(collection.run_ids),
        "answers": collection.n_answers,
        "failed": [[*cell, reason] for cell, reason in collection.failed.items()],
        "sentences": collection.n_sentences,
        "passages": len(collection.passages),
    }


def find_place(folder: Path) -> dict[str, str]:
    """Return the folders that help to find a run's inputs again: absolute, links followed."""
    return {"directory": os.path.realpath("."), "folder": os.path.realpath(folder)}


def make_manifest(
    session: Session,
    results: Results,
    inputs: Mapping[str, str],
    data: dict[str, Any],
    problems: Problems,
    *,
    began: float,
    before: Usage | None = None,
) -> dict[str, Any]:
    """What manifest.json says, with all that is left to write before it.

    It holds no key: keys are in no config.

    Args:
        data: what it says of the data.
        began: by the monotonic clock.
        before: what others had spent of the budget; None: nothing.

    Raises: InputError if an input has changed since it was hashed.
    """
    results.list_problems(problems)
    config, budget = session.config, session.budget
    check_unchanged(config, inputs)
    agents = {name: of.as_dict() for name, of in results.agents.items()}
    return {
        "fingerprint": make_fingerprint(config, inputs),
        "versions": _versions(),
        "config": config.model_dump(mode="json", by_alias=True),
        "inputs": inputs,
        "made_in": find_place(config.run.out),
        "judges": session.judge_set.identities(),
        "answered_by": sorted(results.tokens_by),
        "data": data,
        **results.notes,
        **({"agents": agents} if agents else {}),
        **results.figures(problems),
        "limit_reached": budget.reached or None,
        "calls": dict(results.n_calls),
        "tokens": dict(results.tokens),
        "tokens_by": {name: dict(counts) for name, counts in sorted(results.tokens_by.items())},
        "this_time": this_time(budget.usage, before, began),
    }


def this_time(usage: Usage, before: Usage | None, began: float) -> dict[str, Any]:
    """Return the cost of a command for its manifest; see `make_manifest`."""
    usage = usage.since(before or Usage())
    return {
        "requests": usage.requests,
        "cache_hits": usage.cache_hits,
        "tokens": usage.tokens,
        "cost": usage.known_cost,
        "seconds": round(time.monotonic() - began, 3),
    }


def _kind(program: object) -> str:
    return "results of judge run" if program is None else f"a collection of judge {program}"


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that this process has used."""
    versions = {"python": platform.python_version()}
    for name, module in _PACKAGES.items():
        if module in sys.modules:
            with suppress(importlib.metadata.PackageNotFoundError):
                versions[name] = _version(name)
    return versions


_version = cache(importlib.metadata.version)  # which reads and parses a file of the package


KEY = "independence"  # of the manifest: what each run saw, by run; of others it is not known
_GENERATE = "generate"  # the program whose manifest stands above answers that we wrote
_SHOWN = 3
_DESCRIPTIONS = {
    "judge": "this judge",
    "nuggets": "its nuggets",
    "prompts": "its prompts",
}


def independence(
    data: DataConfig, collection: Collection, models: Names[ModelConfig]
) -> dict[str, list[str]]:
    """What the system of each run saw: as the config says, else as our own manifests do.

    A run that `judge generate`, or a closed loop, wrote with a model that judges it now has seen
    the judge. A pattern that fits no run is listed among the problems.
    """
    seen_by_run: dict[str, list[str]] = {}
    for pattern, seen in data.independence.items():
        runs = [run for run in collection.run_ids if fnmatchcase(run, pattern)]
        if not runs:
            what = f"data.independence names {pattern!r}, and there is no such run"
            collection.problems.keep(pattern, 0, "no_such_run", what)
        for run in runs:
            seen_by_run.setdefault(run, list(seen))
    written_by = _find_writers(collection)
    names = {model.model for model in models if model.way != "lexical"}
    for run, by in written_by.items():
        if by & names and run in collection.run_ids:
            of_run = seen_by_run.setdefault(run, [])
            if "judge" not in of_run:
                of_run.append("judge")
    return seen_by_run


def dependence_notes(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Write a sentence for each way in which runs depend on the judge, and one for unknown runs."""
    seen_by_run: Mapping[str, list[str]] = manifest.get(KEY, {})
    runs = manifest.get("data", {}).get("run_ids", [])
    for name, description in _DESCRIPTIONS.items():
        saw = [run for run in runs if name in seen_by_run.get(run, ())]
        if saw:
            named = ", ".join(saw[:_SHOWN]) + (
                f" and {len(saw) - _SHOWN} more" * (len(saw) > _SHOWN)
            )
            what = f"Made with {description}: {named}."
            yield f"{what} These scores are not independent of the judge."
    unknown = [run for run in runs if run not in seen_by_run]
    if seen_by_run and unknown:
        n = f"{len(unknown):,} of {len(runs):,} runs"
        yield f"Not known of {n}: whether their systems saw this judge, its nuggets or prompts."


def note_dependence(folders: Sequence[Path], named: Sequence[Path] | None = None) -> list[str]:
    """The notes of several results folders, by folder where there are two or more.

    Args:
        folders: other paths are ignored.
        named: what to call them, in the same order.
    """
    lines = []
    for folder, name in zip(folders, named or folders, strict=True):
        prefix = f"{name}: " if len(folders) > 1 else ""
        notes = dependence_notes(read_manifest(folder) if (folder / MANIFEST).is_file() else {})
        lines += [f"{prefix}{note}" for note in notes]
    return lines


def _find_writers(collection: Collection) -> dict[str, set[str]]:
    """Return the models that wrote the answers of each run, if one of our manifests names them."""
    models_by_run: dict[str, set[str]] = {}
    for folder in {path.resolve().parent.parent for path in collection.run_files}:
        try:
            manifest = read_manifest(folder, _GENERATE)
        except InputError:
            continue  # none of ours, or not of this version: nothing is known
        models = {
            identity["model"]["model"]
            for identity in manifest.get("judges", {}).values()
            if isinstance(identity, dict) and isinstance(identity.get("model"), dict)
        }
        for run in manifest["data"].get("run_ids", ()):
            models_by_run.setdefault(run, set()).update(models)
    return models_by_run


MIN_LABELS = 15  # labels; of fewer, equal ones may be chance


def constant_judges(manifest: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on each judge, or member of one, of which all of 15 or more labels are equal.

    Args:
        manifest: of a results folder; its `labels` have a dot between a judge and its member.
    """
    for name, counts in manifest.get("labels", {}).items():
        if len(counts) == 1 and (n := sum(counts.values())) >= MIN_LABELS:
            judge, _, member = name.partition(".")
            who = f"the {judge}" if not member else f"member {member} of the {judge}"
            (label,) = counts
            what = f"All {n:,} labels of {who} are `{label}`"
            yield f"{what}. If you did not expect that, check the judge"
