"""Whether a run may take the place of the results that are in its folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ....judges.table import judge_names
from ....records.reading.fields import shorten
from ....records.reading.lines import hash_of
from ....records.reading.problems import InputError
from ...config.sections import Config
from ..manifest import config_of, read_manifest
from ..results import MANIFEST

# Of `data`; the runs and topics that they hold are compared instead.
_BY_IDS = ("runs", "topics", "retrieval")
_GROWING = ("data.passages", "data.ratings")  # more files only add to what can be judged
_MADE = ("data.nuggets", "data.questions", "data.keypoints", "data.rubrics")  # where none is given
_ANYWHERE = ("endpoint", "recording")  # of a model: the same one may answer elsewhere


def check_replaced(config: Config, data: Mapping[str, Any] | None = None) -> None:
    """Raise InputError if the folder holds results that this run would take away, unless forced.

    A run that has all the programs, runs and topics of the one before, by the same judges and
    settings, goes on: files of the same names may hold something else now, and there may be more
    of everything.

    Args:
        data: what the manifest will say of it, as far as it is known: ids that are not there yet
            are not compared.
    """
    folder = config.run.out
    if config.run.force or not (folder / MANIFEST).is_file():
        return
    manifest = read_manifest(folder)
    if gone := [name for name in manifest["config"]["program"] if name not in config.program]:
        before = manifest["config"]["program"]
        what = f"holds results of {gone[0]}, which this run would remove"
        together = ",".join(dict.fromkeys((*before, *config.program)))
        also = f"run {together} together, or add --force"
        raise InputError(f"{folder}: {what}; name another --out, {also}")
    if what := next(_differences(config, folder, manifest, data), ""):
        raise InputError(
            f"{folder}: holds results of another run ({what}); "
            "name another --out, or add --force to replace them"
        )


def _differences(
    config: Config, folder: Path, manifest: Mapping[str, Any], data: Mapping[str, Any] | None
) -> Iterator[str]:
    """What this run would not have of the one before."""
    try:
        before = config_of(folder)
    except InputError:
        yield "its config is not of this version"
        return
    judges = [name for name in manifest.get("judges", {}) if name in judge_names()]
    then, now = dict(_settings(before, judges)), dict(_settings(config, judges))
    files = _Files(manifest)
    has_more = bool(set(config.program) - set(before.program))
    for name in dict.fromkeys((*then, *now)):
        one, other = then.get(name), now.get(name)
        if has_more and one is None and name.startswith("data.") and name not in _MADE:
            continue  # another program reads it
        if one != other and not files.are_same(name, one, other):
            yield f"{name}: {_shown(one)} then, {_shown(other)} now"
    for what in ("run", "topic"):
        was, ids = manifest["data"].get(f"{what}_ids", ()), (data or {}).get(f"{what}_ids")
        if ids is not None and (gone := sorted(set(was) - set(ids))):
            more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
            yield f"its {what} {shorten(gone[0], 60)}{more} of {len(was):,} would go"


def _settings(config: Config, judges: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Every setting that says what is judged, how and by whom, by its dotted name."""
    out = ("run", "models", "judges", "program")
    for name, section in config:
        if name not in out:
            yield from _leaves(name, section, _BY_IDS if name == "data" else ())
    yield "run.explain", config.run.explain
    for judge in judges:
        yield from _leaves(f"judges.{judge}", config.judge(judge), ("model",))
        for index, (_, model) in enumerate(config.models_of(judge)):
            more = f".{index + 1}" if index else ""
            yield f"judges.{judge}.model{more}.recording", model.recording
            for name, value in model.identity().items():
                if name not in _ANYWHERE:
                    yield f"judges.{judge}.model{more}.{name}", value


def _leaves(name: str, value: Any, but: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    if isinstance(value, BaseModel):
        for inner, setting in value:
            if inner not in but:
                yield from _leaves(f"{name}.{inner}", setting)
    else:
        yield name, value


class _Files:
    """Compares paths of a manifest's config with those of another."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._hashes: Mapping[str, str] = manifest.get("inputs", {})
        self._directory = manifest.get("made_in", {}).get("directory", "")

    def are_same(self, name: str, then: Any, now: Any) -> bool:
        """Whether these are the same files, by their paths or what they hold."""
        if name in _GROWING:
            return all(any(self._is_same(a, b) for b in now) for a in then)
        return self._is_same(then, now)

    def _is_same(self, then: Any, now: Any) -> bool:
        if not (isinstance(then, Path) and isinstance(now, Path)):
            return bool(then == now)
        if os.path.realpath(os.path.join(self._directory, then)) == os.path.realpath(now):
            return True
        return now.is_file() and self._hashes.get(str(then)) == hash_of(now)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return shorten(value if isinstance(value, str) else str(value), 60)
