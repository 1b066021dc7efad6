"""The keypoints program on two topics that can be counted by hand."""

import json

import pytest
from json_lines import read_rows
from mock_server import MockServer, Refusal, input_of
from sennick_brain import ANSWERS, FOLDER, POINTS, careful

import nuggetjudge as nj
from nuggetjudge.metrics import Value
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.compare import compare
from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.protocols.keypoints import KeyPointCell, group_rows
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records import Topic
from nuggetjudge.records.key_points import Claim, ClaimSet
from nuggetjudge.records.reading.problems import InputError, Problems

JUDGING_POINTS = {
    "k1": "the mill burned in 1904", "k2": "a tile works took its place", "k3": "rents fell",
}  # fmt: skip
JUDGING_ANSWERS = {  # run -> topic -> sentences, each one claim
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
        stated = [
            text for text, point in STATED.items() if JUDGING_POINTS[point] == asked["key_point"]
        ]
        is_there = stated and stated[0] in asked["response"]
        evidence = stated[0] if is_there else ""
        return {"evidence": evidence, "verdict": "yes" if is_there else "neutral"}
    if "claims" in asked:
        return {"verdicts": {i: "yes" if c in STATED else "no" for i, c in asked["claims"].items()}}
    if "statements" in asked:  # the document says all but one of these
        lost = "A tile works took its place."
        kinds = {
            i: "not_found" if s == lost else "supported" for i, s in asked["statements"].items()
        }
        return {"verdicts": kinds}
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
            "run_id": run, "topic_id": topic, "topic": "q", "references": [],
            "response_length": sum(len(text.split()) for text in texts),
            "answer": [{"text": text, "citations": []} for text in texts],
        }
        for run, of_topic in JUDGING_ANSWERS.items()
        for topic, texts in of_topic.items()
    ]  # fmt: skip
    points = [{"id": name, "text": text} for name, text in JUDGING_POINTS.items()]
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
    groups = read_rows(folder / "groups.jsonl")
    of = {(g["run_id"], g["by"], g["group"], g["measure"]): g["value"] for g in groups}
    assert of["part", "domain", "history", "KPR"] == pytest.approx(1 / 3)
    assert of["part", "domain", "ports", "KPR"] == 0.0
    assert of["part", "micro", "all", "KPR"] == pytest.approx(1 / 4)


def test_without_claims_there_is_recall_alone(folder, server):
    result = nj.run(config_of(folder, server, "keypoints", **{"keypoints.precision": False}))
    assert {row.measure for row in result.scores} == {"KPR"}
    assert not any("answer" in input_of(request.body) for request in server.requests)


@pytest.mark.parametrize("is_refused", [False, True])
def test_precision_by_documents_stands_beside_that_by_key_points(folder, server, is_refused):
    quay = {"qid": "quay", "docid": "d1", "text": "The quay was moved."}
    with (folder / "documents.jsonl").open("a") as file:
        file.write(rows(quay))
    if is_refused:
        server.faults = lambda index, body: Refusal() if "statements" in input_of(body) else None
    config = {"keypoints.precision": "documents"}
    result = nj.run(config_of(folder, server, "keypoints", "documents", **config))
    of = {(r.run_id, r.measure): r for r in result.scores if r.topic_id == "mill"}
    assert of["part", "KPP"].value == 0.5  # the mayor's hat is no key point, but in a document
    assert score_path(result.folder, Problems()) == result.scores
    if is_refused:
        values = of["part", "KPP_documents"], of["part", "KPF_documents"]
        assert {(one.value, one.low, one.high) for one in values} == {(None, 0, 1)}
        assert values[0].n_unjudged == 2
        return
    assert of["part", "KPP_documents"].value == 1
    assert of["part", "KPF_documents"].value == pytest.approx(1 / 2)  # of 1/3 and 1
    assert of["full", "KPP_documents"].value == pytest.approx(2 / 3)  # 3 claims, one not found
    assert of["empty", "KPP_documents"].value is None
    asked = [input_of(request.body) for request in server.requests]
    (context,) = {row["context"] for row in asked if "statements" in row}
    assert "It was old." in context
    assert "Few stayed." in context


def test_precision_by_documents_needs_documents_of_each_topic(folder, server):
    config = {"keypoints.precision": "documents"}
    with pytest.raises(InputError, match=r"documents\.jsonl: no document of topic 'quay'"):
        nj.run(config_of(folder, server, "keypoints", "documents", **config))
    assert not server.requests


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
        return Refusal() if input_of(body).get("key_point") == JUDGING_POINTS["k3"] else None

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
        JUDGING_ANSWERS, 1
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
    with pytest.raises(InputError, match="has no judged topic"):
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


# The same answers under two judge models: KPR of each, the order of the runs, and the flips.
LONG = 60  # words of an answer that `wordy` believes


def wordy(body):
    """A long answer states every key point, a short one none; every sentence is a good claim."""
    asked = input_of(body)
    if "response" in asked:
        is_long = len(asked["response"].split()) > LONG
        quote = asked["response"].split(". ")[0] if is_long else ""
        return {"evidence": quote, "verdict": "yes" if is_long else "neutral"}
    if "answer" in asked:
        return {"claims": asked["answer"].split(". ")}
    return {"verdicts": dict.fromkeys(asked["claims"], "yes")}


# Counted by hand: yes of 12 and of 4 key points, mean of both; `wander` answers one question.
KPR = {
    "thorough": {"careful": (11 / 12 + 3 / 4) / 2, "wordy": (1 + 1) / 2},
    "brief": {"careful": (3 / 12 + 2 / 4) / 2, "wordy": 0},
    "wander": {"careful": (2 / 12 + 0) / 2, "wordy": (1 + 0) / 2},
}
KPF = {  # of `wordy` KPP is 1 everywhere
    "thorough": {"careful": (132 / 149 + 15 / 19) / 2, "wordy": 1},
    "brief": {"careful": (2 / 5 + 2 / 3) / 2, "wordy": 0},
    "wander": {"careful": 1 / 7 / 2, "wordy": 1 / 2},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The results of both models on the same files."""
    out = tmp_path_factory.mktemp("swap")
    named = {f"data.{name}": FOLDER / f"{name}.jsonl" for name in ("topics", "keypoints")}
    named |= {"program": ["keypoints"], "data.runs": [str(FOLDER / "answers")]}
    for name, brain in (("careful", careful), ("wordy", wordy)):
        with MockServer(brain=brain, model_names=[name]) as server:
            sets = ["run.cache=false", f"models.default.api_base={server.base_url}"]
            config = load_config(None, named | {"run.out": out / name}, sets, f"hosted_vllm/{name}")
            assert nj.run(config).is_complete
    return out / "careful", out / "wordy"


def test_kpr_of_each_run_under_each_model_is_the_hand_count(folders):
    agreement = agree(*(folder / "scores.jsonl" for folder in folders), Problems(), resamples=0)
    scores = agreement["measures"]["KPR"]["run_scores"]
    assert scores.keys() == KPR.keys()
    for run, under in KPR.items():
        assert list(scores[run].values()) == pytest.approx([under["careful"], under["wordy"]])


def test_rank_agreement_is_kendalls_tau_by_measure(folders):
    measures = agree(*folders, Problems(), kind="scores", resamples=0)["measures"]
    # thorough, brief, wander against thorough, wander, brief: of three pairs one is discordant.
    assert measures["KPR"]["run_level"] == pytest.approx(1 / 3)
    assert measures["KPF"]["run_level"] == pytest.approx(1 / 3)
    scores = measures["KPF"]["run_scores"]
    for run, under in KPF.items():
        assert list(scores[run].values()) == pytest.approx([under["careful"], under["wordy"]])
    assert measures["KPP"]["run_level"] is None  # all equal under one of the two: no order


def test_the_runs_that_swap_are_named_with_both_scores(folders):
    comparison = compare(*folders, Problems())
    assert (comparison["compared"], comparison["kind"]) == ("judges", "keypoints")
    ranking = comparison["ranking"]["KPR"]
    assert ranking["tau_b"] == pytest.approx(1 / 3)
    assert ranking["swaps"] == [["brief", "wander"]]
    assert [row["run_id"] for row in ranking["scores"]] == ["thorough", "brief", "wander"]
    for row in ranking["scores"]:
        under = KPR[row["run_id"]]
        pair = [row["score"], row["other_score"]]
        assert pair == pytest.approx([under["careful"], under["wordy"]])
    assert set(comparison["ranking"]) == {"KPR"}  # each has claims of its own, so no KPP of both


def test_every_flip_is_listed_with_both_labels_quotes_and_texts(folders):
    comparison = compare(*folders, Problems())
    counts = {(row["label"], row["other_label"]): row["n"] for row in comparison["flip_counts"]}
    # wander: 9 that it does not state, 1 that it denies; thorough: `dredging`, `limit`; brief: 5.
    assert counts == {("neutral", "yes"): 11, ("yes", "neutral"): 5, ("no", "yes"): 1}
    assert (comparison["agreement"]["n"], comparison["n_flips"]) == (44, 17)
    first = comparison["flips"][0]
    answer = ANSWERS["wander", "sennick-lagoon"]
    assert first == {
        "topic_id": "sennick-lagoon", "run_id": "wander", "key_point_id": "cement", "label": "no",
        "other_label": "yes", "quote": first["quote"], "other_quote": answer.split(". ")[0],
        "key_point": POINTS["sennick-lagoon", "cement"], "response": answer,
    }  # fmt: skip
    assert first["quote"].startswith("It filled up because dust from the cement works")


def test_the_cost_of_a_judgement_is_compared_too(folders):
    cost = compare(*folders, Problems())["cost"]
    assert cost["one"]["calls"] >= 44
    assert cost["ratio_per_judgement"]["calls"] > 0
    assert cost["ratio_per_judgement"]["dollars"] is None  # nobody knows the price


@pytest.mark.whole
def test_people_are_asked_first_where_the_two_differ_with_what_they_need_to_judge(folders):
    from nuggetjudge.plugins.annotate.work.next_labels import next_labels

    sheet = next_labels(folders, 17, Problems(), random_share=0)
    assert sheet.n_by["disagreement"] == 17
    flips = {
        (row["topic_id"], row["run_id"], row["key_point_id"])
        for row in compare(*folders, Problems())["flips"]
    }
    assert flips == {(row["topic_id"], row["run_id"], row["key_point_id"]) for row in sheet.rows}
    for row in sheet.rows:
        assert row["key_point"] == POINTS[row["topic_id"], row["key_point_id"]]
        assert row["response"] == ANSWERS[row["run_id"], row["topic_id"]]
    assert sheet.scale == ("no", "neutral", "yes")


def test_people_against_a_model_are_ranked_by_the_models_key_points(folders, tmp_path):
    rows = ["topic_id,run_id,key_point_id,label,evidence"]
    rows += ["corrin-ferry,brief,chain,no,a chain", "corrin-ferry,brief,speed,yes,half speed"]
    human = tmp_path / "human.csv"
    human.write_text("\n".join(rows) + "\n", encoding="utf-8")
    comparison = compare(human, folders[0], Problems())
    (flip,) = comparison["flips"]
    assert (flip["quote"], flip["label"], flip["other_label"]) == ("a chain", "no", "yes")
    assert flip["other_quote"].startswith("A chain on the bed")
    # On the two that both labelled: one of two under people, both under the model.
    assert comparison["ranking"]["KPR"]["scores"] == [
        {"run_id": "brief", "score": 0.5, "other_score": 1.0}
    ]


def test_evidence_that_was_judged_is_no_quote(tmp_path):
    for name, label in (("one", "yes"), ("other", "no")):
        row = f'{{"item_id": "i1", "topic_id": "t", "label": "{label}", "evidence": "a page"}}\n'
        (tmp_path / f"{name}.jsonl").write_text(row, encoding="utf-8")
    comparison = compare(tmp_path / "one.jsonl", tmp_path / "other.jsonl", Problems(), way="judges")
    assert "quote" not in comparison["flips"][0]


def test_other_key_points_are_no_common_cells(folders, tmp_path):
    text = (folders[1] / "entailments.jsonl").read_text(encoding="utf-8")
    other = tmp_path / "made.jsonl"
    other.write_text(text.replace('"key_point_id":"', '"key_point_id":"made-'), encoding="utf-8")
    with pytest.raises(InputError, match="no item in common"):
        compare(folders[0], other, Problems(), way="judges")


# KPF where missing judgements leave open whether it is 0/0, and groups with missing answers.
NOTHING_CLAIMED = ()
NOT_EXTRACTED = None


def kpf(labels, claims):
    texts = claims and tuple(Claim(text=str(i), label=label) for i, label in enumerate(claims))
    claim_set = ClaimSet(topic_id="t", run_id="r", claims=texts)
    return KeyPointCell("t", "r", list(labels), claim_set, precision=True).values()["KPF"]


OPEN = {  # labels of the key points, of the claims, and how much is missing
    "0, or 0/0 with one point entailed": (["no", None], NOTHING_CLAIMED, 1),
    "nothing judged of what says nothing": ([None, None], NOTHING_CLAIMED, 2),
    "0/0 if it claims nothing": (["yes", "no"], NOT_EXTRACTED, 1),
    "0, 0/0 or more": (["no", None], NOT_EXTRACTED, 2),
}
CERTAIN = {
    "no key point and no claim": (["no"], NOTHING_CLAIMED, Value(0.0, 1, 0, 0.0, 0.0)),
    "no key point, whatever it claims": (["no"], NOT_EXTRACTED, Value(0.0, 1, 1, 0.0, 0.0)),
    "0/0, whatever the others": (["yes", None], NOTHING_CLAIMED, Value(None, 1, 0, None, None)),
    "both known": (["yes"], ["yes"], Value(1.0, 2, 0, 1.0, 1.0)),
}


@pytest.mark.parametrize(("labels", "claims", "n_missing"), OPEN.values(), ids=OPEN.keys())
def test_a_value_that_may_be_none_has_the_widest_bounds(labels, claims, n_missing):
    value = kpf(labels, claims)
    assert (value.value, value.low, value.high, value.n_unjudged) == (None, 0.0, 1.0, n_missing)


@pytest.mark.parametrize(("labels", "claims", "value"), CERTAIN.values(), ids=CERTAIN.keys())
def test_a_value_that_nothing_can_take_away_stays(labels, claims, value):
    assert kpf(labels, claims) == value


def test_where_the_answer_was_not_made_nothing_is_known():
    values = KeyPointCell("t", "r", None, precision=True).values()
    assert set(values.values()) == {Value(None, 0, 1, 0.0, 1.0)}


def recall_of(run_id):
    """By group, KPR with its bounds and how much is missing; nobody knows the points of t2."""
    cells = [
        KeyPointCell("t1", "judged", ["yes", "no"]),
        KeyPointCell("t1", "lost", None),
        KeyPointCell("t3", "lost", ["yes"]),
    ]
    topics = [Topic(id=name, text=name, domain="ports") for name in ("t1", "t2", "t3")]
    lengths = {("t1", "judged"): 9, ("t3", "lost"): 9}
    rows = list(group_rows(cells, topics, {"t1": 2, "t3": 1}, lengths))
    fields = ("value", "low", "high", "n_unjudged")
    return {
        row["by"]: tuple(row[name] for name in fields)
        for row in rows
        if row["run_id"] == run_id and row["measure"] == "KPR"
    }


def test_a_topic_whose_key_points_are_not_known_leaves_the_means_of_its_groups_open():
    of = recall_of("judged")  # 1 of 2 points, nothing of t2, and nothing of the 1 point of t3
    assert of["domain"] == pytest.approx((1 / 6, 1 / 6, 1 / 2, 1))
    assert of["micro"] == pytest.approx((1 / 3, 0.0, 1.0, 1))


def test_an_answer_that_was_not_made_leaves_its_groups_open():
    of = recall_of("lost")
    assert of["micro"] == (1.0, 0.0, 1.0, 3)  # both points of t1, and those of t2
    assert of["length"] == (1.0, 0.0, 1.0, 1)  # nobody knows how long it would have been
