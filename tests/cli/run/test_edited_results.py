"""An edited result file is an error by its name, whatever reads it; what may change still reads."""

import json
import shutil

import pytest


@pytest.fixture
def results(tide_server, run_tiny, tmp_path):
    """Nuggets and support of the tiny collection: support_precision is .5 in both runs."""
    assert run_tiny(tide_server, "nuggets,support", "--quiet").code == 0
    return tmp_path / "out"


def edit(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


READ = {
    "gate": ("scores.jsonl", ["gate", "out", "--min", "support_precision=0.9"]),
    "gate with a baseline": ("scores.jsonl", ["gate", "again", "--baseline", "out"]),
    "compare": ("scores.jsonl", ["compare", "out"]),
    "score": ("support.jsonl", ["score", "out"]),
    "agree": ("support.jsonl", ["agree", "out/support.jsonl", "again"]),
    "agree by folder": ("support.jsonl", ["agree", "again", "out", "--kind", "support"]),
    "show": ("assignments.jsonl", ["show", "out", "one", "t1"]),
    "a bank of another run": (
        "nuggets.jsonl",
        [
            *("run", "nuggets", "--nuggets", "out/nuggets.jsonl", "--topics", "tiny/topics.tsv"),
            *("--runs", "tiny/one.jsonl", "--model", "lexical", "--out", "new"),
        ],
    ),
}
CHANGES = {
    "scores.jsonl": ('"value":0.5', '"value":1.0'),
    "support.jsonl": ('"label":"none","weight":0.0', '"label":"full","weight":1.0'),
    "assignments.jsonl": ("not_support", "support"),
    "nuggets.jsonl": ("vital", "okay"),
}


OF_PLUGINS = {
    "report": ("assignments.jsonl", ["report", "out"]),
    "export": ("scores.jsonl", ["export", "autojudge", "out", "aj"]),
}
CASES = [pytest.param(*case, id=name) for name, case in READ.items()]
CASES += [pytest.param(*c, id=n, marks=pytest.mark.whole) for n, c in OF_PLUGINS.items()]


@pytest.mark.parametrize(("name", "command"), CASES)
def test_an_edited_file_is_an_error_by_its_name(results, judge, tmp_path, name, command):
    shutil.copytree(results, tmp_path / "again")
    edit(results / name, *CHANGES[name])
    ran = judge(*command)
    assert ran.code == 2, ran.out
    assert f"out/{name}: was edited after the run wrote it" in ran.err
    assert "Traceback" not in ran.err


def test_the_run_started_again_writes_what_was_edited_anew(results, judge, run_tiny, tide_server):
    before = (results / "scores.jsonl").read_bytes()
    edit(results / "scores.jsonl", *CHANGES["scores.jsonl"])
    assert run_tiny(tide_server, "nuggets,support", "--quiet").code == 0
    assert (results / "scores.jsonl").read_bytes() == before
    assert judge("gate", "out", "--min", "support_precision=0.5").code == 0


def test_results_of_an_earlier_version_have_no_digests_and_read(results, judge):
    manifest = json.loads((results / "manifest.json").read_bytes())
    digests = manifest.pop("files")
    assert {"scores.jsonl", "support.jsonl", "nuggets.jsonl", "unjudged.jsonl"} <= digests.keys()
    (results / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    edit(results / "scores.jsonl", *CHANGES["scores.jsonl"])
    assert judge("gate", "out", "--min", "support_precision=0.9").code == 0
