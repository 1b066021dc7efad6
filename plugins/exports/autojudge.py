"""A TREC AutoJudge folder: the run repeated from its stored replies, on copies of its inputs."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from ...programs.config.sections import Config
from ...programs.engine.folders import find_inputs, relocate
from ...programs.engine.judge_set import make_budget, open_cache
from ...programs.engine.manifest import input_files, input_hashes, make_fingerprint, read_manifest
from ...programs.engine.results import MANIFEST, pretty
from ...programs.inputs import RETRIEVAL_FILES, expand_runs
from ...programs.run import judge_collection
from ...programs.scoring.result import Result
from ...records.reading.fields import stem
from ...records.reading.problems import InputError
from ...records.writing import own_folder, rename, write_file, writing
from .pseudonyms import Pseudonyms
from .replay import (
    CACHE,
    INPUTS,
    RESULTS,
    About,
    EarlierRun,
    ReplayJudgeSet,
    StoredReplies,
    files_in,
    no_network,
    with_endpoints,
    without_address,
    write_about,
    write_replies,
    write_tables,
)
from .rerun import find_replies, results_in, run_again


def copy_inputs(config: Config, folder: Path, pseudonyms: Pseudonyms | None) -> Config:
    """Copy every file that a run reads into a folder; return the config that names the copies.

    Runs keep their order. With pseudonyms, their order and their numbered names do not reveal the
    originals; the same holds for other files whose names contain a run or a team.

    Raises: InputError for an index, or a path that is not an input file, which cannot be copied.
    """
    if config.data.index is not None:
        what = "an export cannot include an index; judge the output of a retrieval run"
        raise InputError(f"{config.data.index}: {what}")
    if pseudonyms is None:
        files = dict.fromkeys(input_files(config))
        copies = {str(path): _put(folder, path.name, path.read_bytes()) for path in files}
    else:
        copies = _copy_inputs(config, folder, pseudonyms)
    copied = relocate(config, copies)
    if pseudonyms is not None:
        copied = copied.change("data", runs=tuple(sorted(copied.data.runs)))
    for at, path in _paths(copied):
        if path.parent != folder:
            raise InputError(f"{path}: {at} is not an input file, so it cannot be exported")
    return copied


def _copy_inputs(config: Config, folder: Path, pseudonyms: Pseudonyms) -> dict[str, str]:
    """The copy of each input; runs first, so that all names are known before other files."""
    copies: dict[str, str] = {}
    runs = [(path, pseudonyms.answers(path, stem(path))) for path in expand_runs(config.data.runs)]
    for path, content in sorted(runs, key=lambda run: hashlib.sha256(run[1]).digest()):
        name = f"runs-{len(copies) + 1:02}.jsonl"
        copies[str(path)] = _put(folder, name, content)
    for path in expand_runs(config.data.retrieval, suffixes=RETRIEVAL_FILES):
        name = f"retrieval-{len(copies) + 1:02}.run"
        copies[str(path)] = _put(folder, name, pseudonyms.rankings(path))
    for path in input_files(config):
        if str(path) not in copies:
            pseudonyms.check(path)
            name = path.name
            if pseudonyms.is_in(name):
                name = f"input-{len(copies) + 1:02}{''.join(path.suffixes[-2:])}"
            copies[str(path)] = _put(folder, name, path.read_bytes())
    return copies


def _put(folder: Path, name: str, content: bytes) -> str:
    """Write a file under this name, with a number if another input has the name."""
    to, n = folder / name, 1
    while to.exists():
        n += 1
        to = folder / f"{n}-{name}"
    write_file(to, content)
    return str(to)


def _paths(value: Any, at: str = "") -> Iterator[tuple[str, Path]]:
    """All paths of a config except section `run`, with the names of their settings."""
    if isinstance(value, Path):
        yield at, value
    elif isinstance(value, BaseModel):
        for name, inner in value:
            if at or name != "run":
                yield from _paths(inner, f"{at}.{name}".lstrip("."))
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from _paths(inner, at)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _paths(inner, f"{at}.{name}")


_COST = ("calls", "tokens", "tokens_by", "this_time", "answered_by")  # of the run, not of a replay


class Exported(NamedTuple):
    """The export: tables, replies by alias, bytes by part, number of failed judgements.

    `dropped`: dropped fields of metadata. `leaks`: places where a name is still a whole value.
    """

    tables: list[str]
    replies: dict[str, int]
    sizes: dict[str, int]
    unjudged: int
    dropped: Mapping[str, int]
    leaks: list[str]


def write_autojudge(
    results: Path, out: Path, *, name: str | None = None, pseudonyms: Path | None = None
) -> Exported:
    """Write a finished run as a folder that auto-judge tools read and that can be replayed.

    Args:
        out: a new or empty folder.
        name: prefix of the table names; None: the tasks.
        pseudonyms: a key file, created if missing: names of runs and teams become pseudonyms.

    Raises: InputError if the results do not follow from the stored replies, an input has changed or
        cannot be copied, or `out` is in use.
    """
    _check_out(results, out, pseudonyms)
    manifest, inputs = read_manifest(results), find_inputs(results)
    before = inputs.check("an export needs it")
    cover = None if pseudonyms is None else Pseudonyms.of(pseudonyms)
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        whole = own_folder(work / "whole")
        exported = _write_export(results, manifest, before, whole, work / RESULTS, name, cover)
        if cover is not None and pseudonyms is not None:
            cover.write(pseudonyms)
        rename(whole, out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return exported


def _write_export(
    results: Path,
    manifest: Mapping[str, Any],
    before: Config,
    out: Path,
    again: Path,
    name: str | None,
    pseudonyms: Pseudonyms | None,
) -> Exported:
    """Write the whole export into a folder that gets its name at the end."""
    if pseudonyms is not None:
        for run_id in manifest["data"]["run_ids"]:
            pseudonyms.run(run_id)
    config = copy_inputs(before, own_folder(out / INPUTS), pseudonyms)
    models = {alias: without_address(alias, model) for alias, model in config.models.items()}
    config = config.model_copy(update={"models": models})
    stored = {alias: StoredReplies() for alias in with_endpoints(config)}
    _judge_again(results, before, config, again, stored)
    _check_same(results, again, pseudonyms)
    _write_results(again, out / RESULTS, manifest, config)
    for alias, replies in stored.items():
        write_replies(own_folder(out / CACHE) / f"{alias}.jsonl", replies)
    about = About(
        name=name or "-".join(config.program),
        has_pseudonyms=pseudonyms is not None,
        timestamp=_read_time(results / MANIFEST),
        versions=manifest.get("versions", {}),
        unjudged_by_reason=manifest.get("unjudged_by_reason", {}),
        replies={alias: len(replies.lines) for alias, replies in stored.items()},
    )
    run_info = {"timestamp": about.timestamp, "versions": about.versions}
    tables = write_tables(out / RESULTS, out, about.name, config, run_info)
    leaks = pseudonyms.leaks(files_in(out)) if pseudonyms else []
    write_about(out, about)
    n_lost, dropped = sum(manifest["unjudged"].values()), pseudonyms.dropped if pseudonyms else {}
    return Exported(tables, about.replies, _sizes(out), n_lost, dropped, leaks)


def _check_out(results: Path, out: Path, pseudonyms: Path | None) -> None:
    if out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out}: is not empty; choose a new or empty folder")
    if pseudonyms is not None and out.resolve() in pseudonyms.resolve().parents:
        raise InputError(f"{pseudonyms}: would be inside the export; choose a file outside {out}")
    if results.resolve() in (out.resolve(), *out.resolve().parents):
        raise InputError(f"{out}: is in the results folder; choose another folder")


def _judge_again(
    results: Path,
    before: Config,
    config: Config,
    again: Path,
    stored: Mapping[str, StoredReplies],
) -> None:
    """Repeat the run on the copies, from its replies; used replies go to `stored`."""
    cache = find_replies(results, before, read_manifest(results))
    replies = open_cache(before.change("run", cache=cache))
    inside = {path: _inside(path) for path in input_hashes(config)}
    try:

        def run(run_config: Config) -> None:
            budget = make_budget(run_config)
            judge_set = ReplayJudgeSet(
                run_config, budget, stored, EarlierRun(before.models, replies)
            )
            with no_network():
                judge_collection(run_config, budget=budget, judge_set=judge_set)

        run_again(config, again, run, inside)
    finally:
        if replies is not None:
            replies.close()


def _check_same(results: Path, again: Path, pseudonyms: Pseudonyms | None) -> None:
    """Raise InputError unless the replay has the same scores and the same failures as the run."""
    then, now = Result(results), Result(again)
    name_of = (lambda run: pseudonyms.runs.get(run, run)) if pseudonyms else (lambda run: run)
    scores = [
        {(name_of(row.run_id), row.topic_id, row.measure): row.value for row in rows}
        for rows in (then.scores, now.scores)
    ]
    lost = sum(now.manifest["unjudged"].values()) - sum(then.manifest["unjudged"].values())
    if lost > 0:
        what = f"{lost:,} of its judgements have no stored reply (judge cache, run.cache)"
        raise InputError(f"{results}: {what}; judge run asks for them again")
    for cell in {**scores[0], **scores[1]}:
        if scores[0].get(cell) != scores[1].get(cell):
            run, topic, measure = cell
            difference = (
                f"{scores[0].get(cell)} in the results, {scores[1].get(cell)} from stored replies"
            )
            raise InputError(f"{results}: {measure} of {run}, topic {topic}: {difference}")


def _write_results(again: Path, to: Path, then: Mapping[str, Any], config: Config) -> None:
    """The files of the replay; its manifest has paths inside the export and the run's spending."""
    own_folder(to)
    for name in sorted(results_in(again)):
        write_file(to / name, (again / name).read_bytes())
    manifest = read_manifest(again)
    manifest |= {name: then[name] for name in _COST if name in then}
    hashes = {_inside(path): digest for path, digest in input_hashes(config).items()}
    inside = relocate(config, {path: _inside(path) for path in input_hashes(config)}).change(
        "run", out=Path(RESULTS), cache=True, offline=True, executor="local"
    )
    manifest |= {
        "config": inside.model_dump(mode="json", by_alias=True),
        "inputs": hashes,
        "made_in": {"directory": ".", "folder": RESULTS},
        "fingerprint": make_fingerprint(inside, hashes),
    }
    write_file(to / MANIFEST, pretty(manifest))


def _inside(path: str | Path) -> str:
    """The path of a copied input in the export."""
    return f"{INPUTS}/{Path(path).name}"


def _read_time(path: Path) -> str:
    return datetime.fromtimestamp(int(path.stat().st_mtime), UTC).isoformat()


def _sizes(out: Path) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, path in files_in(out).items():
        part = name.split("/")[0] if "/" in name else "tables"
        sizes[part] = sizes.get(part, 0) + path.stat().st_size
    return sizes
