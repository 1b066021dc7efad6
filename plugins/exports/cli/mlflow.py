"""`judge export mlflow`: results as runs of an MLflow experiment."""

from __future__ import annotations

from ....cli.signatures import Folder
from ....cli.tables import write_note, write_text


def mlflow(
    results: Folder,
    *,
    experiment: str | None = None,
    tracking_uri: str | None = None,
) -> None:
    """Log results to MLflow: a run a system, with its intervals, under one with the report.

    Nothing is sent but to the tracking store. Logged again, the same results change nothing.

    Example: judge export mlflow results/demo --experiment rag

    Args:
        results: A results folder.

    Output:
        experiment: Its name, made where there is none; default: MLflow's own.
        tracking_uri (URI): Where MLflow keeps runs, e.g. sqlite:///mlflow.db or
            http://127.0.0.1:5000; default: MLflow's own, or MLFLOW_TRACKING_URI.
    """
    from ....records.reading.problems import need
    from ..mlflow_runs import log

    if tracking_uri is not None:
        need("mlflow", "mlflow").set_tracking_uri(tracking_uri)
    logged = log(results, experiment=experiment)
    messages = {
        "new": "Logged",
        "updated": "Updated: the runs that were there have what is new",
        "unchanged": "Already there, nothing was written",
    }
    below = {name: run_id for name, run_id in logged.systems.items() if run_id != logged.run_id}
    lines = [f"{logged.run_id}  {results}", *(f"{run}  {name}" for name, run in below.items())]
    write_text("".join(f"{line}\n" for line in lines))
    write_note(f"{messages[logged.how]}.\n")
