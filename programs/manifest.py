"""manifest.json: what was run, on what, by which judges, and what came of it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from ..backends.budget import Budget
from ..records.problems import InputError
from .collection import Collection
from .config import Config
from .results import Results

NAME = "manifest.json"
_READ_BACK = {
    "fingerprint", "config", "data", "cells_without_bank", "topics_without_nuggets", "unjudged",
    "judged", "share_missing", "limit_reached",
}  # fmt: skip
_PACKAGES = ("nuggetjudge", "dspy", "litellm", "pydantic", "aiohttp", "diskcache", "ir-measures")


def fingerprint_of(config: Config, collection: Collection) -> str:
    """Hash of the inputs and of every setting that can change a result."""
    settings = config.model_dump(mode="json", exclude={"run"}) | {"limit": config.run.limit}
    text = orjson.dumps([settings, input_hashes(config, collection)], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()


def input_hashes(config: Config, collection: Collection) -> dict[str, str]:
    """SHA-256 of each input file."""
    data = config.data
    named = (data.topics, data.candidates, data.qrels, data.nuggets, *data.passages)
    files = [path for path in named if path is not None] + collection.run_files
    found = {}
    for path in files:
        with path.open("rb") as stream:
            found[str(path)] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def is_finished(folder: Path, fingerprint: str) -> bool:
    """Whether this very run has been finished in this folder."""
    path = folder / NAME
    return path.is_file() and read_manifest(folder).get("fingerprint") == fingerprint


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a results folder. Raises: InputError if there is none or it is broken."""
    path = folder / NAME
    try:
        manifest: dict[str, Any] = orjson.loads(path.read_bytes())
    except OSError:
        raise InputError(f"{folder}: no results folder, {NAME} is missing") from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}:1: not JSON ({error})") from None
    if not isinstance(manifest, dict) or not manifest.keys() >= _READ_BACK:
        raise InputError(f"{path}: not written by this version; name another folder (run.out)")
    return manifest


def config_of(folder: Path) -> Config:
    """The config of a finished run. Raises: InputError if this version cannot read it."""
    try:
        return Config.model_validate(read_manifest(folder)["config"])
    except ValidationError:
        raise InputError(f"{folder / NAME}: its config is not of this version") from None


def write_manifest(
    folder: Path,
    *,
    config: Config,
    collection: Collection,
    results: Results,
    judges: dict[str, Any],
    budget: Budget,
    fingerprint: str,
    seconds: float,
) -> None:
    """Write manifest.json, the last file of a run. It holds no key: keys are in no config."""
    usage = budget.usage
    manifest = {
        "fingerprint": fingerprint,
        "versions": {name: _version(name) for name in _PACKAGES}
        | {"python": platform.python_version()},
        "config": config.model_dump(mode="json", by_alias=True),
        "inputs": input_hashes(config, collection),
        "judges": judges,
        "answered_by": sorted(results.answered_by),
        "data": {
            "topic_ids": list(collection.topics),
            "run_ids": collection.run_ids,
            "topics": len(collection.topics),
            "runs": len(collection.run_ids),
            "answers": collection.n_answers,
            "sentences": collection.n_sentences,
            "passages": len(collection.passages),
        },
        "cells_without_bank": results.cells_without_bank,
        "topics_without_nuggets": results.topics_without_nuggets,
        "problems": collection.problems.counts(),
        "counts": dict(sorted(results.counts.items())),
        "judged": dict(results.n_judged),
        "unjudged": dict(results.n_unjudged),
        "unjudged_by_reason": dict(results.reasons),
        "share_missing": results.share_missing,
        "limit_reached": budget.reached or None,
        "tokens": dict(results.tokens),
        "this_time": {
            "requests": usage.requests,
            "cache_hits": usage.cache_hits,
            "tokens": usage.tokens,
            "cost": usage.known_cost,
            "seconds": round(seconds, 3),
        },
    }
    part = folder / f"{NAME}.part"
    part.write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    part.replace(folder / NAME)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
