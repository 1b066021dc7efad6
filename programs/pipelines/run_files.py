"""The files of `judge retrieve`: a TREC run of each pipeline, and the manifest that lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ...records.judgements import Reason
from ...records.reading.problems import InputError, refused
from ...records.relevance import write_trec_run
from ...records.rows import Ranking
from ...records.writing import remove, rename, write_file
from ...retrieval.scored import Ranked
from ..engine.folders import check_writable_file, check_writable_folder
from ..engine.results import MANIFEST

PROGRAM = "retrieve"  # what the manifest calls it
RUN_FILES = (".run", ".trec", ".txt")  # names that are a file; others are a folder
MANIFEST_END = ".manifest.json"  # behind the name of a run that is written alone


@dataclass(frozen=True)
class RunFiles:
    """Where each run goes, by its name, and the manifest; `gone`: runs of before that it removes.

    They are replaced when all of them are written, and not before.
    """

    runs: Mapping[str, Path]
    manifest: Path
    gone: tuple[Path, ...] = ()

    def publish(
        self,
        rankings: Mapping[str, Mapping[str, Ranked]],
        lost: Mapping[str, Mapping[str, Reason]],
        manifest: Any,
    ) -> None:
        """Write the rankings of each run, by topic, and the manifest; remove what is gone.

        Args:
            lost: of each run the topics whose ranking could not be made, and why.

        Raises: InputError for a path that cannot be written, ids and scores that no run can hold.
        """
        text = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
        parts = {
            path: path.with_name(path.name + ".part")
            for path in (*self.runs.values(), self.manifest)
        }
        try:
            for name, path in self.runs.items():
                _write_run(parts[path], name, rankings[name], lost[name])
            write_file(parts[self.manifest], text)
            for path in (self.manifest, *self.gone):  # the manifest is of the runs before
                remove(path)
            for path, part in parts.items():
                rename(part, path)
        finally:
            for part in parts.values():
                with suppress(OSError):
                    part.unlink()


def run_files(out: Path, names: Iterable[str], inputs: Iterable[Path]) -> RunFiles:
    """The files of runs: `out` itself (.run, .trec, .txt) for one, or a folder of all.

    Raises: InputError for several runs and one file, a path that cannot be written, a file there
        that is one of the inputs, and a manifest there that is of another program.
    """
    names = list(names)
    if out.name.endswith(".gz"):
        raise InputError(f"{out}: runs are not compressed, wanted {', '.join(RUN_FILES)}")
    if is_file := out.name.endswith(RUN_FILES):
        if len(names) > 1:
            what = f"{len(names)} pipelines, wanted a folder to write their runs to"
            raise InputError(f"{out}: {what}")
        runs, manifest = {names[0]: out}, out.with_name(out.name + MANIFEST_END)
    else:
        check_writable_folder(out)
        runs, manifest = {name: out / f"{name}.run" for name in names}, out / MANIFEST
    for path in (*runs.values(), manifest):
        check_writable_file(path)
    before = _listed(manifest)
    gone = () if is_file else tuple(out / f"{name}.run" for name in before if name not in names)
    changed = {path.resolve() for path in (*runs.values(), manifest, *gone)}
    for path in inputs:
        if path.resolve() in changed:
            what = "is read by this run, which would replace or remove it"
            raise InputError(f"{path}: {what}; name another --out")
    return RunFiles(runs, manifest, gone)


def _listed(path: Path) -> list[str]:
    """The names of the runs that a manifest lists; none where there is no manifest.

    Raises: InputError for a manifest that is not of `judge retrieve`.
    """
    if not path.exists():
        return []
    try:
        manifest = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("program") != PROGRAM:
        what = "is not of judge retrieve, which would replace it"
        raise InputError(f"{path}: {what}; name another --out")
    runs = manifest.get("runs")
    return [name for name in runs if Path(name).name == name] if isinstance(runs, dict) else []


def _write_run(
    path: Path, name: str, rankings: Mapping[str, Ranked], lost: Mapping[str, Reason]
) -> None:
    rows = (
        Ranking(
            run_id=name,
            topic_id=topic,
            passage_ids=tuple(each.passage_id for each in ranked),
            scores=tuple(each.score for each in ranked),
            not_made=lost.get(topic),
        )
        for topic, ranked in rankings.items()
    )
    with refused(name):
        write_trec_run(path, rows)
