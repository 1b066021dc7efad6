"""The same answers under two judge models: KPR of each, the order of the runs, and the flips.

The case is examples/keypoints. One model gives our labels; the other says yes to whatever is
asked of an answer of more than 60 words, which are three of the five, and neutral of the others.
"""

import pytest
from mock_server import MockServer, input_of
from sennick_brain import ANSWERS, FOLDER, POINTS, careful

import nuggetjudge as nj
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.compare import compare
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import InputError, Problems

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
        "topic_id": "sennick-lagoon",
        "run_id": "wander",
        "key_point_id": "cement",
        "label": "no",
        "other_label": "yes",
        "quote": first["quote"],
        "other_quote": answer.split(". ")[0],
        "key_point": POINTS["sennick-lagoon", "cement"],
        "response": answer,
    }
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
    with pytest.raises(InputError, match="no cell in common"):
        compare(folders[0], other, Problems(), way="judges")
