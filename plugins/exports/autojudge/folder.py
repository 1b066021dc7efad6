"""Writes an AutoJudge folder: the run again, from its kept replies, on copies of its inputs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ....backends.offline import StoredReplies, write_replies
from ....programs.analysis.traces.replay import kept_replies, results_in, run_again
from ....programs.config.sections import Config
from ....programs.engine.folders.inputs import inputs_of, relocated
from ....programs.engine.manifest import fingerprint_of, input_hashes, read_manifest
from ....programs.engine.panel import budget_of, open_cache
from ....programs.engine.results import MANIFEST, pretty
from ....programs.run import judge_collection
from ....programs.scoring.result import Result
from ....records.reading.problems import InputError
from ....records.writing import own_folder, rename, write_file, writing
from .about import CACHE, INPUTS, RESULTS, About, files_in, write_about
from .inputs import copy_inputs
from .network import no_network
from .panel import EarlierRun, ReplayPanel, with_endpoints, without_address
from .tables import write_tables
from .veil import Veil

_COST = ("calls", "tokens", "tokens_by", "this_time", "answered_by")  # of the run, not of a replay


class Exported(NamedTuple):
    """What was written: the tables, replies by alias, bytes by part, and how many were unjudged.

    `dropped`: fields of metadata that a veil left out. `leaks`: places where a name is still a
    whole value.
    """

    tables: list[str]
    replies: dict[str, int]
    sizes: dict[str, int]
    unjudged: int
    dropped: Mapping[str, int]
    leaks: list[str]


def write_folder(
    results: Path, out: Path, *, name: str | None = None, veil: Path | None = None
) -> Exported:
    """Write a finished run as a folder that auto-judge tools read and that replays by itself.

    Args:
        out: a folder that is not there yet, or is empty.
        name: what the names of the tables begin with; None: the programs.
        veil: a key file, made where there is none: names of runs and teams become pseudonyms.

    Raises: InputError where the results do not follow from the kept replies, an input has changed
        or cannot be copied, and for an `out` that is in use.
    """
    _check_out(results, out, veil)
    manifest, inputs = read_manifest(results), inputs_of(results)
    before = inputs.checked("there is no whole export without it")
    cover = None if veil is None else Veil.of(veil)
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        whole = own_folder(work / "whole")
        exported = _written(results, manifest, before, whole, work / RESULTS, name, cover)
        if cover is not None and veil is not None:
            cover.write(veil)
        rename(whole, out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return exported


def _written(
    results: Path,
    manifest: Mapping[str, Any],
    before: Config,
    out: Path,
    again: Path,
    name: str | None,
    veil: Veil | None,
) -> Exported:
    """The whole export, in a folder that gets its name when this returns."""
    if veil is not None:
        for run_id in manifest["data"]["run_ids"]:
            veil.run(run_id)
    config = copy_inputs(before, own_folder(out / INPUTS), veil)
    models = {alias: without_address(alias, model) for alias, model in config.models.items()}
    config = config.model_copy(update={"models": models})
    stored = {alias: StoredReplies() for alias in with_endpoints(config)}
    _judge_again(results, before, config, again, stored)
    _check_same(results, again, veil)
    _write_results(again, out / RESULTS, manifest, config)
    for alias, replies in stored.items():
        write_replies(own_folder(out / CACHE) / f"{alias}.jsonl", replies)
    about = About(
        name=name or "-".join(config.program),
        veiled=veil is not None,
        timestamp=_time_of(results / MANIFEST),
        versions=manifest.get("versions", {}),
        unjudged_by_reason=manifest.get("unjudged_by_reason", {}),
        replies={alias: len(replies.lines) for alias, replies in stored.items()},
    )
    run_info = {"timestamp": about.timestamp, "versions": about.versions}
    tables = write_tables(out / RESULTS, out, about.name, config, run_info)
    leaks = veil.leaks(files_in(out)) if veil else []
    write_about(out, about)
    n_lost, dropped = sum(manifest["unjudged"].values()), veil.dropped if veil else {}
    return Exported(tables, about.replies, _sizes(out), n_lost, dropped, leaks)


def _check_out(results: Path, out: Path, veil: Path | None) -> None:
    if out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out}: is not empty, and an export is written whole; name another")
    if veil is not None and out.resolve() in veil.resolve().parents:
        raise InputError(f"{veil}: would stand in the export, wanted a file apart from {out}")
    if results.resolve() in (out.resolve(), *out.resolve().parents):
        raise InputError(f"{out}: is in the results folder; name another")


def _judge_again(
    results: Path,
    before: Config,
    config: Config,
    again: Path,
    stored: Mapping[str, StoredReplies],
) -> None:
    """The run on the copies, by the replies that it had, which go to `stored` as they are used."""
    cache = kept_replies(results, before, read_manifest(results))
    replies = open_cache(before.changed("run", cache=cache))
    inside = {path: _inside(path) for path in input_hashes(config)}
    try:

        def run(run_config: Config) -> None:
            budget = budget_of(run_config)
            panel = ReplayPanel(run_config, budget, stored, EarlierRun(before.models, replies))
            with no_network():
                judge_collection(run_config, budget=budget, panel=panel)

        run_again(config, again, run, inside)
    finally:
        if replies is not None:
            replies.close()


def _check_same(results: Path, again: Path, veil: Veil | None) -> None:
    """Raise InputError unless the replay has the scores of the run, and lacks what it lacked."""
    then, now = Result(results), Result(again)
    name_of = (lambda run: veil.runs.get(run, run)) if veil else (lambda run: run)
    scores = [
        {(name_of(row.run_id), row.topic_id, row.measure): row.value for row in rows}
        for rows in (then.scores, now.scores)
    ]
    lost = sum(now.manifest["unjudged"].values()) - sum(then.manifest["unjudged"].values())
    if lost > 0:
        what = f"{lost:,} of its judgements have no kept reply (judge cache, run.cache)"
        raise InputError(f"{results}: {what}; judge run asks for them again")
    for cell in {**scores[0], **scores[1]}:
        if scores[0].get(cell) != scores[1].get(cell):
            run, topic, measure = cell
            difference = (
                f"{scores[0].get(cell)} in the results, {scores[1].get(cell)} by kept replies"
            )
            raise InputError(f"{results}: {measure} of {run}, topic {topic}: {difference}")


def _write_results(again: Path, to: Path, then: Mapping[str, Any], config: Config) -> None:
    """The files of the replay; its manifest with paths inside the export and what the run took."""
    own_folder(to)
    for name in sorted(results_in(again)):
        write_file(to / name, (again / name).read_bytes())
    manifest = read_manifest(again)
    manifest |= {name: then[name] for name in _COST if name in then}
    hashes = {_inside(path): digest for path, digest in input_hashes(config).items()}
    inside = relocated(config, {path: _inside(path) for path in input_hashes(config)}).changed(
        "run", out=Path(RESULTS), cache=True, offline=True, executor="local"
    )
    manifest |= {
        "config": inside.model_dump(mode="json", by_alias=True),
        "inputs": hashes,
        "made_in": {"directory": ".", "folder": RESULTS},
        "fingerprint": fingerprint_of(inside, hashes),
    }
    write_file(to / MANIFEST, pretty(manifest))


def _inside(path: str | Path) -> str:
    """The path of a copied input in the export."""
    return f"{INPUTS}/{Path(path).name}"


def _time_of(path: Path) -> str:
    return datetime.fromtimestamp(int(path.stat().st_mtime), UTC).isoformat()


def _sizes(out: Path) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, path in files_in(out).items():
        part = name.split("/")[0] if "/" in name else "tables"
        sizes[part] = sizes.get(part, 0) + path.stat().st_size
    return sizes
