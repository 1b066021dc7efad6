"""The rubric program on two topics that can be counted by hand, judged by a server."""

import itertools
import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_lines import write_rows
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.plugins.exports import tools
from nuggetjudge.plugins.trec.rubric import ragdoll, researchrubrics
from nuggetjudge.plugins.trec.rubric.lint import lint
from nuggetjudge.plugins.trec.rubric.rubrics import criterion_ids, read_rubrics, rubric_row
from nuggetjudge.plugins.trec.rubric.scores import compute_weighted_rubric, rubric_scores
from nuggetjudge.plugins.trec.rubric.verdicts import read_verdicts
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.partial import results_at
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.kinds import file_kind
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "keypoints"
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
    ("files", "what"), [((), "rubric needs rubrics"), (("others",), "has no judged topic")]
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


# Rubric scores, counted by hand: penalties, the clip, partly, and what is not judged.
EARNED_LABELS = ("not_met", "partly", "met")
rubrics = st.lists(
    st.tuples(
        st.sampled_from([*EARNED_LABELS, None]), st.integers(-5, 5).filter(bool)
    ),  # a label and its weight
    max_size=4,
)


def test_the_score_is_what_the_weights_earn_over_the_weights_above_0():
    # RAGDoll's own test of its ternary and binary score: (5 + 1 + 0) / 10, and 5 / 10.
    scores = rubric_scores(["met", "partly", "not_met"], [5, 2, 3])
    assert scores["rubric"].value == 0.6
    assert scores["rubric_strict"].value == 0.5
    assert set(scores) == {"rubric", "rubric_strict"}


def test_a_penalty_is_taken_off_and_is_no_part_of_the_denominator():
    scores = rubric_scores(["met", "met", "met"], [4, 4, -2])
    assert scores["rubric"].value == 6 / 8
    assert scores["rubric_earned"].value == 1.0
    assert rubric_scores(["met", "met", "not_met"], [4, 4, -2])["rubric"].value == 1.0
    half = rubric_scores(["met", "met", "partly"], [4, 4, -2])
    assert (half["rubric"].value, half["rubric_strict"].value) == (7 / 8, 1.0)


def test_only_the_clipped_score_ends_at_0():
    scores = rubric_scores(["not_met", "met"], [2, -5])
    assert scores["rubric"].value == 0.0
    assert scores["rubric_unclipped"].value == -2.5
    assert scores["rubric_earned"].value == 0.0


def test_what_is_not_judged_is_no_0_and_bounds_take_it_at_its_worst_and_best():
    score = rubric_scores(["met", None, None], [2, 2, -1])["rubric"]
    assert (score.value, score.n, score.n_unjudged) == (1.0, 1, 2)
    assert (score.low, score.high) == (1 / 4, 1.0)  # (2 + 0 - 1) / 4, (2 + 2 - 0) / 4


def test_a_part_with_heavy_penalties_gives_no_value_that_the_whole_cannot_have():
    score = compute_weighted_rubric([0.0, 1.0, None], [1, -5, 9])
    assert score.value == score.low == -0.5  # -5 / 10; of the judged part alone it is -5
    assert score.high == 0.4


def test_without_a_weight_above_0_it_is_0_by_0():
    assert rubric_scores(["met"], [-2])["rubric"].is_undefined
    assert rubric_scores([], [])["rubric"].is_undefined
    assert compute_weighted_rubric([None], [2]).value is None


@pytest.mark.parametrize(
    ("labels", "weights", "what"),
    [
        (["met", "yes"], [1, 1], r"labels\[1\] is 'yes'"),
        (["met"], [1, 2], "1 labels for 2 weights"),
        (["met"], [0], r"weights\[0\] is 0"),
        (["met"], [math.inf], r"weights\[0\] is inf"),
    ],
)
def test_wrong_arguments_are_named(labels, weights, what):
    with pytest.raises(ValueError, match=what):
        rubric_scores(labels, weights)


@given(rubrics)
def test_whatever_the_missing_verdicts_are_the_score_lies_within_the_bounds(given_rubric):
    labels, weights = [label for label, _ in given_rubric], [weight for _, weight in given_rubric]
    open_scores = rubric_scores(labels, weights)
    for filled in itertools.product(*([x] if x else EARNED_LABELS for x in labels)):
        for name, whole in rubric_scores(filled, weights).items():
            score = open_scores[name]
            if whole.value is not None:
                assert score.low - 1e-12 <= whole.value <= score.high + 1e-12


# Rubrics and verdicts of three tools, and what is wrong with a criterion.
OURS = {
    "qid": "14",
    "query": "why is the sea salty",
    "criteria": [
        {"id": "c1", "text": "States that rivers bring salt", "weight": 5, "kind": "binary"},
        {"text": "Claims that whales salt the sea", "weight": -3},
    ],
}
RAGDOLL = {  # as `ragdoll rubric author` writes it
    "task_id": "14",
    "status": "completed",
    "qid": "14",
    "query": "why is the sea salty",
    "criteria": [
        {
            "text": "States that rivers bring salt",
            "type": "explicit",
            "source_nugget": "n0",
            "tier": "mandatory",
            "weight": 5,
        },
    ],
}
RESEARCH = {  # as in ResearchRubrics' README
    "prompt": "why is the sea salty",
    "sample_id": "683a",
    "domain": "AI & ML",
    "conceptual_breadth": "Moderate",
    "rubrics": [
        {"criterion": "States that rivers bring salt", "weight": 4.0, "axis": "Explicit Criteria"}
    ],
}


def reading_put(path, *rows):
    write_rows(path, rows)
    return path


def read(path, *rows):
    problems = Problems()
    rubrics = read_rubrics(reading_put(path, *rows), problems)
    return rubrics, problems


@pytest.mark.parametrize(
    ("row", "topic", "kinds", "weights"),
    [
        (OURS, "14", ["binary", "three_way"], [5, -3]),
        (RAGDOLL, "14", ["three_way"], [5]),
        (RESEARCH, "683a", ["binary"], [4]),
    ],
    ids=["ours", "ragdoll", "researchrubrics"],
)
def test_each_layout_is_told_by_its_content(row, topic, kinds, weights, tmp_path):
    path = tmp_path / "rubrics.jsonl"
    rubrics, problems = read(path, row)
    problems.raise_errors()
    assert file_kind(path) == "rubrics"
    assert rubrics[topic].query == "why is the sea salty"
    assert [c.kind for c in rubrics[topic].criteria] == kinds
    assert [c.weight for c in rubrics[topic].criteria] == weights


@pytest.mark.parametrize("row", [OURS, RAGDOLL, RESEARCH])
def test_what_is_written_is_read_as_it_was(row, tmp_path):
    rubrics, _ = read(tmp_path / "a.jsonl", row)
    again, _ = read(tmp_path / "b.jsonl", *map(rubric_row, rubrics.values()))
    assert again == rubrics
    [rubric] = rubrics.values()
    theirs, _ = read(tmp_path / "c.jsonl", researchrubrics.data_row(rubric))
    texts = [(c.text, c.weight, c.type) for c in theirs[rubric.topic_id].criteria]
    assert texts == [(c.text, c.weight, c.type) for c in rubric.criteria]


def test_a_criterion_without_an_id_has_that_of_its_text(tmp_path):
    rubrics, _ = read(tmp_path / "a.jsonl", OURS)
    assert [c.id for c in rubrics["14"].criteria] == [
        "c1",
        criterion_ids(["Claims that whales salt the sea"])[0],
    ]


def wrong(**changed):
    return {**OURS, "criteria": [{**OURS["criteria"][0], **changed}]}


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([wrong(weight=0)], "a.jsonl:1: field 'criteria[0].weight' is 0, wanted a number above"),
        ([wrong(weight="5")], "'criteria[0].weight' is '5', wanted a number"),
        ([wrong(weight=None)], "field 'criteria[0].weight' is missing"),
        ([wrong(kind="stars")], "wanted binary or three_way"),
        ([OURS, OURS], "a.jsonl:2: topic '14' has a rubric already"),
        ([{"qid": "1"}], "field 'criteria' or 'rubrics' is missing"),
    ],
)
def test_an_error_says_where_what_and_what_was_wanted(rows, what, tmp_path):
    _, problems = read(tmp_path / "a.jsonl", *rows)
    with pytest.raises(InputError) as error:
        problems.raise_errors()
    assert what in str(error.value)


def test_a_rubric_that_ragdoll_could_not_make_is_left_out_and_listed(tmp_path):
    rubrics, problems = read(tmp_path / "a.jsonl", {**RAGDOLL, "status": "failed", "criteria": []})
    assert (rubrics, problems.counts()) == ({}, {"failed_rubric": 1})


@pytest.mark.parametrize(
    ("text", "weight", "kinds"),
    [
        ("Names the year and explains why the dam failed.", 2, ["compound_criterion"]),
        ("States the cause. Names who found it.", 2, ["compound_criterion"]),
        ("Gives the cost as well as the output of 240 MW", 2, ["compound_criterion"]),
        ("Gives the correct answer", 2, ["implicit_criterion"]),
        ("It names the river mentioned above", 2, ["implicit_criterion"]),
        ("Is clear and comprehensive", 2, ["uncheckable_criterion"]),
        ("Uses appropriate sources", 2, ["uncheckable_criterion"]),
        ("Does not blame the river", -3, ["criterion_sign"]),
        ("Does not blame the river", 3, []),
        ("Blames the river for the dam's failure", -3, []),
        ("States that cost and risk fell in 1976", 2, []),
        ("Cites at least three relevant studies", 2, []),
        ("Names one source, e.g. the U.S. Geological Survey", 2, []),
        ("States that Dr. Tarn drew the gates", 2, []),
    ],
)
def test_what_is_wrong_with_a_criterion_is_found(text, weight, kinds):
    assert [fault.kind for fault in lint(text, weight)] == kinds


def test_what_is_found_is_mentioned_with_its_place_and_the_criterion_stays(tmp_path):
    rubrics, problems = read(tmp_path / "a.jsonl", wrong(text="Is clear"))
    [problem] = problems
    assert str(problem).endswith("criteria[0] has nothing to check 'clear' by; say what is to be"
                                 " there: 'Is clear'")  # fmt: skip
    assert (problem.line, problem.action, len(rubrics["14"].criteria)) == (1, "kept", 1)


GRADED = {  # as `ragdoll rubric grade` writes it
    "task_id": "sys:14",
    "status": "completed",
    "qid": "14",
    "run_id": "sys",
    "query": "why is the sea salty",
    "answer_text": "Rivers.",
    "response_length": 1,
    "criteria": [
        {"text": "a", "type": "explicit", "tier": "mandatory", "weight": 5, "verdict": "satisfied"},
        {"text": "b", "weight": 2, "verdict": "partially_satisfied"},
        {"text": "c", "weight": 2, "verdict": "not_satisfied"},
        {"text": "d", "weight": 2, "verdict": "failed"},
    ],
}


def test_ragdolls_failed_is_not_judged(tmp_path):
    path, problems = reading_put(tmp_path / "graded.jsonl", GRADED), Problems()
    verdicts = list(read_verdicts(path, problems))
    assert [one.label for one in verdicts] == ["met", "partly", "not_met", None]
    assert problems.counts() == {"label": 1}
    labels = read_labels(path, Problems())
    assert (labels.kind, labels.n_unlabelled) == ("rubric", 1)
    assert labels.cells[("14", "sys", criterion_ids(["a"])[0])] == "met"


def test_a_graded_answer_is_written_as_it_was_read(tmp_path):
    path = reading_put(tmp_path / "graded.jsonl", GRADED)
    verdicts = {one.criterion_id: one for one in read_verdicts(path, Problems())}
    rubrics, _ = read(tmp_path / "r.jsonl", {k: GRADED[k] for k in ("qid", "query", "criteria")})
    row = ragdoll.make_graded_row(rubrics["14"], verdicts, "sys", "Rivers.", 1)
    assert [one["verdict"] for one in row["criteria"]] == [
        one["verdict"] for one in GRADED["criteria"]
    ]
    assert {name: row[name] for name in row if name != "criteria"} == {
        name: GRADED[name] for name in GRADED if name != "criteria"
    }


def result(**changed):
    row = {"sample_id": "683a", "rubric_title": "a", "verdict": "Satisfied", "score": 1.0}
    return {**row, "reasoning": "it is there", "success": True, "weight": 4.0, **changed}


def test_researchrubrics_results_are_of_the_system_that_the_file_is_named_for(tmp_path):
    rows = (
        result(),
        result(rubric_title="b", verdict="Not Satisfied", score=0.0, weight=-2.0),
        result(rubric_title="c", success=False, verdict="Not Satisfied", score=0.0),
    )
    path, problems = reading_put(tmp_path / "gemini.jsonl", *rows), Problems()
    verdicts = list(read_verdicts(path, problems))
    assert [(one.run_id, one.label, one.weight) for one in verdicts] == [
        ("gemini", "met", 4.0),
        ("gemini", "not_met", -2.0),
        ("gemini", None, 4.0),
    ]
    assert verdicts[0].rationale == "it is there"
    assert problems.counts() == {"label": 1}


def test_two_labels_of_one_criterion_are_an_error(tmp_path):
    rows = (result(), result(verdict="Not Satisfied"))
    problems = Problems()
    list(read_verdicts(reading_put(tmp_path / "gemini.jsonl", *rows), problems))
    with pytest.raises(InputError, match=r"gemini.jsonl:2: criterion .* wanted one label"):
        problems.raise_errors()
