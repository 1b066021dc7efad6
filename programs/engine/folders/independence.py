"""Whether the systems that are judged saw this judge, its nuggets or its prompts, as far as known.

A system that was made with the instrument that judges it scores higher than its answers deserve
(docs/trust/independence.md). A run of which nothing is known is left out; it is never taken for
none.
"""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ....backends.config import ModelConfig
from ....records.reading.problems import InputError
from ...config.sections import DataConfig
from ...inputs.collection import Collection
from ..manifest import read_manifest
from ..results import MANIFEST

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
    written_by = _written_here(collection)
    names = {model.model for model in models if model.way != "lexical"}
    for run, by in written_by.items():
        if by & names and run in collection.run_ids:
            of_run = seen_by_run.setdefault(run, [])
            if "judge" not in of_run:
                of_run.append("judge")
    return seen_by_run


def dependence_notes(manifest: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each way in which runs depend on the judge, and one on what is not known."""
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


def dependence_of(folders: Sequence[Path], named: Sequence[Path] | None = None) -> list[str]:
    """The notes of several results folders, by folder where there are two or more.

    Args:
        folders: what is no folder says nothing.
        named: what to call them, in the same order.
    """
    lines = []
    for folder, name in zip(folders, named or folders, strict=True):
        prefix = f"{name}: " if len(folders) > 1 else ""
        notes = dependence_notes(read_manifest(folder) if (folder / MANIFEST).is_file() else {})
        lines += [f"{prefix}{note}" for note in notes]
    return lines


def _written_here(collection: Collection) -> dict[str, set[str]]:
    """The models that wrote the answers of a run, where a manifest of ours says so."""
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
