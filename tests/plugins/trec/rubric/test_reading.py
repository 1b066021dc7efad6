"""Rubrics and verdicts of three tools, and what is wrong with a criterion."""

import json

import pytest

from nuggetjudge.plugins.trec.rubric import ragdoll, researchrubrics
from nuggetjudge.plugins.trec.rubric.lint import lint
from nuggetjudge.plugins.trec.rubric.rubrics import criterion_ids, read_rubrics, rubric_row
from nuggetjudge.plugins.trec.rubric.verdicts import read_verdicts
from nuggetjudge.records.kinds import file_kind
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

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


def put(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path, *rows):
    problems = Problems()
    rubrics = read_rubrics(put(path, *rows), problems)
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
    path, problems = put(tmp_path / "graded.jsonl", GRADED), Problems()
    verdicts = list(read_verdicts(path, problems))
    assert [one.label for one in verdicts] == ["met", "partly", "not_met", None]
    assert problems.counts() == {"label": 1}
    labels = read_labels(path, Problems())
    assert (labels.kind, labels.n_unlabelled) == ("rubric", 1)
    assert labels.cells[("14", "sys", criterion_ids(["a"])[0])] == "met"


def test_a_graded_answer_is_written_as_it_was_read(tmp_path):
    path = put(tmp_path / "graded.jsonl", GRADED)
    verdicts = {one.criterion_id: one for one in read_verdicts(path, Problems())}
    rubrics, _ = read(tmp_path / "r.jsonl", {k: GRADED[k] for k in ("qid", "query", "criteria")})
    row = ragdoll.graded_row(rubrics["14"], verdicts, "sys", "Rivers.", 1)
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
    path, problems = put(tmp_path / "gemini.jsonl", *rows), Problems()
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
    list(read_verdicts(put(tmp_path / "gemini.jsonl", *rows), problems))
    with pytest.raises(InputError, match=r"gemini.jsonl:2: criterion .* wanted one label"):
        problems.raise_errors()
