"""Results as MLflow runs, and `judge export mlflow`."""

import math
import shutil

import pytest
from mock_server import Says, always
from typer.testing import CliRunner

mlflow = pytest.importorskip("mlflow")

import nuggetjudge as nj  # noqa: E402
from nuggetjudge.cli.app import app  # noqa: E402
from nuggetjudge.plugins.exports.mlflow_runs import log  # noqa: E402

PARENT = "mlflow.parentRunId"
SAMPLE = {
    "question": "Why do bees dance?",
    "answer": "The waggle dance tells the direction of flowers [1].",
    "contexts": ["The waggle dance tells the direction of flowers."],
    "nuggets": ["The waggle dance tells the direction of flowers", "Drones do not sting"],
}
REFUSED = Says("I would rather not say.")


def runs():
    """All runs of the experiment, by name."""
    all_runs = mlflow.search_runs(experiment_names=["rag"], output_format="list")
    return {run.info.run_name: run for run in all_runs}


def judged_by(server, out):
    model = {"model": "openai/mock", "api_base": server.base_url, "reasks": 0}
    model |= {"api_key_env": "JUDGE_KEY"} if server.api_key else {}
    one_by_one = {"judges.assigner.window": 1}
    return nj.evaluate([SAMPLE], "nuggets", model=model, out=out, cache=False, **one_by_one)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("results") / "demo"
    return nj.run("examples/demo/judge.yaml", out=out)


def test_each_system_is_a_run_with_its_scores_intervals_and_judges(store, demo):
    logged = log(demo)
    assert logged.how == "new"
    there = runs()
    assert there.keys() == {"demo", *demo.manifest["data"]["run_ids"]}
    assert {name: run.info.run_id for name, run in there.items()} == {
        "demo": logged.run_id,
        **logged.systems,
    }
    for name in logged.systems:
        assert there[name].data.tags[PARENT] == logged.run_id
        assert there[name].data.metrics["V_strict"] == demo.score(name, "V_strict")
    compared = nj.compare(demo, measures=["V_strict"])["measures"]["V_strict"]["runs"]
    assert len(compared) == 4
    for of_run in compared:
        metrics = there[of_run["run_id"]].data.metrics
        interval = metrics["V_strict.low"], metrics["V_strict.high"]
        assert interval == (of_run["low"], of_run["high"])
    thin = there["thin"].data
    assert (thin.metrics["V_strict.n"], thin.metrics["V_strict.n_unjudged"]) == (73, 0)
    assert "V_strict.worst" not in thin.metrics
    assert thin.params["program"] == "nuggets, support"
    assert thin.params["judges.assigner.model.model"] == "lexical"
    assert thin.params["versions.nuggetjudge"] == nj.__version__
    whole = there["demo"].data
    assert whole.metrics == {"n_judged": demo.n_judged, "n_unjudged": 0}
    assert "V_strict: share of the vital facts" in whole.tags["mlflow.note.content"]
    files = mlflow.artifacts.list_artifacts(run_id=logged.run_id)
    assert {file.path for file in files} == {"report.html", "manifest.json", "scores.jsonl"}
    kept = mlflow.artifacts.load_text(f"runs:/{logged.run_id}/scores.jsonl")
    assert kept == (demo.folder / "scores.jsonl").read_text("utf-8")


def test_the_command_logs_once_and_says_so_the_second_time(store, demo):
    command = ["export", "mlflow", str(demo.folder), "--tracking-uri", store, "--experiment", "rag"]
    first, second = (CliRunner().invoke(app, command) for _ in range(2))
    assert (first.exit_code, first.stderr.splitlines()[-1]) == (0, "Logged.")
    assert second.stderr.splitlines()[-1] == "Already logged; nothing written."
    assert first.stdout == second.stdout
    assert len(first.stdout.splitlines()) == len(runs()) == 5
    assert f"{runs()['thin'].info.run_id}  thin\n" in first.stdout


def test_what_was_not_judged_is_no_metric_until_it_is(store, tmp_path, model_server):
    model_server.brain = always("support")
    model_server.faults = lambda *_: REFUSED
    lost = log(judged_by(model_server, tmp_path / "lost"))
    metrics = runs()["lost"].data.metrics
    assert {"V_strict", "V_strict.low", "V_strict.high"}.isdisjoint(metrics)
    assert (metrics["V_strict.n"], metrics["V_strict.n_unjudged"]) == (0, 2)
    assert (metrics["V_strict.worst"], metrics["V_strict.best"]) == (0.0, 1.0)
    assert lost.systems == {"lost": lost.run_id}

    model_server.faults = None
    logged = log(judged_by(model_server, tmp_path / "lost"))
    assert (logged.how, logged.run_id) == ("updated", lost.run_id)
    assert runs()["lost"].data.metrics["V_strict"] == 1.0

    shutil.rmtree(tmp_path / "lost")
    model_server.faults = lambda *_: REFUSED
    log(judged_by(model_server, tmp_path / "lost"))
    assert math.isnan(runs()["lost"].data.metrics["V_strict"])


def test_a_stopped_run_is_marked_and_updated_when_it_went_on(store, tmp_path, model_server):
    model_server.brain = always("support")
    whole = judged_by(model_server, tmp_path / "bees")
    (whole.folder / "manifest.json").rename(tmp_path / "manifest.json")  # as a kill leaves it
    with pytest.warns(UserWarning, match="stopped run, partial"):
        partial = log(tmp_path / "bees")
    run = runs()["bees (partial)"]
    assert run.data.tags["nuggetjudge.partial"] == "true"

    logged = log(judged_by(model_server, tmp_path / "bees"))
    assert (logged.how, logged.run_id) == ("updated", partial.run_id)
    assert runs()["bees"].data.tags["nuggetjudge.partial"] == "false"


def test_the_key_of_a_model_is_in_no_file_of_the_store(store, tmp_path, monkeypatch, model_server):
    key = "sk-planted-5f1d9a"
    monkeypatch.setenv("JUDGE_KEY", key)
    model_server.api_key = key
    log(judged_by(model_server, tmp_path / "bees"))
    assert model_server.requests
    assert all(request.status == 200 for request in model_server.requests)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "report.html" for path in files)
    assert [path for path in files if key.encode() in path.read_bytes()] == []


def test_a_store_that_cannot_be_used_is_one_line_and_exit_2(store, demo):
    with pytest.raises(nj.records.reading.problems.InputError) as refusal:
        CliRunner().invoke(
            app,
            ["export", "mlflow", str(demo.folder), "--tracking-uri", "nowhere://x"],
            catch_exceptions=False,
        )
    assert str(refusal.value).startswith("MLflow at nowhere://x: ")
    assert "\n" not in str(refusal.value)
