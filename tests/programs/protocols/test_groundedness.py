"""The groundedness task on answers that can be counted by hand."""

import json

import pytest
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.programs.engine.folders import find_inputs
from nuggetjudge.programs.protocols.table import program
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

PASSAGES = {"p1": "The mill burned in 1904.", "p2": "Rents fell.", "p3": "A tile works came."}
SAID = {  # by the model of these tests, of each statement
    "The mill burned.": "supported",
    "It burned in 1905.": "contradicted",
    "The mayor wore a hat.": "not_found",
    "Rents fell.": "supported",
}
ANSWERS = {
    "full": [*SAID],
    "part": ["The mill burned.", "The mayor wore a hat."],
    "empty": [],
}


def rows(*objects):
    return "".join(json.dumps(row) + "\n" for row in objects)


def brain(body):
    asked = input_of(body)
    if "answer" in asked:
        texts = [f"{text.strip()}." for text in asked["answer"].split(".") if text.strip()]
        return {"claims": texts}
    return {"verdicts": {i: SAID[text] for i, text in asked["statements"].items()}}


@pytest.fixture
def model():
    with MockServer(brain) as server:
        yield server, {"model": "openai/mock", "api_base": server.base_url, "reasks": 0}


@pytest.fixture
def data(tmp_path):
    """Files of three runs that answer one topic, without a citation."""

    def write(references=("p1", "p2"), answers=ANSWERS):
        (tmp_path / "topics.tsv").write_text("mill\twhat happened to the mill\n")
        runs = [
            {
                "run_id": run,
                "topic_id": "mill",
                "references": list(references),
                "answer": [{"text": text, "citations": []} for text in texts],
            }
            for run, texts in answers.items()
        ]
        (tmp_path / "runs.jsonl").write_text(rows(*runs))
        texts = ({"docid": name, "text": text} for name, text in PASSAGES.items())
        (tmp_path / "passages.jsonl").write_text(rows(*texts))
        return {
            "topics": tmp_path / "topics.tsv",
            "runs": tmp_path / "runs.jsonl",
            "passages": tmp_path / "passages.jsonl",
            "cache": False,
            "out": tmp_path / "results",
        }

    return write


def values_of(result):
    return {(row.run_id, row.measure): (row.value, row.n, row.n_unjudged) for row in result.rows()}


def test_an_answer_is_scored_by_the_share_of_its_sentences_with_each_label(model, data):
    server, entry = model
    values = values_of(nj.run(program="groundedness", model=entry, **data()))
    assert values == {
        ("full", "faithfulness"): (0.5, 4, 0),
        ("full", "share_contradicted"): (0.25, 4, 0),
        ("full", "share_not_found"): (0.25, 4, 0),
        ("part", "faithfulness"): (0.5, 2, 0),
        ("part", "share_contradicted"): (0.0, 2, 0),
        ("part", "share_not_found"): (0.5, 2, 0),
    }
    assert len(server.requests) == 2  # one an answer with statements
    context = {input_of(request.body)["context"] for request in server.requests}
    assert context == {"The mill burned in 1904.\n\nRents fell."}


def test_faithfulness_is_another_name_of_the_task(model, data):
    result = nj.run(program="faithfulness", model=model[1], **data())
    assert result.manifest["config"]["program"] == ["groundedness"]


def test_claims_are_found_first_and_then_judged(model, data):
    server, entry = model
    answers = {"full": ["The mill burned. Rents fell."], "hat": ["The mayor wore a hat."]}
    given = data(answers=answers)
    server.faults = lambda i, body: Refusal() if "mayor" in str(input_of(body)) else None
    settings = {"groundedness.unit": "claims", "run.allow_missing": 0.5}
    result = nj.run(program="groundedness", model=entry, **given, **settings)
    values = values_of(result)
    assert values["full", "faithfulness"] == (1.0, 2, 0)
    # Nobody could say what this answer claims: not judged, and never a score.
    assert values["hat", "faithfulness"] == (None, 0, 1)
    assert [(row["stage"], row["reason"]) for row in result.unjudged] == [
        ("groundedness_claims", "refused")
    ]


def test_an_answer_without_a_context_is_unjudged_and_the_reason_says_what_to_add(model, data):
    given = data(answers={"full": ANSWERS["full"]})
    row = {"run_id": "bare", "topic_id": "mill", "references": [], "answer": [{"text": "Rents."}]}
    with given["runs"].open("a") as runs:
        runs.write(rows(row))
    result = nj.run(program="groundedness", model=model[1], **given, allow_missing=0.5)
    assert values_of(result)["bare", "faithfulness"] == (None, 0, 1)
    [lost] = result.unjudged
    assert lost["reason"] == "no_passage"
    assert "`references` in a run file, `contexts` in a sample" in lost["detail"]


def test_a_context_without_a_text_leaves_its_answer_unjudged(model, data):
    given = data(references=("p1", "p9"), answers={"full": ANSWERS["full"]})
    result = nj.run(program="groundedness", model=model[1], **given, allow_missing=1.0)
    assert values_of(result)["full", "faithfulness"] == (None, 0, 4)
    assert "1 of 2 contexts have no text in the data, such as p9" in result.unjudged[0]["detail"]
    assert not model[0].requests


def test_the_candidates_of_a_topic_can_be_the_context(model, data, tmp_path):
    given = data(references=())
    (tmp_path / "candidates.jsonl").write_text(rows({"topic_id": "mill", "docids": ["p3"]}))
    settings = {"groundedness.contexts": "candidates", "candidates": tmp_path / "candidates.jsonl"}
    result = nj.run(program="groundedness", model=model[1], **given, **settings)
    assert values_of(result)["full", "faithfulness"] == (0.5, 4, 0)
    asked = {input_of(request.body)["context"] for request in model[0].requests}
    assert asked == {PASSAGES["p3"]}


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({}, "no answer has a context; list their ids in `references`"),
        ({"groundedness.contexts": "candidates"}, "add a file of candidates .data.candidates"),
    ],
)
def test_data_without_any_context_is_an_error_that_names_what_to_add(model, data, change, wanted):
    with pytest.raises(InputError, match=wanted):
        nj.run(program="groundedness", model=model[1], **data(references=()), **change)


def test_data_without_texts_of_contexts_is_an_error(model, data):
    given = data()
    del given["passages"]
    with pytest.raises(InputError, match="no context has a text; add passage files"):
        nj.run(program="groundedness", model=model[1], **given)


def test_documents_that_a_report_brings_are_its_context(model, data, tmp_path):
    given = data()
    del given["passages"]
    report = {
        "metadata": {"run_id": "own", "topic_id": "mill"},
        "responses": [{"text": "Rents fell.", "citations": []}],
        "references": ["d1"],
        "documents": {"d1": {"text": "Rents fell in 1905."}},
    }
    given["runs"].write_text(rows(report))
    result = nj.run(program="groundedness", model=model[1], **given)
    assert values_of(result)["own", "faithfulness"] == (1.0, 1, 0)


def test_scores_are_made_from_the_files_alone(model, data):
    result = nj.run(program="groundedness", model=model[1], **data())
    assert score_path(result.folder, Problems()) == list(result.scores)
    alone = score_path(result.folder / "groundedness.jsonl", Problems())
    both = ([row for row in of if row.topic_id == "mill"] for of in (alone, result.scores))
    assert [*next(both)] == [*next(both)]


def test_the_rows_of_one_run_can_be_scored_alone(model, data):
    result = nj.run(program="groundedness", model=model[1], **data())
    file = result.folder / "groundedness.jsonl"
    scored = score_path(file, Problems(), where={"run_id": ["part"]})
    assert {row.run_id for row in scored} == {"part"}


def test_the_weights_of_statements_give_the_scores(model, data):
    result = nj.run(program="groundedness", model=model[1], **data())
    means = {(row.run_id, row.measure): row.value for row in result.scores if row.topic_id == "all"}
    items = read_items(result.folder, "groundedness", Problems())
    for measure in items.measures:
        gains = measure.get_gains(items)
        for run in ("full", "part"):
            own = [i for i, name in enumerate(items.runs) if name == run]
            total = sum(measure.weights[i] * gains[i] for i in own)
            assert total == pytest.approx(means[run, measure.name])


def test_people_read_the_statement_with_all_of_its_context(model, data):
    result = nj.run(program="groundedness", model=model[1], **data())
    config = find_inputs(result.folder).config
    cell = ("mill", "part", "0")
    [(found, texts)] = program("groundedness").texts(config, result.folder, {cell})
    assert found == cell
    assert texts == {
        "question": "what happened to the mill",
        "statement": "The mill burned.",
        "context": "The mill burned in 1904.\n\nRents fell.",
    }


def test_labels_of_people_are_held_against_those_of_the_judge(model, data, tmp_path):
    result = nj.run(program="groundedness", model=model[1], **data())
    labels = tmp_path / "people.csv"
    lines = "".join(f"mill,full,{n},supported\n" for n in range(4))
    labels.write_text(f"topic_id,run_id,statement_id,label\n{lines}")
    assert "(groundedness, n=4, share of equal labels .50)" in repr(result.agree(labels))


def test_show_has_each_sentence_with_its_label(model, data):
    text = str(nj.run(program="groundedness", model=model[1], **data()).show("full", "mill"))
    assert "It burned in 1905.\n     contradicted" in text
    assert "no citation" not in text
