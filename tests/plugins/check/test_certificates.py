"""A certificate passes by its lower ends alone, and holds for one judge and one file of labels."""

import json
import re
from pathlib import Path

import pytest

import nuggetjudge as nj
from nuggetjudge.gates.certificate import read_certificate
from nuggetjudge.plugins.check.verdict import read_requirements

DEMO = Path(__file__).resolve().parents[3] / "examples" / "demo"
FILES = {"topics": "topics.tsv", "passages": "passages.jsonl", "runs": "runs"}
FITTED_ON = ("bees", "tides", "soap", "coffee", "leaves")
WANTED = "sensitivity>=.8,specificity>=.8"


@pytest.fixture
def labels(tmp_path):
    """`labels(n, wrong)`: n items of either label, so many of each judged wrong."""

    def write(n, wrong, name="labels.csv"):
        rows = [
            (truth, truth if i >= wrong else {"yes": "no", "no": "yes"}[truth])
            for truth in ("yes", "no") for i in range(n)
        ]  # fmt: skip
        lines = ["id,human,judge", *(f"{i},{a},{b}" for i, (a, b) in enumerate(rows))]
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
        (tmp_path / "prompt.txt").write_text("Is it right?", "utf-8")
        return name

    return write


@pytest.fixture
def certify(judge):
    def run(file, *more, wanted=WANTED, out="judge.cert.json"):
        about = ("--model", "openai/gpt-4o", "--prompt", "prompt.txt")
        return judge("check", file, "--certify", wanted, "--out", out, *about, *more)

    return run


def test_a_judge_passes_by_the_lower_ends_and_not_by_the_shares(labels, certify, tmp_path):
    """18 of 20 is .9, and as little as .7; 180 of 200 is .85 at least."""
    assert certify(labels(20, 2)).code == 1
    few = read_certificate(tmp_path / "judge.cert.json")
    assert not few.is_passed
    assert few.requirements[0]["value"] == 0.9
    assert certify(labels(200, 20)).code == 0
    many = read_certificate(tmp_path / "judge.cert.json")
    assert many.is_passed
    assert many.requirements[0]["low"] > 0.8
    assert many.identity["model"] == "openai/gpt-4o"


def test_three_labels_are_certified_by_the_recall_of_each(certify, tmp_path):
    rows = [f"{g},{g}" for g in (1, 2, 3) for _ in range(60)] + ["2,3"] * 40
    (tmp_path / "g.csv").write_text("human,judge\n" + "\n".join(rows) + "\n", "utf-8")
    (tmp_path / "prompt.txt").write_text("Grade it.", "utf-8")
    assert certify("g.csv", wanted="recall>=.8").code == 1
    assert certify("g.csv", wanted="recall:1>=.8,recall:3>=.8,linear_kappa>=.6").code == 0
    low = certify("g.csv", wanted="kappa>=.9").out
    assert re.search(r"Not good enough: kappa is at most \.\d+, but \.900 is required\.", low)
    wrong = certify("g.csv", wanted=WANTED)
    assert wrong.code == 2
    assert "ask for recall>=.8" in wrong.err
    assert "--cut LABEL" in wrong.err


def test_how_often_labels_were_used_is_counted_by_judge(labels, certify, judge, tmp_path):
    file = labels(200, 10)
    certify(file)
    certify(file)
    (tmp_path / "prompt.txt").write_text("Is it really right?", "utf-8")
    third = certify(file)
    used = read_certificate(tmp_path / "judge.cert.json").labels
    assert (used["n_uses"], used["n_judges"]) == (3, 2)
    assert "of 2 judges; the best of several" in third.out


def test_labels_that_the_judge_was_fitted_on_do_not_count(labels, certify, tmp_path):
    file = labels(200, 0)
    same = certify(file, "--fitted-on", file, "--item", "id")
    assert same.code == 2
    assert "the judge was fitted on these labels" in same.err
    lines = (tmp_path / file).read_text("utf-8").splitlines()
    (tmp_path / "train.csv").write_text("\n".join([lines[0], *lines[1:151]]) + "\n", "utf-8")
    part = certify(file, "--fitted-on", "train.csv", "--item", "id")
    assert "Left out: 150 rows that the judge was fitted on" in part.out
    assert read_certificate(tmp_path / "judge.cert.json").labels["n"] == 250


@pytest.mark.parametrize(("options", "message"), [
    (("--certify", WANTED), "name it with --out judge.cert.json"),
    (("--out", "x.json"), "a certificate needs requirements (--certify)"),
    (("--certify", WANTED, "--out", "x.json"), "add --model NAME and --prompt FILE"),
    (("--certify", "sensitivty>=.8", "--out", "x.json", "--model", "m", "--prompt", "prompt.txt"),
     "no figure 'sensitivty'; did you mean sensitivity"),
    (("--certify", "sensitivity=.8", "--out", "x.json", "--model", "m", "--prompt", "prompt.txt"),
     "wanted FIGURE>=NUMBER"),
])  # fmt: skip
def test_a_certificate_that_cannot_be_written_says_what_it_needs(labels, judge, options, message):
    ran = judge("check", labels(20, 0), *options)
    assert ran.code == 2
    assert message in ran.err


def test_a_share_may_be_written_in_percent():
    (one,) = read_requirements("sensitivity>=80%")
    assert (one.figure, one.least) == ("sensitivity", 0.8)


# Judges of nuggetjudge: the demo, by the lexical judge.


def run_support(out, **settings):
    """Results of the lexical judge on the demo's citations."""
    files = {name: str(DEMO / file) for name, file in FILES.items()}
    nj.run(program="support", model="lexical", out=str(out), **files, **settings)
    return out


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Results of one judge, and of the same judge with a state of its own."""
    home = tmp_path_factory.mktemp("results")
    state = {"format": "nuggetjudge-judge-1", "judge": "support", "version": "3",
             "scale": ["none", "partial", "full"], "model": "lexical", "window": 1,
             "fitted_on": [f"demo-{name}" for name in FITTED_ON]}  # fmt: skip
    (home / "state.json").write_text(json.dumps(state), "utf-8")
    fitted = {"judges.support.state": str(home / "state.json")}
    return {"one": run_support(home / "one"), "fitted": run_support(home / "fitted", **fitted)}


@pytest.fixture
def own_labels(tmp_path):
    text = (DEMO / "labels" / "support.jsonl").read_text("utf-8")
    (tmp_path / "human.jsonl").write_text(text, "utf-8")
    return "human.jsonl"


def own(judge, folder, labels, wanted="recall:none>=.8,recall:full>=.6"):
    return judge("check", labels, "--results", str(folder), "--certify", wanted,
                 "--out", "support.json", "--json")  # fmt: skip


def gate(judge, folder, *more):
    return judge("gate", str(folder), "--min", "support_precision=0.05",
                 "--certificate", "support.json", *more)  # fmt: skip


def test_a_gate_takes_the_judge_that_was_certified(judge, folders, own_labels, tmp_path):
    found = own(judge, folders["one"], own_labels)
    assert found.code == 0
    assert (found.rows[0]["n"], found.rows[0]["n_unjudged"]) == (267, 2)
    identity = read_certificate(tmp_path / "support.json").identity
    manifest = json.loads((folders["one"] / "manifest.json").read_text("utf-8"))
    assert identity == manifest["judges"]["support"]
    assert gate(judge, folders["one"]).code == 0


def test_a_gate_refuses_another_judge_and_says_what_is_other(judge, folders, own_labels):
    own(judge, folders["one"], own_labels)
    refused = gate(judge, folders["fitted"])
    assert refused.code == 1
    assert "the certificate is for another judge support: state none -> " in refused.err
    shown = gate(judge, folders["fitted"], "--advisory")
    assert shown.code == 0
    assert shown.out.startswith("advisory only: the certificate is for another judge")


def test_a_gate_refuses_a_judge_that_failed(judge, folders, own_labels):
    assert own(judge, folders["one"], own_labels, "recall:partial>=.8").code == 1
    refused = gate(judge, folders["one"])
    assert refused.code == 1
    assert "failed its certificate: the lower end of recall of partial" in refused.err


def test_a_certificate_expires_when_its_labels_change(judge, folders, own_labels, tmp_path):
    own(judge, folders["one"], own_labels)
    path = tmp_path / own_labels
    path.write_text(path.read_text("utf-8").replace('"full"', '"partial"', 1), "utf-8")
    refused = gate(judge, folders["one"])
    assert refused.code == 1
    assert "has expired: human.jsonl has changed; certify again" in refused.err


def test_a_certificate_that_was_edited_is_no_certificate(judge, folders, own_labels, tmp_path):
    own(judge, folders["one"], own_labels, "recall:partial>=.8")
    path = tmp_path / "support.json"
    row = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**row, "is_passed": True}), "utf-8")
    assert "was edited after it was written" in gate(judge, folders["one"]).err
    path.write_text("{}", "utf-8")
    assert "not a certificate of a judge" in gate(judge, folders["one"]).err


def test_topics_that_a_judge_was_fitted_on_do_not_count_for_it(judge, folders, own_labels):
    """The state of a judge names them; the manifest names the state."""
    (found,) = own(judge, folders["fitted"], own_labels).rows
    assert found["clusters"]["n"] == 12 - len(FITTED_ON)
    assert any("topics that the judge was fitted on" in note for note in found["notes"])
