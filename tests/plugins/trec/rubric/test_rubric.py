"""The rubric program on two topics that can be counted by hand, judged by a server."""

import json
import re
from pathlib import Path

import pytest
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.plugins.exports import tools
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.partial import results_at
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

EXAMPLE = Path(__file__).resolve().parents[4] / "examples" / "keypoints"
CRITERIA = [  # the criterion, its weight, its kind, and what the model says of the answer of "full"
    ("Names the mill", 4, "binary", "met"),
    ("Gives the year of the fire", 2, "three_way", "partly"),
    ("Says who owned it", 2, "three_way", "met"),
    ("Blames the miller", -3, "binary", "met"),
    ("Tells of the mayor's hat", -1, "three_way", "partly"),
]
LABELS = {text: label for text, _, _, label in CRITERIA}
ANSWERS = {"full": "The mill burned.", "poor": "The miller did it.", "empty": ""}
RUBRIC = {
    "qid": "mill",
    "query": "What became of the mill?",
    "criteria": [
        {"id": f"c{n}", "text": text, "weight": weight, "kind": kind}
        for n, (text, weight, kind, _) in enumerate(CRITERIA)
    ],
}


def brain(body):
    asked = input_of(body)
    if "wanted" in asked:
        made = {"text": f"Names {len(asked['known'])}", "weight": 2, "kind": "binary"}
        return {"criteria": [made, {"text": "Lies", "weight": -1, "kind": "three_way"}]}
    if asked["response"] == ANSWERS["full"]:
        return {"verdicts": {i: LABELS.get(text, "met") for i, text in asked["criteria"].items()}}
    blames = {text for text in LABELS if text.startswith("Blames")}
    return {
        "verdicts": {i: "met" if t in blames else "not_met" for i, t in asked["criteria"].items()}
    }


@pytest.fixture
def server():
    with MockServer(brain=brain) as up:
        yield up


def put(folder, name, *rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    put(tmp_path, "rubrics", RUBRIC)
    put(
        tmp_path,
        "topics",
        {"id": "mill", "title": "What became of the mill?"},
        {"id": "quay", "title": "Why was the quay moved?"},
    )
    answers = [
        {"run_id": r, "topic_id": "mill", "references": [], "answer": [{"text": t}] if t else []}
        for r, t in ANSWERS.items()
    ]
    put(tmp_path, "answers", *answers)
    documents = [{"qid": t, "docid": "d", "text": "It burned."} for t in ("mill", "quay")]
    put(tmp_path, "documents", *documents)
    return tmp_path


def config_of(folder, server, *files, **settings):
    named = {f"data.{name}": folder / f"{name}.jsonl" for name in ("topics", *files)}
    named["data.runs"] = [str(folder / "answers.jsonl")]
    fixed = {"program": ["rubric"], "run.out": folder / "out"}
    sets = ["run.cache=false", f"models.default.api_base={server.base_url}"]
    return load_config(None, fixed | named | settings, sets, "hosted_vllm/mock")


def values(result, topic="mill"):
    return {(r.run_id, r.measure): r.value for r in result.scores if r.topic_id == topic}


def test_the_scores_come_out_as_counted_by_hand(folder, server):
    result = nj.run(config_of(folder, server, "rubrics"))
    assert result.is_complete
    scores = values(result)  # the weights above 0 are 8
    assert scores["full", "rubric"] == (4 + 1 + 2 - 3 - 0.5) / 8
    assert scores["full", "rubric_strict"] == (4 + 2 - 3) / 8
    assert scores["full", "rubric_unclipped"] == (4 + 1 + 2 - 3 - 0.5) / 8
    assert scores["full", "rubric_earned"] == (4 + 1 + 2) / 8
    assert (scores["poor", "rubric"], scores["poor", "rubric_unclipped"]) == (0.0, -3 / 8)
    assert (scores["empty", "rubric"], scores["empty", "rubric_unclipped"]) == (0.0, 0.0)
    assert values(result, "all") == scores  # the other topic has no rubric, and is left out
    assert score_path(result.folder, Problems()) == result.scores


def test_each_kind_is_asked_of_its_judge_as_planned_and_an_empty_answer_of_none(folder, server):
    config = config_of(folder, server, "rubrics")
    planned = {estimate.judge: estimate.calls for estimate in plan(config)}
    nj.run(config)
    asked = [input_of(request.body)["criteria"] for request in server.requests]
    assert planned == {"criterion": 2, "binary_criterion": 2}
    assert sorted(map(len, asked)) == [2, 2, 3, 3]
    binary = [r for r in server.requests if "partly" not in json.dumps(r.body["response_format"])]
    assert len(binary) == 2


def test_all_criteria_can_be_graded_in_one_way(folder, server):
    nj.run(config_of(folder, server, "rubrics", **{"rubric.kind": "three_way"}))
    assert sorted(len(input_of(r.body)["criteria"]) for r in server.requests) == [5, 5]


def test_what_is_refused_is_no_0_and_leaves_bounds(folder, server):
    def refused(index, body):
        is_full = input_of(body)["response"] == ANSWERS["full"]
        is_binary = "partly" not in json.dumps(body["response_format"])
        return Refusal() if is_full and is_binary else None

    server.faults = refused
    result = nj.run(config_of(folder, server, "rubrics"))
    row = next(
        r for r in result.scores
        if (r.run_id, r.topic_id, r.measure) == ("full", "mill", "rubric_unclipped")
    )  # fmt: skip
    assert (row.n, row.n_unjudged, result.is_complete) == (3, 2, False)
    assert row.value == pytest.approx((1 + 2 - 0.5) / 4)  # over what was judged
    assert row.low == pytest.approx((1 + 2 - 0.5 - 3) / 8)
    assert row.high == pytest.approx((1 + 2 - 0.5 + 4) / 8)
    labels = {v["criterion_id"]: v["label"] for v in result.judgements["verdicts"][:5]}
    assert labels == {"c0": None, "c1": "partly", "c2": "met", "c3": None, "c4": "partly"}


def test_a_topic_whose_rubric_could_not_be_made_is_open_and_no_0(folder, server):
    server.faults = lambda index, body: Refusal() if "wanted" in input_of(body) else None
    result = nj.run(config_of(folder, server, "documents"))
    rows = [r for r in result.scores if (r.topic_id, r.measure) == ("mill", "rubric")]
    assert {(r.value, r.low, r.high) for r in rows} == {(None, 0.0, 1.0)}
    assert {r.n_unjudged for r in rows} == {1}
    assert score_path(result.folder, Problems()) == result.scores


def test_a_rubric_is_made_of_the_documents_and_used(folder, server):
    result = nj.run(config_of(folder, server, "documents"))
    rubrics = (result.folder / "rubrics.jsonl").read_text("utf-8").splitlines()
    assert [row["qid"] for row in map(json.loads, rubrics)] == ["mill", "quay"]
    texts = [one["text"] for one in json.loads(rubrics[0])["criteria"]]
    assert texts == ["Names 0", "Lies"]
    assert values(result)["full", "rubric"] == (2 - 1) / 2


def test_probabilities_of_a_penalty_lower_the_expected_score(tmp_path):
    row = {"topic_id": "t", "run_id": "r", "label": "met", "kind": "binary"}
    put(
        tmp_path,
        "verdicts",
        {**row, "criterion_id": "a", "weight": 4},
        {**row, "criterion_id": "b", "weight": -2, "label": "not_met",
         "probabilities": {"not_met": 0.75, "met": 0.25}},
    )  # fmt: skip
    rows = score_path(tmp_path / "verdicts.jsonl", Problems())
    scores = {r.measure: r.value for r in rows if r.topic_id == "t"}
    assert (scores["rubric"], scores["rubric_expected"]) == (1.0, (4 - 0.5) / 4)


def test_corrected_scores_weigh_criteria_by_their_share_and_penalties_not_at_all(folder, server):
    out = nj.run(config_of(folder, server, "rubrics")).folder
    items = read_items(out, "rubric", Problems())
    [measure] = items.measures
    weights = {
        cell[-1]: weight
        for cell, weight in zip(items.cells, measure.weights, strict=True)
        if cell[1] == "full"
    }
    assert measure.name == "rubric_earned"
    assert weights == {"c0": 0.5, "c1": 0.25, "c2": 0.25, "c3": 0.0, "c4": 0.0}


@pytest.mark.parametrize(
    ("files", "what"), [((), "rubric needs rubrics"), (("others",), "nothing in it is of a topic")]
)
def test_without_a_rubric_nothing_is_asked(files, what, folder, server):
    put(folder, "others", {**RUBRIC, "qid": "dock"})
    named = {"data.rubrics": folder / "others.jsonl"} if files else {}
    with pytest.raises(InputError, match=what):
        nj.run(config_of(folder, server, **named))
    assert server.requests == []


def test_the_example_scores_as_its_readme_counts():
    """The lines of its table `both`."""
    rows = score_path(EXAMPLE / "labels" / "verdicts.jsonl", Problems())
    names = ("rubric", "rubric_strict", "rubric_unclipped", "rubric_earned")
    means = {
        run: [next(r.value for r in rows if (r.run_id, r.topic_id, r.measure) == (run, "all", m))
              for m in names]
        for run in ("thorough", "brief", "wander")
    }  # fmt: skip
    assert means["thorough"] == pytest.approx(
        [(17 / 18 + 7.5 / 8) / 2, (1 + 7 / 8) / 2, (17 / 18 + 7.5 / 8) / 2, (1 + 7.5 / 8) / 2]
    )
    assert means["brief"] == pytest.approx([(12 / 18 + 5 / 8) / 2] * 4)
    assert means["wander"] == pytest.approx([0, 0, -1 / 36, 6 / 36])
    readme = (EXAMPLE / "README.md").read_text("utf-8")
    for run, scores in means.items():
        written = re.search(
            rf"^\| both \| {run} \| ([-\d. |]+) \|$", readme.split("strictly")[1], re.M
        )
        assert [float(x) for x in written[1].split(" | ")] == pytest.approx(scores, abs=5e-5)


def test_what_is_written_for_ragdoll_is_read_as_the_same_results(folder, server):
    server.faults = lambda index, body: (
        Refusal() if input_of(body)["response"] == ANSWERS["poor"] else None
    )
    ours = nj.run(config_of(folder, server, "rubrics"))
    problems = Problems()
    counts = tools.write_ragdoll(ours.folder, folder / "theirs", problems)
    assert counts == {"rubric": 1, "graded": 3, "failed": 5}
    assert problems.counts()["weight_not_taken"] == 2  # the penalties
    header, cell = "qid,run_id,ternary_score,binary_score", "mill,full,0.9,0.375"
    (folder / "theirs" / "cell_scores.csv").write_text(f"{header}\n{cell}\n", encoding="utf-8")
    with results_at(folder / "theirs") as opened:
        theirs = score_path(opened.path, Problems())
        kept = [row for row in ours.scores if row.topic_id == "mill"]
        assert [row for row in theirs if row.topic_id == "mill"] == kept
        assert opened.problems.counts()["other_metrics"] == 1  # 0.9 is not what they give


def test_what_is_written_for_researchrubrics_scores_as_its_own_code_does(folder, server):
    ours = nj.run(config_of(folder, server, "rubrics"))
    tools.write_for("researchrubrics", ours.folder, folder / "theirs")
    lines = (folder / "theirs" / "results" / "full.jsonl").read_text("utf-8").splitlines()
    rows = list(map(json.loads, lines))
    earned = sum(row["score"] * row["weight"] for row in rows)
    worth = sum(row["weight"] for row in rows if row["weight"] > 0)
    assert earned / worth == values(ours)["full", "rubric_unclipped"]
