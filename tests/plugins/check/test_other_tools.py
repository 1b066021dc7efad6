"""Results of other tools, in the layout that their releases write, are checked as they are.

tests/integrations reads files that the tools themselves wrote.
"""

import json

import pytest

import nuggetjudge as nj
from nuggetjudge.plugins.check.readers import read_results
from nuggetjudge.records.reading.problems import InputError, Problems

TRUTH = [True, True, False, False] * 5
SAID = [True, False, False, False] * 5  # by hand: sensitivity .5, specificity 1


def save(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def assert_is_half(found):
    assert (found["sensitivity"]["value"], found["specificity"]["value"]) == (0.5, 1.0)
    assert found["n"] == 20


def inspect_log():
    """inspect_ai 0.3.285, log_format json; a score that a person edited keeps what it was."""
    samples = []
    for i, (truth, said) in enumerate(zip(TRUTH, SAID, strict=True)):
        score = {"value": "C" if said else "I", "answer": "x", "explanation": "why", "history": []}
        samples.append({
            "id": f"q{i}", "epoch": 1, "input": f"question {i}", "target": "a", "messages": [],
            "scores": {"model_graded_qa": score, "length": {"value": 0.5, "history": []}},
            "metadata": {"human": "yes" if truth else "no", "topic": f"t{i % 5}"},
        })  # fmt: skip
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "plan": {},
            "stats": {}, "samples": samples}  # fmt: skip


def test_an_inspect_log_has_its_scores_and_the_labels_of_its_metadata(tmp_path):
    path = save(tmp_path / "log.json", inspect_log())
    assert_is_half(nj.check(path, "human", "model_graded_qa"))
    assert read_results(path, Problems()).table.notes == ("results of Inspect",)


def test_a_score_that_a_person_edited_in_inspect_is_that_persons_label(tmp_path):
    log = inspect_log()
    for sample, truth in zip(log["samples"], TRUTH, strict=True):
        score = sample["scores"]["model_graded_qa"]
        score["history"] = [{"value": score["value"]}, {"value": "C" if truth else "I"}]
        score["value"] = "C" if truth else "I"
    path = save(tmp_path / "log.json", log)
    assert_is_half(nj.check(path, "human model_graded_qa", "model_graded_qa"))


@pytest.mark.parametrize("is_wrapped", [False, True], ids=["results folder", "latest run"])
def test_deepeval_has_a_column_for_each_metric_and_whether_it_passed(tmp_path, is_wrapped):
    cases = [
        {"name": f"case{i}", "input": "q", "actualOutput": "a", "success": said, "order": i,
         "metricsData": [{"name": "Faithfulness", "threshold": 0.5, "success": said,
                          "score": 0.9 if said else 0.2, "reason": "r", "evaluationModel": "m"}],
         "metadata": {"human": "yes" if truth else "no"}}
        for i, (truth, said) in enumerate(zip(TRUTH, SAID, strict=True))
    ]  # fmt: skip
    run = {"testCases": cases, "conversationalTestCases": [], "metricsScores": []}
    path = save(tmp_path / "run.json", {"testRunData": run} if is_wrapped else run)
    assert_is_half(nj.check(path, "human", "Faithfulness passed"))
    assert nj.check(path, "human", "Faithfulness")["cut"]["is_fitted"]


def promptfoo_rows():
    """promptfoo 0.118, `-o results.json`, with ratings given in the web viewer."""
    rows = []
    for i, (truth, said) in enumerate(zip(TRUTH, SAID, strict=True)):
        parts = [
            {"pass": said, "score": float(said), "reason": "r",
             "assertion": {"type": "llm-rubric", "value": "is right"}},
            {"pass": truth, "score": float(truth), "reason": "Manual result",
             "assertion": {"type": "human"}},
        ]  # fmt: skip
        rows.append({
            "testIdx": i, "promptIdx": 0, "success": truth, "score": float(truth),
            "provider": {"id": "openai:gpt-4o"}, "vars": {"topic": f"t{i % 5}"}, "namedScores": {},
            "response": {"output": "a"},
            "gradingResult": {"pass": truth, "score": 1, "reason": "", "componentResults": parts},
        })  # fmt: skip
    return rows


def test_promptfoo_has_what_the_judge_said_beside_a_persons_rating(tmp_path):
    value = {"evalId": "eval-1", "results": {"version": 3, "results": promptfoo_rows(),
                                             "stats": {}}, "config": {}}  # fmt: skip
    assert_is_half(nj.check(save(tmp_path / "results.json", value)))
    lines = "".join(json.dumps(row) + "\n" for row in promptfoo_rows())
    (tmp_path / "results.jsonl").write_text(lines, encoding="utf-8")
    assert_is_half(nj.check(tmp_path / "results.jsonl", "human", "llm-rubric"))


def mlflow_traces():
    """mlflow 3.14, `trace.to_dict()` of `search_traces`."""

    def one(name, kind, who, value):
        source = {"source_type": kind, "source_id": who}
        return {"assessment_name": name, "source": source, "feedback": {"value": value},
                "valid": True}  # fmt: skip

    return [
        {"info": {"trace_id": f"tr-{i}", "request_preview": "q", "assessments": [
            one("correct", "HUMAN", "ann", truth),
            one("correct", "LLM_JUDGE", "openai:/gpt-4o", "yes" if said else "no"),
            one("correct", "HUMAN", "bob", truth)]}, "data": {"spans": []}}
        for i, (truth, said) in enumerate(zip(TRUTH, SAID, strict=True))
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["json", "jsonl", "frame"])
def test_mlflow_has_the_judges_assessments_beside_those_of_people(tmp_path, kind):
    path = tmp_path / "traces.json"
    if kind == "json":
        save(path, mlflow_traces())
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in mlflow_traces()), "utf-8")
    else:  # of search_traces(), by pandas
        rows = [row["info"] for row in mlflow_traces()]
        fields = ("trace_id", "assessments")
        save(path, [{"request": "q", **{name: row[name] for name in fields}} for row in rows])
    found = nj.check(path)
    assert_is_half(found)
    assert found["annotators"]["names"] == ["human correct ann", "human correct bob"]


def test_a_table_that_mlflow_logged_is_a_table(tmp_path):
    rows = [["yes" if t else "no", float(s)] for t, s in zip(TRUTH, SAID, strict=True)]
    table = {"columns": ["targets", "answer_correctness/v1/score"], "data": rows}
    found = nj.check(save(tmp_path / "eval_results_table.json", table),
                     "targets", "answer_correctness/v1/score")  # fmt: skip
    assert_is_half(found)


def test_an_archive_of_inspect_without_inspect_says_what_to_install(tmp_path):
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"inspect_ai is not installed: pip install|not a log"):
        nj.check(path)


def test_results_without_a_scored_item_say_so(tmp_path):
    log = {**inspect_log(), "samples": []}
    with pytest.raises(InputError, match="results of Inspect without a single scored item"):
        nj.check(save(tmp_path / "log.json", log))
