"""`nuggetjudge.calibrate`: what it writes, whom it asks, and that bad labels leave nothing."""

import json
from pathlib import Path

import pytest
from graded_labels import support_rows, write_csv
from json_lines import write_rows
from mock_decisions import DecisionServer
from mock_faults import Refusal
from mock_server import MockServer, Reply, input_of

import nuggetjudge as nj
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.calibration.settings import make_settings
from nuggetjudge.cli.options import read_scale
from nuggetjudge.judges import SupportJudge, read_judge_file
from nuggetjudge.records.reading.problems import InputError

GROUNDED = Path(__file__).resolve().parents[2] / "tests" / "collection" / "grounded.yaml"
ROWS = support_rows()
SHIFTED = {"none": "none", "partial": "none", "full": "partial"}  # what a strict model says


@pytest.fixture
def labels(tmp_path):
    return write_rows(tmp_path / "labels.jsonl", ROWS)


def judged_by_words(body):
    """One label lower than the share of the sentence's words that the passage holds."""
    asked = input_of(body)
    words = asked["sentence"].split()
    share = sum(word in asked["passage"].split() for word in words) / len(words)
    return SHIFTED["full" if share >= 0.7 else "partial" if share >= 0.4 else "none"]


@pytest.fixture
def server():
    """A model that is one label too strict."""
    with MockServer(brain=lambda body: {"verdict": judged_by_words(body)}) as running:
        yield running


@pytest.fixture
def model(server, tmp_path):
    """Settings that name it, with a reply cache of the test's own."""
    entry = {"model": "hosted_vllm/mock", "api_base": server.base_url, "reasks": 0}
    return {"model": entry, "cache": tmp_path / "cache", "resamples": 50}


def test_the_file_is_written_and_the_report_says_where_from(labels, tmp_path):
    out = tmp_path / "fitted" / "support.json"
    result = nj.calibrate(labels, "support", "threshold", out=out, resamples=100)
    assert read_judge_file(out) == result.file
    assert result.report["labels"]["file"] == "labels.jsonl"
    assert result.file.fitted["labels"] == result.report["labels"]
    assert json.loads(json.dumps(result.report)) == result.report
    assert result.report["figures"]["kappa"]["after"]["value"] > 0.7
    assert [path.name for path in out.parent.iterdir()] == ["support.json"]


@pytest.mark.parametrize("method", ["threshold", "topic", "ordinal", "isotonic"])
def test_the_same_inputs_give_the_same_bytes_in_any_order_of_rows(labels, tmp_path, method):
    def bytes_of(name, path, **settings):
        out = tmp_path / name
        nj.calibrate(path, "support", method, out=out, resamples=50, **settings)
        return out.read_bytes()

    first = bytes_of("a.json", labels)
    assert bytes_of("b.json", labels, concurrency=1) == first
    turned = write_rows(labels, ROWS[::-1])
    again, first = (json.loads(text) for text in (bytes_of("c.json", turned), first))
    assert again["fitted"].pop("labels") != first["fitted"].pop("labels")  # the file's hash
    assert again == first


def test_a_judge_file_goes_on_from_another(labels, tmp_path):
    out = tmp_path / "support.json"
    first = nj.calibrate(labels, "support", "threshold", out=out, resamples=0)
    state = {"judges.support.state": str(out)}
    again = nj.calibrate(labels, "support", "threshold", out=out, resamples=0, **state)
    before = again.report["figures"]["kappa"]["before"]["value"]
    assert before == first.report["figures"]["kappa"]["after"]["value"]


def test_each_item_is_asked_once_also_without_a_cache_and_in_folds(labels, model, server):
    for settings in ({"folds": 3}, {"method": "topic"}):
        server.clear()
        method = settings.pop("method", "threshold")
        nj.calibrate(labels, "support", method, **{**model, "cache": False}, **settings)
        assert len(server.requests) == len(ROWS)


def test_probabilities_of_a_model_are_what_is_fitted(labels, model, server):
    def brain(body):
        label = judged_by_words(body)
        others = {name: 0.15 for name in ("none", "partial", "full") if name != label}
        return Reply(json.dumps({"verdict": label}), probabilities={label: 0.7, **others})

    server.brain = brain
    model["model"]["logprobs"] = True
    result = nj.calibrate(labels, "support", "ordinal", **model)
    scores = result.report["probabilities"]
    assert scores.keys() == {"before", "after"}
    assert scores["after"]["log_loss"] < scores["before"]["log_loss"]


# A lenient decision model: full is the likeliest label of every item, and most so where it is true.
LENIENT = {
    "none": {"none": 0.35, "partial": 0.25, "full": 0.40},
    "partial": {"none": 0.10, "partial": 0.42, "full": 0.48},
    "full": {"none": 0.05, "partial": 0.15, "full": 0.80},
}


@pytest.mark.parametrize("method", ["threshold", "ordinal", "topic"])
@pytest.mark.parametrize("kind", ["decision", "chat"])
def test_probabilities_of_either_kind_of_model_are_fitted_alike(kind, method, labels, tmp_path):
    """A chat model that gives log-probabilities is as good as a decision model with the same."""
    truth = {(row["sentence"], row["passage"]): row["label"] for row in ROWS}

    def find_shares(asked):
        return LENIENT[truth[asked["sentence"], asked["passage"]]]

    def say_label(body):
        shares = find_shares(input_of(body))
        label = max(shares, key=shares.__getitem__)
        return Reply(json.dumps({"verdict": label}), probabilities=shares)

    out = tmp_path / "judge.json"
    entry = {"model": "hosted_vllm/mock"}
    if kind == "decision":
        server = DecisionServer(lambda state, question, wanted: find_shares(state["data"]))
        entry |= {"engine": "decision"}
    else:
        server = MockServer(say_label)
        entry |= {"logprobs": True}
    with server:
        entry |= {"api_base": server.base_url}
        result = nj.calibrate(labels, "support", method, model=entry, cache=False, out=out)
        kappa = result.report["figures"]["kappa"]
        assert (kappa["before"]["value"], kappa["after"]["value"]) == (0, 1)
        fitted = SupportJudge(ModelConfig(**entry)).copy_with_fit(read_judge_file(out))
        for row in ROWS[:6]:
            verdict = fitted(sentence=row["sentence"], passage=row["passage"])
            assert verdict.label == row["label"]


def test_labels_that_came_without_their_probabilities_are_counted(
    labels, model, server, monkeypatch
):
    import mock_api

    tell, silent = mock_api.logprobs_of, iter([True] * 5)
    monkeypatch.setattr(mock_api, "logprobs_of", lambda *a: None if next(silent, 0) else tell(*a))
    plain = nj.calibrate(labels, "support", "ordinal", **{**model, "cache": False}).report
    assert "n_without_probabilities" not in plain
    model["model"]["logprobs"] = True
    report = nj.calibrate(labels, "support", "ordinal", **{**model, "cache": False}).report
    assert report["n_without_probabilities"] == 5


def test_items_that_were_not_judged_are_left_out_and_counted(labels, model, server):
    refused = {row["sentence"] for row in ROWS[::9]}
    server.faults = lambda _, body: Refusal() if input_of(body)["sentence"] in refused else None
    report = nj.calibrate(labels, "support", "threshold", folds=6, **model).report
    assert (report["n_unjudged"], report["unjudged"]) == (8, {"refused": 8})
    assert report["n_test"] == len(ROWS) - 8


def test_a_judge_whose_scores_tell_nothing_leaves_the_file_that_is_there(
    labels, model, server, tmp_path
):
    out = tmp_path / "j.json"
    nj.calibrate(labels, "support", "threshold", out=out, resamples=0)
    before = out.read_bytes()
    server.brain = lambda body: {"verdict": "partial"}
    with pytest.raises(InputError, match="threshold: the best cuts label all 48 items to fit on"):
        nj.calibrate(labels, "support", "threshold", out=out, **model)
    assert out.read_bytes() == before


def test_a_budget_is_kept_and_what_it_left_out_is_counted(labels, model, server):
    report = nj.calibrate(labels, "support", "threshold", max_calls=60, **model).report
    assert len(server.requests) == 60
    assert report["unjudged"] == {"budget": 12}


def test_a_judge_of_ones_own_is_fitted_by_its_yaml_file(tmp_path):
    named = {"none": "no", "partial": "partly", "full": "yes"}
    rows = [
        {"topic_id": row["topic_id"], "passage_id": f"p{i}", "claim": row["sentence"],
         "source": row["passage"], "label": named[row["label"]]}
        for i, row in enumerate(ROWS)
    ]  # fmt: skip
    out = tmp_path / "own.json"
    path = write_csv(tmp_path / "own.csv", rows)
    result = nj.calibrate(path, str(GROUNDED), "threshold", out=out, resamples=50)
    assert (result.file.judge, result.file.scale) == ("grounded", ("no", "partly", "yes"))
    assert result.report["figures"]["linear"]["after"]["value"] > 0.6
    again = nj.calibrate(
        path, str(GROUNDED), "threshold", resamples=0, **{"judges.item.state": str(out)}
    )
    before = again.report["figures"]["linear"]["before"]["value"]
    assert before == result.report["figures"]["linear"]["after"]["value"]


def test_the_fitted_judge_gives_the_labels_that_were_measured(labels, tmp_path):
    out = tmp_path / "support.json"
    report = nj.calibrate(labels, "support", "threshold", out=out, resamples=0).report
    judge = SupportJudge(model="lexical").copy_with_fit(read_judge_file(out))
    test = [row for row in ROWS if row["topic_id"] in report["topics"][0]["test"]]
    given = [judge(sentence=row["sentence"], passage=row["passage"]).verdict for row in test]
    right = sum(verdict == row["label"] for verdict, row in zip(given, test, strict=True))
    assert right / len(test) == pytest.approx(report["figures"]["accuracy"]["after"]["value"])


BAD = {
    "labels off the scale": ({"label": "maybe"}, {}, "labels.jsonl:1: field 'label' is 'maybe'"),
    "one class": ({"label": "full"}, {}, "all 72 labels are 'full'"),
    "a method": ({}, {"method": "magic"}, "method 'magic': wanted one of"),
    "a judge": ({}, {"judge": "request"}, "judge 'request': wanted assigner"),
    "a setting": ({}, {"bogus": 1}, "bogus: no such setting"),
    "a price": ({}, {"max_cost": 1.0}, "max_cost: the price of model"),
    "a prompt model": ({}, {"prompt_model": "writer"}, "no model 'writer' under models:"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "settings", "what"), BAD.values(), ids=BAD)
def test_what_is_refused_asks_nobody_and_writes_nothing(
    tmp_path, model, server, change, settings, what
):
    path = write_rows(tmp_path / "labels.jsonl", [{**row, **change} for row in ROWS])
    given = {"judge": "support", "method": "threshold", "out": tmp_path / "new" / "j.json", **model}
    with pytest.raises(InputError, match=what):
        nj.calibrate(path, **{**given, **settings})
    assert server.requests == []
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["labels.jsonl", "notes.txt", ".", "notes.txt/j.json", "x" * 300])
def test_what_is_no_judge_file_is_not_written_over(labels, tmp_path, model, server, name):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    before = labels.read_bytes()
    with pytest.raises(InputError, match=r"exists and is not a judge file|cannot be written"):
        nj.calibrate(labels, "support", "threshold", out=tmp_path / name, **model)
    assert labels.read_bytes() == before
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert server.requests == []


def test_scales_are_read_from_flags():
    assert read_scale([]) is None
    assert read_scale(["0=none", " 1 = None", "2=full"]) == {"0": "none", "1": "none", "2": "full"}
    assert read_scale(["Low", "HIGH"]) == {"low": "low", "high": "high"}
    for wrong in ([""], ["a", ""], ["a=", "b"], ["a", "a=b"]):
        with pytest.raises(InputError, match="wanted LABEL or LABEL=OURS, each label once"):
            read_scale(wrong)


def test_options_are_read_as_yaml():
    how = make_settings(["a=4", "b=[1, 2]", "c=x=y", "resamples=0"], method="gepa")
    assert (how.method, how.resamples) == ("gepa", 0)
    assert how.options == {"a": 4, "b": [1, 2], "c": "x=y"}
    for wrong in ("a", "=3"):
        with pytest.raises(InputError, match="wanted NAME=VALUE"):
            make_settings([wrong])
    with pytest.raises(InputError, match=r"--option a=.*the value is"):
        make_settings(["a=[1"])
    with pytest.raises(InputError, match=r"^--option topic_labels: .*, got -1$"):
        make_settings(["topic_labels=-1"])
