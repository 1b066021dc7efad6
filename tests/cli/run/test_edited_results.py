"""An edited result file is an error by its name, whatever reads it; what may change still reads."""

import json
import shutil

import pytest
from mock_server import MockServer, Refusal


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


def test_what_is_no_result_of_the_run_may_change(results, judge, tmp_path):
    """What a later start took, a page beside the results, a copy of a file elsewhere."""
    (results / "spend.jsonl").write_bytes(b"")
    (results / "labels.jsonl").write_text("{}\n", "utf-8")
    shutil.copy(results / "support.jsonl", tmp_path / "support.jsonl")
    edit(tmp_path / "support.jsonl", *CHANGES["support.jsonl"])
    assert judge("gate", "out", "--min", "support_precision=0.5").code == 0
    assert judge("agree", "support.jsonl", "out").code == 0


def test_results_that_were_written_a_second_time_have_their_new_digests(
    run_tiny, tide_brain, judge, tmp_path
):
    with MockServer(brain=tide_brain, faults=[Refusal()]) as server:
        assert run_tiny(server, "support", "--quiet").code == 3
        assert run_tiny(server, "support", "--quiet").code == 0
    assert judge("gate", "out", "--min", "support_precision=0.5").code == 0


def test_a_manifest_of_another_tool_says_nothing_of_our_digests(tiny, judge):
    (tiny / "manifest.json").write_text('{"files": {"topics.tsv": "0", "one.jsonl": "0"}}', "utf-8")
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl"]
    ran = judge("run", "support", *data, "--runs", tiny / "one.jsonl", "--model", "lexical")
    assert ran.code == 0, ran.err
