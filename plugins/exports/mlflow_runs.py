"""MLflow: logs a results folder as a run of an experiment, with a child run for each system."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import orjson

from ...evaluation.result import Result
from ...programs.analysis.leaderboards import leaderboards
from ...records.reading.problems import InputError, need

if TYPE_CHECKING:
    from mlflow.entities import Run

_SQLITE = "sqlite:///"
_MAGIC = b"SQLite format 3\0"  # https://www.sqlite.org/fileformat.html
_FILES = ("manifest.json", "scores.jsonl")
_NOT_IN_NAMES = re.compile(r"[^\w./ :-]")
_IDENTITY = "nuggetjudge.identity"  # identifies results: inputs, judges and versions
_CONTENT = "nuggetjudge.content"  # of the scores and counts; written last
_SYSTEM = "nuggetjudge.system"


@dataclass(frozen=True)
class Logged:
    """Where a result is in MLflow.

    Attributes:
        how: "new"; "updated": the results were logged before with other or fewer scores;
            "unchanged": nothing was written.
        run_id: run of the folder. systems: run ids by system; the same one for a single system.
    """

    how: Literal["new", "updated", "unchanged"]
    run_id: str
    systems: Mapping[str, str]


def log(result: Result | str | Path, *, experiment: str | None = None) -> Logged:
    """Write results to MLflow's tracking store, the one that `mlflow.set_tracking_uri` names.

    The folder is one run, with the report, manifest and scores as artefacts. Each system is a child
    run; a single system is that run itself. The metrics of a measure M are the mean M, its 95%
    interval over topics M.low and M.high, the numbers of judgements M.n and M.n_unjudged and, if
    some are missing, M.worst and M.best: the mean if all of these were worst or best. A measure
    without judgements is not logged. Parameters are everything that decides scores: tasks, judges,
    models, versions. If you are inside a run of your own, all of this is below it.

    Logging the same results again changes nothing; a continued run updates its runs.

    Args:
        experiment: name of the experiment, created if missing; None: MLflow's current experiment.

    Raises: InputError if mlflow is missing, or its store cannot be used.

    Example: log(nj.Result("results/demo"), experiment="my rag")
    """
    mlflow = need("mlflow", "mlflow")
    finished = result if isinstance(result, Result) else Result(result)
    _check_store(mlflow.get_tracking_uri())
    try:
        return _log_result(finished, experiment)
    except mlflow.exceptions.MlflowException as error:
        raise InputError(f"MLflow at {mlflow.get_tracking_uri()}: {error}") from error


def _check_store(uri: str) -> None:
    """Raise InputError for a path that cannot be an SQLite file; otherwise MLflow creates tables.

    A missing file is created, as MLflow does, if its folder exists.
    """
    if not uri.startswith(_SQLITE):
        return
    path = Path(uri.removeprefix(_SQLITE).partition("?")[0])
    if path.name == ":memory:":
        return
    if not path.name:
        raise InputError(
            f"MLflow at {uri}: names no file, wanted a URI such as sqlite:///mlflow.db"
        )
    if not path.parent.is_dir():
        raise InputError(f"MLflow at {uri}: there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(f"MLflow at {uri}: {path} is a folder, wanted a file")
    if path.exists() and path.stat().st_size and not _is_sqlite(path):
        raise InputError(f"MLflow at {uri}: {path} is not an SQLite file")


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _log_result(result: Result, experiment: str | None) -> Logged:
    mlflow = need("mlflow", "mlflow")
    params = _params(result.manifest)
    metrics = dict(_metrics_by_system(result))
    of_folder = {"n_judged": result.n_judged, "n_unjudged": result.n_unjudged}
    identity = _digest([result.manifest["fingerprint"], params])
    is_partial = bool(result.manifest.get("partial"))
    content = _digest([metrics, of_folder, is_partial])

    experiment_ids = None if experiment is None else [_experiment_id(experiment)]
    there: list[Run] = mlflow.search_runs(
        experiment_ids, f"tags.`{_IDENTITY}` = '{identity}'", output_format="list"
    )
    old = {run.data.tags.get(_SYSTEM, ""): run for run in there}
    names = list(metrics)
    systems = {names[0]: ""} if len(names) == 1 else {name: name for name in names}
    if "" in old and old[""].data.tags.get(_CONTENT) == content:
        ids = {name: old[key].info.run_id for name, key in systems.items()}
        return Logged("unchanged", old[""].info.run_id, ids)

    tags = {
        _IDENTITY: identity,
        "nuggetjudge.fingerprint": result.manifest["fingerprint"],
        "nuggetjudge.partial": str(is_partial).lower(),
        "nuggetjudge.answered_by": ", ".join(result.manifest.get("answered_by", ())),
    }
    first = experiment_ids[0] if experiment_ids else None
    folder_name = result.folder.name + (" (partial)" if is_partial else "")
    ids = {}
    with _run(old.get(""), first, folder_name, tags, params) as parent:
        alone = metrics[names[0]] if len(names) == 1 else {}
        _log_metrics(old.get(""), {**alone, **of_folder})
        mlflow.set_tag("mlflow.note.content", f"```\n{result}\n```")
        _log_files(result)
        for name, key in systems.items():
            if not key:
                ids[name] = parent
                continue
            with _run(old.get(key), first, name, {**tags, _SYSTEM: name}, params) as run_id:
                _log_metrics(old.get(key), metrics[name])
                ids[name] = run_id
        mlflow.set_tag(_CONTENT, content)
    return Logged("updated" if "" in old else "new", parent, ids)


@contextmanager
def _run(
    old: Run | None, experiment: str | None, name: str, tags: dict[str, str], params: dict[str, str]
) -> Iterator[str]:
    """Start a new run, or continue an old one, below the active run."""
    mlflow = need("mlflow", "mlflow")
    run_id = None if old is None else old.info.run_id
    options = {} if old is not None else {"experiment_id": experiment}
    with mlflow.start_run(run_id, run_name=name, nested=True, **options) as run:
        mlflow.set_tags({**tags, "mlflow.runName": name})
        mlflow.log_params(params)
        yield run.info.run_id


def _log_metrics(old: Run | None, metrics: Mapping[str, float]) -> None:
    """The current metrics; a metric that only the old run has becomes NaN."""
    mlflow = need("mlflow", "mlflow")
    gone = dict.fromkeys(old.data.metrics.keys() - metrics.keys(), float("nan")) if old else {}
    mlflow.log_metrics({**gone, **metrics})


def _log_files(result: Result) -> None:
    mlflow = need("mlflow", "mlflow")
    with TemporaryDirectory(prefix="nuggetjudge-") as made:
        mlflow.log_artifact(str(result.report(Path(made) / "report.html", open=False)))
    for name in _FILES:
        if (result.folder / name).is_file():
            mlflow.log_artifact(str(result.folder / name))


def _metrics_by_system(result: Result) -> Iterator[tuple[str, dict[str, float]]]:
    by_system: dict[str, dict[str, float]] = {}
    for board in leaderboards(result.scores, result.folder, with_all_intervals=True):
        for line in board.lines:
            of_system = by_system.setdefault(line.run_id, {})
            for measure, row in line.means.items():
                is_judged = row.n is None or row.n > 0 or not row.n_unjudged
                low, high = line.intervals.get(measure, (None, None))
                values = {
                    "": row.value if is_judged else None,
                    ".low": low if is_judged else None,
                    ".high": high if is_judged else None,
                    ".n": row.n,
                    ".n_unjudged": row.n_unjudged,
                    ".worst": row.low if row.n_unjudged else None,
                    ".best": row.high if row.n_unjudged else None,
                }
                name = _name(measure)
                of_system |= {name + end: v for end, v in values.items() if v is not None}
    yield from by_system.items()


def _params(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The settings that decide scores, by dotted names, without empty values and API keys."""
    programs = manifest["config"]["program"]
    tree = {
        "program": ", ".join(programs),
        "judges": manifest.get("judges", {}),
        "versions": manifest.get("versions", {}),
        **{name: manifest["config"].get(name) for name in programs},
        "run": {name: manifest["config"]["run"].get(name) for name in ("limit", "explain")},
    }
    return {_name(name): value for name, value in _leaves("", tree)}


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}" if name else str(key), inner)
    elif value not in (None, "", []):
        yield name, value if isinstance(value, str) else orjson.dumps(value).decode()


def _name(text: str) -> str:
    """A name that MLflow accepts.

    >>> _name("alpha_ndcg@10")
    'alpha_ndcg_at_10'
    """
    return _NOT_IN_NAMES.sub("_", text.replace("@", "_at_"))


def _experiment_id(name: str) -> str:
    mlflow = need("mlflow", "mlflow")
    existing = mlflow.get_experiment_by_name(name)
    created: str = (
        existing.experiment_id if existing is not None else mlflow.create_experiment(name)
    )
    return created


def _digest(of: Any) -> str:
    return hashlib.sha256(orjson.dumps(of, option=orjson.OPT_SORT_KEYS)).hexdigest()
