"""The keypoints program on two topics that can be counted by hand."""

import json

import pytest
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

POINTS = {"k1": "the mill burned in 1904", "k2": "a tile works took its place", "k3": "rents fell"}
ANSWERS = {  # run -> topic -> sentences, each one claim
    "full": {"mill": ["The mill burned in 1904.", "A tile works took its place.", "Rents fell."]},
    "part": {"mill": ["The mill burned in 1904.", "The mayor wore a hat."]},
    "empty": {"mill": []},
}
STATED = {  # what the model of these tests says: which points an answer or claim states
    "The mill burned in 1904.": "k1",
    "A tile works took its place.": "k2",
    "Rents fell.": "k3",
}


def rows(*objects):
    return "".join(json.dumps(row) + "\n" for row in objects)


def brain(body):
    asked = input_of(body)
    if "key_point" in asked and "response" in asked:
        stated = [text for text, point in STATED.items() if POINTS[point] == asked["key_point"]]
        is_there = stated and stated[0] in asked["response"]
        evidence = stated[0] if is_there else ""
        return {"evidence": evidence, "verdict": "yes" if is_there else "neutral"}
    if "claims" in asked:
        return {"verdicts": {i: "yes" if c in STATED else "no" for i, c in asked["claims"].items()}}
    if "answer" in asked:
        return {"claims": [f"{text}." for text in asked["answer"].split(".") if text.strip()]}
    if "document" in asked:
        first = asked["document"].split(".")[0]
        new = {"text": first, "spans": [first, "never said"]}
        lost = {"text": "not in the text", "spans": ["never said"]}
        return {"points": [] if asked["known"] else [new, lost]}
    if "points" in asked:
        return {"merged": [{"text": "all", "members": [int(i) for i in asked["points"]]}]}
    return {"verdict": "yes" if asked["key_point"] != "Rents fell" else "no"}


@pytest.fixture
def server():
    with MockServer(brain=brain) as up:
        yield up


@pytest.fixture
def folder(tmp_path):
    answers = [
        {
            "run_id": run,
            "topic_id": topic,
            "topic": "q",
            "references": [],
            "response_length": sum(len(text.split()) for text in texts),
            "answer": [{"text": text, "citations": []} for text in texts],
        }
        for run, of_topic in ANSWERS.items()
        for topic, texts in of_topic.items()
    ]
    points = [{"id": name, "text": text} for name, text in POINTS.items()]
    put = {
        "topics.jsonl": rows(
            {"id": "mill", "title": "What became of the mill?", "domain": "history"},
            {"id": "quay", "title": "Why was the quay moved?", "domain": "ports"},
        ),
        "keypoints.jsonl": rows(
            {"qid": "mill", "query": "What became of the mill?", "key_points": points},
            {"qid": "quay", "query": "Why was the quay moved?", "key_points": points[:1]},
        ),
        "documents.jsonl": rows(
            {"qid": "mill", "docid": "d1", "text": "The mill burned. It was old."},
            {"qid": "mill", "docid": "d2", "text": "Rents fell. Few stayed."},
        ),
        "answers.jsonl": rows(*answers),
    }
    for name, text in put.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def config_of(folder, server, *files, **settings):
    named = {f"data.{name}": folder / f"{name}.jsonl" for name in ("topics", *files)}
    named["data.runs"] = [str(folder / "answers.jsonl")]
    fixed = {"program": ["keypoints"], "run.out": folder / "out"}
    sets = ["run.cache=false", f"models.default.api_base={server.base_url}"]
    return load_config(None, fixed | named | settings, sets, "hosted_vllm/mock")


def means(result):
    return {(r.run_id, r.measure): r for r in result.scores if r.topic_id == "all"}


def test_recall_precision_and_f1_come_out_as_counted_by_hand(folder, server):
    result = nj.run(config_of(folder, server, "keypoints"))
    assert result.is_complete
    cells = {(r.run_id, r.measure): r.value for r in result.scores if r.topic_id == "mill"}
    assert cells["full", "KPR"] == cells["full", "KPP"] == cells["full", "KPF"] == 1.0
    assert cells["part", "KPR"] == pytest.approx(1 / 3)
    assert cells["part", "KPP"] == pytest.approx(1 / 2)
    assert cells["part", "KPF"] == pytest.approx(2 / 5)
    assert (cells["empty", "KPR"], cells["empty", "KPP"], cells["empty", "KPF"]) == (0.0, None, 0.0)
    scores = means(result)  # nobody answered the other topic: recall 0 there, nothing imprecise
    assert scores["full", "KPR"].value == pytest.approx(1 / 2)
    assert scores["full", "KPP"].value == 1.0
    assert score_path(result.folder, Problems()) == result.scores


def test_what_is_asked_is_what_was_planned_and_each_quote_is_looked_up(folder, server):
    config = config_of(folder, server, "keypoints")
    planned = {estimate.judge: estimate.calls for estimate in plan(config)}
    result = nj.run(config)
    asked = [input_of(request.body) for request in server.requests]
    assert planned["entailment"] == sum("key_point" in row for row in asked) == 6
    assert planned["claim_extractor"] == sum("answer" in row for row in asked) == 2
    entailments = result.judgements["entailments"]
    assert {row["is_quoted"] for row in entailments if row["label"] == "yes"} == {True}
    assert len(entailments) == 9  # those of the answer without text are there, without a call


def test_means_by_domain_and_micro_recall_are_in_groups(folder, server):
    folder = nj.run(config_of(folder, server, "keypoints")).folder
    groups = [
        json.loads(line)
        for line in (folder / "groups.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    of = {(g["run_id"], g["by"], g["group"], g["measure"]): g["value"] for g in groups}
    assert of["part", "domain", "history", "KPR"] == pytest.approx(1 / 3)
    assert of["part", "domain", "ports", "KPR"] == 0.0
    assert of["part", "micro", "all", "KPR"] == pytest.approx(1 / 4)


def test_without_claims_there_is_recall_alone(folder, server):
    result = nj.run(config_of(folder, server, "keypoints", **{"keypoints.precision": False}))
    assert {row.measure for row in result.scores} == {"KPR"}
    assert not any("answer" in input_of(request.body) for request in server.requests)


def test_key_points_are_made_from_documents_and_those_left_out_are_listed(folder, server):
    result = nj.run(config_of(folder, server, "documents"))
    (made,) = result.judgements["keypoints"]
    (point,) = made["key_points"]
    assert (point["sources"], point["spans"]) == (["d1", "d2"], ["The mill burned", "Rents fell"])
    out = (result.folder / "rejected_keypoints.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["why"] for line in out} == {"no_span"}
    assert len(out) == 2
    assert result.manifest["problems"]["no_key_points"] == 1  # the topic without documents
    counts = result.manifest["counts"]
    assert counts["key points filtered by samples"] == 1  # the entry asks for no log-probabilities


def test_a_topic_whose_points_were_not_made_is_bounded_and_scored_again_alike(folder, server):
    server.faults = lambda index, body: Refusal() if "points" in input_of(body) else None
    result = nj.run(config_of(folder, server, "documents"))
    assert not result.is_complete
    assert [row["stage"] for row in result.unjudged] == ["merge"]
    cell = next(r for r in result.scores if (r.run_id, r.measure) == ("full", "KPR"))
    assert (cell.value, cell.low, cell.high, cell.n_unjudged) == (None, 0.0, 1.0, 1)
    assert score_path(result.folder, Problems()) == result.scores


def test_a_failed_entailment_is_no_miss(folder, server):
    def no_rents(index, body):
        return Refusal() if input_of(body).get("key_point") == POINTS["k3"] else None

    server.faults = no_rents
    scores = means(nj.run(config_of(folder, server, "keypoints", **{"run.limit": 1})))
    row = scores["full", "KPR"]
    assert (row.value, row.n, row.n_unjudged) == (1.0, 2, 1)
    assert (row.low, row.high) == (pytest.approx(2 / 3), 1.0)


@pytest.mark.parametrize(
    ("files", "says"),
    [((), "keypoints needs key points"), (("documents", "keypoints"), None)],
)
def test_what_is_missing_is_said_before_anything_is_asked(folder, server, files, says):
    if says is None:  # key points that are given are used, and no document is read for others
        nj.run(config_of(folder, server, *files))
        assert not any("document" in input_of(request.body) for request in server.requests)
        return
    with pytest.raises(InputError, match=says):
        nj.run(config_of(folder, server, *files))
    assert server.requests == []


def test_a_topic_with_an_empty_list_counts_nowhere(folder, server):
    path = folder / "keypoints.jsonl"
    first = path.read_text(encoding="utf-8").splitlines()[0]
    path.write_text(
        first + "\n" + rows({"qid": "quay", "query": "q", "key_points": []}), encoding="utf-8"
    )
    result = nj.run(config_of(folder, server, "keypoints"))
    assert result.score("full", "KPR") == 1.0
    assert score_path(result.folder, Problems()) == result.scores
    groups = [json.loads(line) for line in (result.folder / "groups.jsonl").open(encoding="utf-8")]
    assert "ports" not in {row["group"] for row in groups}
    comparison = compare_runs([result.folder], Problems(), measures=["KPR"])["measures"]["KPR"]
    assert {row["run_id"]: row["n_topics"] for row in comparison["runs"]} == dict.fromkeys(
        ANSWERS, 1
    )


def test_key_points_of_no_judged_topic_are_refused_and_of_some_are_listed(folder, server):
    (folder / "topics.jsonl").write_text(
        rows({"id": "mill", "title": "What became of it?"}), encoding="utf-8"
    )
    result = nj.run(config_of(folder, server, "keypoints"))
    assert result.manifest["problems"]["unknown_topic"] == 1
    (folder / "topics.jsonl").write_text(rows({"id": "pier", "title": "Why?"}), encoding="utf-8")
    (folder / "answers.jsonl").write_text(
        (folder / "answers.jsonl").read_text(encoding="utf-8").replace('"mill"', '"pier"'),
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="nothing in it is of a topic that is judged"):
        nj.run(config_of(folder, server, "keypoints", **{"run.out": folder / "other"}))


def test_scores_corrected_by_labels_are_of_recall(folder, server):
    result = nj.run(config_of(folder, server, "keypoints"))
    items = read_items(result.folder, "keypoints", Problems())
    (measure,) = items.measures
    assert measure.name == "KPR"
    labels = [1.0 if label == "yes" else 0.0 for label in items.labels]
    of_full = [
        w * y
        for w, y, run in zip(measure.weights, labels, items.runs, strict=True)
        if run == "full"
    ]
    assert sum(of_full) == pytest.approx(result.score("full", "KPR"))
