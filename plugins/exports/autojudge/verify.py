"""Whether an AutoJudge folder is what was exported, and follows from the replies that it holds."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ....backends.offline import StoredReplies, read_replies
from ....programs.analysis.traces.replay import (
    FileReplay,
    compared,
    compared_file,
    judges_changed,
    run_again,
)
from ....programs.config.sections import Config
from ....programs.engine.folders.inputs import inputs_of
from ....programs.engine.manifest import read_manifest
from ....programs.engine.panel import budget_of
from ....programs.run import judge_collection
from ....records.reading.problems import Problems
from .about import CACHE, RESULTS, About, changed_files, read_about
from .network import no_network
from .panel import ReplayPanel, with_endpoints
from .tables import write_tables


@dataclass(frozen=True)
class Verified:
    """What came of it.

    Attributes:
        files: each file of the results and each table beside its replay.
        wrong: everything else that is not as it was exported, in words, with its place.
        replies: how many stored replies the replay used. unused: how many it did not.
    """

    files: tuple[FileReplay, ...]
    wrong: tuple[str, ...]
    replies: int
    unused: int

    @property
    def is_same(self) -> bool:
        """Whether all bytes are the same, and nothing is wrong."""
        return not self.wrong and not any(file.differ or file.failed for file in self.files)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        files = [file.as_dict() for file in self.files]
        return {"is_same": self.is_same, **vars(self), "files": files}


def verify_folder(folder: Path) -> Verified:
    """Judge again from the stored replies, with no network, and compare with the folder's files.

    Raises: InputError if the folder is no export, or nothing of it can be read;
        NetworkUsedError if anything asked for the network.
    """
    about = read_about(folder)
    wrong = changed_files(folder, about)
    inputs = inputs_of(folder / RESULTS)
    if inputs.changed:
        wrong += [f"{folder / path}: {what}; not replayed" for path, what in inputs.changed.items()]
        return Verified((), tuple(dict.fromkeys(wrong)), 0, 0)
    stored, lost = _stored_replies(folder, about, inputs.config)
    then = read_manifest(folder / RESULTS)
    with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
        again = Path(work) / RESULTS

        def run(run_config: Config) -> None:
            budget = budget_of(run_config)
            with no_network():
                judge_collection(
                    run_config, budget=budget, panel=ReplayPanel(run_config, budget, stored)
                )

        now = run_again(inputs.config, again, run, inputs.moved)
        files = compared(folder / RESULTS, again)
        run_info = {"timestamp": about.timestamp, "versions": about.versions}
        out = Path(work) / "tables"
        names = write_tables(again, out, about.name, inputs.config, run_info)
        tables = tuple(compared_file(name, folder / name, out / name) for name in names)
    n_missed = len(set().union(*(one.missed for one in stored.values())))
    more = sum(now["unjudged"].values()) - sum(then["unjudged"].values())
    if more > 0:
        lost.append(f"{more:,} more judgements are not made: {n_missed:,} questions have no reply")
    used = sum(len(one.used) for one in stored.values())
    unused = sum(len(one.lines) for one in stored.values()) - used
    wrong += [*lost, *judges_changed(then, now)]
    verified = Verified(files + tables, tuple(wrong), used, unused)
    made, here = (one.get("versions", {}).get("nuggetjudge") for one in (then, now))
    if made == here or verified.is_same:
        return verified
    why = f"exported by nuggetjudge {made}, replayed by {here}, which may ask other questions"
    return replace(verified, wrong=(*wrong, why))


def _stored_replies(
    folder: Path, about: About, config: Config
) -> tuple[dict[str, StoredReplies], list[str]]:
    """The replies by alias, and what is wrong with their files."""
    stored, wrong = {}, list[str]()
    for alias in with_endpoints(config):
        path, problems = folder / CACHE / f"{alias}.jsonl", Problems()
        stored[alias] = read_replies(path, problems) if path.is_file() else StoredReplies()
        wrong += map(str, problems)
        if lost := about.replies.get(alias, 0) - len(stored[alias].lines):
            wrong.append(f"{path}: {len(stored[alias].lines):,} replies, wanted {lost:+,}")
    return stored, wrong
