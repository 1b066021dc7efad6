"""Results as a run of Weights & Biases: config, numbers, a table by question, the report."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from ..evaluation.sources import Source, opened
from ..programs.engine.results import MANIFEST
from ..programs.scoring.result import Result
from ..records.reading.extras import need
from ..records.reading.problems import InputError, Problems
from ..records.writing.files import own_folder
from ..report.page import write_report
from ..report.source import Source as ReportSource
from .summary import QUESTION_COLUMNS, numbers_of, question_rows

if TYPE_CHECKING:
    import wandb

# https://docs.wandb.ai/ref/python/init: what a project's name cannot have, and how long it may be.
_NOT_IN_PROJECTS, _MOST_NAME = "/\\#?%:", 128
Mode = Literal["offline", "online"]


def write(
    result: Source,
    project: str,
    *,
    name: str | None = None,
    mode: Mode = "offline",
    out: str | Path = ".",
    run: wandb.Run | None = None,
) -> Path:
    """Write a result as a W&B run; nothing is sent unless `mode` is online.

    Summary: means by `RUN/MEASURE` with intervals, n and n unjudged. A score that nobody judged is
    not there, in the table it is null. The artifact `results` has the report, with the texts of the
    answers, the scores and the manifest.

    Args:
        result: a result or a results folder.
        project: of W&B. name: of the run; None: that of the folder.
        mode: offline: into files under `OUT/wandb`, which `wandb sync` sends when its user wants
            that. online: to W&B, with the login of its user.
        out: the folder for the files of W&B.
        run: a run that is open already: it is added to, its config under `nuggetjudge`, and not
            ended; the others are not used.

    Returns: the folder of the W&B run.
    Raises: InputError if there is no result, or wandb is not installed.

    Example: wandb_runs.write(result, "rag")
    """
    with ExitStack() as stack:
        folder = opened(stack, result)
        named = Path(result.folder if isinstance(result, Result) else result)
        return write_folder(folder, project, name or named.name, mode, Path(out), run)


def write_folder(
    folder: Path, project: str, name: str, mode: Mode, out: Path, run: wandb.Run | None = None
) -> Path:
    """As `write`, of a finished folder."""
    if run is None:
        check_names(project, name)
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # it would send what fails in it
    module = need("wandb", "wandb")
    result = Result(folder)
    if run is not None:
        run.config.update({"nuggetjudge": _config(result)})
        return _logged(module, run, result)
    if mode == "online" and not _has_login(module):
        raise InputError("wandb: nobody is logged in: wandb login, or --mode offline")
    own_folder(out)
    opened_run = module.init(
        project=project, name=name, dir=str(out), config=_config(result),
        settings=_settings(module, mode),
    )  # fmt: skip
    try:
        return _logged(module, opened_run, result)
    finally:
        opened_run.finish()


def check_names(project: str, name: str) -> None:
    """Raise InputError for a project or a run that W&B would refuse, before a file is there."""
    for option, text, barred in (("--project", project, _NOT_IN_PROJECTS), ("--name", name, "")):
        if not text.strip():
            raise InputError(f"{option} {text!r}: wanted a name")
        if len(text) > _MOST_NAME:
            raise InputError(f"{option}: {len(text)} characters, wanted {_MOST_NAME} at most")
        if wrong := [one for one in text if one in barred or not one.isprintable()]:
            raise InputError(f"{option} {text!r}: W&B takes no {wrong[0]!r} in a name")


def _settings(module: Any, mode: Mode) -> Any:
    """Only what is logged here: not the machine, the code, its git, or what is printed."""
    return module.Settings(
        mode=mode,
        silent=True,
        console="off",
        disable_code=True,
        disable_git=True,
        disable_job_creation=True,
        x_disable_meta=True,
        x_disable_stats=True,
        x_disable_machine_info=True,
        x_save_requirements=False,
    )


def _has_login(module: Any) -> bool:
    return bool(os.environ.get("WANDB_API_KEY") or module.api.api_key)


def _config(result: Result) -> dict[str, Any]:
    manifest = result.manifest
    partial = {"partial": True} if manifest.get("partial") else {}
    return {**manifest["config"], **_about(result), **partial}


def _about(result: Result) -> dict[str, Any]:
    manifest = result.manifest
    return {"fingerprint": manifest["fingerprint"], "versions": manifest.get("versions")}


def _logged(module: Any, run: Any, result: Result) -> Path:
    run.summary.update(numbers_of(result))
    table = module.Table(columns=[*QUESTION_COLUMNS], data=question_rows(result))
    run.log({"questions": table})
    with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
        page = Path(work) / "report.html"
        write_report(ReportSource([result.folder], Problems()), page)
        artifact = module.Artifact("results", type="evaluation", metadata=_about(result))
        for path in (page, result.folder / "scores.jsonl", result.folder / MANIFEST):
            artifact.add_file(str(path), name=path.name)
        run.log_artifact(artifact)
        if not run.offline:
            artifact.wait()  # the page goes with this block
    return Path(cast(str, run.dir)).parent
