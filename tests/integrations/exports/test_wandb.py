"""An offline run of W&B, read back from the file that `wandb sync` would send."""

import json

import pytest

pytest.importorskip("wandb")
import wandb

from nuggetjudge.cli import app
from nuggetjudge.exports import wandb_runs
from nuggetjudge.programs.analysis.compare import compare
from nuggetjudge.records.reading.problems import InputError, Problems

from .conftest import KEY
from .wandb_file import logged_in


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """W&B keeps what it keeps beside a run here, and finds no login."""
    for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "HOME"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.delenv("WANDB_MODE", raising=False)


def file_of(folder):
    (file,) = folder.glob("*.wandb")
    return file


def test_config_numbers_questions_and_report_are_in_the_file_of_an_offline_run(
    folders, tmp_path, monkeypatch, capsys
):
    result = folders["windows"]
    arguments = ["export", "wandb", str(result.folder), "--project", "rag", "--out", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["judge", *arguments])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert not ended.value.code
    assert "nothing was sent; to send it: wandb sync" in capsys.readouterr().err
    (folder,) = (tmp_path / "wandb").glob("offline-run-*")
    config, summary, _files, artifacts = logged_in(file_of(folder))
    assert config["fingerprint"] == result.manifest["fingerprint"]
    assert config["program"] == ["nuggets", "support"]
    # Means, as the files have them; intervals, as `judge compare` computes them.
    means = {(r.run_id, r.measure): r for r in result.scores if r.topic_id == "all"}
    for (run_id, measure), row in means.items():
        name = f"{run_id}/{measure}"
        if row.n_unjudged and not row.n:
            assert name not in summary  # nothing was judged: no value, and least of all a 0
            assert summary[f"{name}/n_unjudged"] == row.n_unjudged
        else:
            assert summary[name] == pytest.approx(row.value)
        if row.n_unjudged and row.low is not None:
            assert (summary[f"{name}/low"], summary[f"{name}/high"]) == (row.low, row.high)
    assert any(row.n_unjudged and not row.n for row in means.values())
    assert summary["n_unjudged"] == result.n_unjudged
    (table,) = (folder / "files" / "media" / "table").glob("questions*.json")
    table_data = json.loads(table.read_text())
    rows = [dict(zip(table_data["columns"], row, strict=True)) for row in table_data["data"]]
    of_files = [row for row in result.scores if row.topic_id != "all"]
    assert [row["value"] for row in rows] == [row.value for row in of_files]
    lost = [row for row in rows if row["n_unjudged"] and not row["n"]]
    assert lost
    assert all(row["value"] is None and "unparseable" in row["unjudged"] for row in lost)
    artifact = next(a for a in artifacts if a.name == "results")
    local_paths = {entry.path: entry.local_path for entry in artifact.manifest.contents}
    assert set(local_paths) == {"report.html", "scores.jsonl", "manifest.json"}
    with open(local_paths["report.html"], encoding="utf-8") as page:
        assert "<html" in page.read(2000)
    for path in tmp_path.rglob("*"):
        assert not (path.is_file() and KEY.encode() in path.read_bytes())


def test_intervals_are_those_of_judge_compare(folders, tmp_path):
    folder = wandb_runs.write(folders["explained"], "rag", out=tmp_path)
    _, summary, _, _ = logged_in(file_of(folder))
    comparison = compare(folders["explained"].folder, None, Problems(), measures=["V_strict"])
    for run in comparison["measures"]["V_strict"]["runs"]:
        name = f"{run['run_id']}/V_strict"
        assert summary[name] == pytest.approx(run["mean"])
        assert summary[f"{name}/interval_low"] == pytest.approx(run["low"])
        assert summary[f"{name}/interval_high"] == pytest.approx(run["high"])


def test_a_run_of_ones_own_is_added_to_and_stays_open(folders, tmp_path):
    with wandb.init(
        project="rag", dir=tmp_path, mode="offline", config={"program": "mine"}
    ) as mine:
        mine.summary["loss"] = 0.5
        folder = wandb_runs.write(folders["coverage"], "rag", run=mine)
        mine.summary["after"] = 1
    config, summary, _, _ = logged_in(file_of(folder))
    assert {"loss", "after", "one/coverage"} <= set(summary)
    assert config["program"] == "mine"  # its own settings stay as they are
    assert config["nuggetjudge"]["program"] == ["coverage"]


def test_online_without_a_login_is_refused_before_anything_is_sent(folders, tmp_path):
    with pytest.raises(InputError, match="nobody is logged in: wandb login, or --mode offline"):
        wandb_runs.write(folders["coverage"], "rag", mode="online", out=tmp_path)
    assert not (tmp_path / "wandb").exists()


@pytest.mark.parametrize(
    ("project", "name", "message"),
    [
        ("", None, "--project '': wanted a name"),
        ("a/b", None, "--project 'a/b': W&B takes no '/' in a name"),
        ("rag", " ", "--name ' ': wanted a name"),
        ("rag", "n" * 129, "--name: 129 characters, wanted 128 at most"),
    ],
)
def test_names_that_wandb_refuses_are_one_line_before_a_file_is_there(
    project, name, message, folders, tmp_path
):
    with pytest.raises(InputError) as refusal:
        wandb_runs.write(folders["coverage"], project, name=name, out=tmp_path / "out")
    assert str(refusal.value) == message
    assert not (tmp_path / "out").exists()
