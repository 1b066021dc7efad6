"""Published labels answer in the place of their judge: as they were given, or not at all."""

from pathlib import Path

import pytest
from json_lines import read_rows, write_rows

import nuggetjudge as nj
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.stage import labels as labels_stage
from nuggetjudge.records.reading.problems import InputError

ROOT = Path(__file__).resolve().parents[2]
ASKED = {"question": "what makes tides", "answer": "The moon makes them. Kelp grows."}
NUGGETS = ("moon makes tides", "kelp grows", "sun is far")
VOTES = (
    {"a": "support", "b": "not_support"},
    {"a": "partial_support", "b": "Support"},
    {"b": "support"},
)


@pytest.fixture
def run(tmp_path):
    """`run("recorded:a")` -> the result of three nuggets in one call, from rows with votes."""
    ids = [{"topic_id": "t", "run_id": "r", "nugget_id": f"n{i}"} for i in range(3)]
    both = zip(ids, NUGGETS, strict=True)
    write_rows(tmp_path / "items.jsonl", [{**i, **ASKED, "nugget": text} for i, text in both])

    def go(model, rows=VOTES, field="votes", *, names=ids, **more):
        labelled = [
            {**i, "label": "support", field: row} for i, row in zip(names, rows, strict=True)
        ]
        write_rows(tmp_path / "recorded.jsonl", labelled)
        entry = {"recording": str(tmp_path / "recorded.jsonl")}
        models = model if isinstance(model, dict) else {"default": model}
        given = {f"models.{n}": {"model": name, **entry} for n, name in models.items()}
        given |= {"program": "items", "items.judge": "assigner", "run.cache": False}
        given |= {"data.items": tmp_path / "items.jsonl", "run.out": tmp_path / "out"}
        return nj.run(load_config(None, {**given, **more}))

    return go


def labels(result):
    return [row["label"] for row in read_rows(result.folder / "labels.jsonl")]


def test_each_item_has_the_label_that_the_judge_gave_it_and_no_other(run):
    result = run("recorded:a")
    assert labels(result) == ["support", "partial_support", None]
    (lost,) = read_rows(result.folder / "unjudged.jsonl")
    assert (lost["nugget_id"], lost["reason"]) == ("n2", "error")
    assert "has no label of a for t, r, n2" in lost["detail"]
    assert result.score("r", "mean_gain") == 0.75
    model = result.manifest["judges"]["assigner"]["model"]
    assert (model["model"], len(model["recording"])) == ("recorded:a", 64)


def test_another_judge_of_the_file_is_another_model(run):
    assert labels(run("recorded:b")) == ["not_support", "support", "support"]
    again = run("recorded:a", field="llm", **{"run.force": True})
    assert labels(again) == ["support", "partial_support", None]


def test_a_file_that_changed_is_read_anew(run):
    assert labels(run("recorded:a"))[0] == "support"
    changed = ({"a": "not_support"}, *VOTES[1:])
    assert labels(run("recorded:a", changed))[0] == "not_support"


def test_a_jury_of_recorded_judges_needs_no_key(run):
    jury = {"members": ["one", "two"], "method": "vote", "quorum": 1}
    models = {"one": "recorded:a", "two": "recorded:b"}
    result = run(models, **{"judges.assigner.jury": jury})
    rows = read_rows(result.folder / "labels.jsonl")
    assert [row["votes"] for row in rows] == [
        {"one": "support", "two": "not_support"},
        {"one": "partial_support", "two": "support"},
        {"one": None, "two": "support"},
    ]


def test_a_label_that_is_not_of_the_scale_is_no_judgement(run):
    result = run("recorded:a", ({"a": "great"}, {"a": "support"}, {"a": "support"}))
    assert labels(result) == [None, "support", "support"]
    assert read_rows(result.folder / "unjudged.jsonl")[0]["reason"] == "unparseable"


@pytest.mark.parametrize(
    ("model", "more", "error", "what"),
    [
        ("recorded:c", {}, InputError, "no label of 'c', wanted one of a, b"),
        ("recorded:a", {"names": [{"topic_id": f"t{i}"} for i in range(3)]}, EndpointUnusable,
         "identifies items by topic_id, this run by topic_id, run_id, nugget_id"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_of_the_run_ends_it(run, model, more, error, what):
    with pytest.raises(error, match=what):
        run(model, **more)


def test_grades_of_passages_are_read_from_qrels(tmp_path):
    write_rows(
        tmp_path / "items.jsonl",
        [{"topic_id": "t", "passage_id": p, "question": "q", "passage": "x"} for p in ("p1", "p2")],
    )
    (tmp_path / "model.qrels").write_text("t 0 p1 3\nt 0 p2 0\n")
    model = {"model": "recorded:umbrela", "recording": str(tmp_path / "model.qrels")}
    given = {"items.judge": "relevance", "data.items": tmp_path / "items.jsonl"}
    result = nj.run(program="items", model=model, out=tmp_path / "out", **given)
    assert labels(result) == ["3", "0"]


@pytest.mark.parametrize(
    ("task", "file"), [("nuggets", "assignments.jsonl"), ("support", "support.jsonl")]
)
def test_a_task_has_the_scores_of_the_results_that_were_recorded(tmp_path, task, file):
    """Each under the ids that the task itself uses, in windows and alone."""
    demo = ROOT / "examples" / "demo" / "judge.yaml"
    given = {"program": task, "run.cache": False}
    first = nj.run(load_config(demo, {**given, "run.out": tmp_path / "first"}))
    model = {"model": "recorded:old", "recording": str(first.folder / file)}
    again = nj.run(load_config(demo, {**given, "run.out": tmp_path / "x", "models.default": model}))
    assert again.is_complete
    assert again.scores == first.scores


def test_it_answers_nothing_that_was_not_asked_of_it(tmp_path):
    """A probe changes texts: the label of the text before would say that nothing moved."""
    write_rows(tmp_path / "r.jsonl", [{"topic_id": "t", "passage_id": "p", "label": "full"}])
    config = ModelConfig(model="recorded:a", recording=tmp_path / "r.jsonl")
    with pytest.raises(JudgeError, match="only for the unchanged items of a run"):
        nj.judges.SupportJudge(config)(sentence="Tides.", passage="Tides.")
    with pytest.raises(ValueError, match="recorded:a needs recording, a file of labels"):
        ModelConfig(model="recorded:a")


def test_what_names_the_items_goes_to_workers_elsewhere():
    """Executors in other processes send the function that asks, with all that it holds."""
    cloudpickle = pytest.importorskip("cloudpickle")
    judges = {"support": nj.judges.SupportJudge("lexical")}
    stage = labels_stage("support", judges, "support", lambda: iter(()))
    assert callable(cloudpickle.loads(cloudpickle.dumps(stage.ask)))
