"""An evaluation that is refused has called no function and changed no file."""

import pytest

import nuggetjudge as nj
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.records.reading.problems import InputError

QUESTIONS = ["what makes tides", "why do bridges sway"]


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


NEW = "how high do tides rise"
REFUSED = {
    "other questions": ({"samples": [NEW]}, "its topic .* would go"),
    "other questions, from a generator": ({"samples": iter([NEW])}, "its topic .* would go"),
    "another system": ({"name": "other"}, "its run today of 1 would go"),
    "another program": ({"program": "nuggets"}, "holds results of support"),
    "another judge": ({"judges.support.titles": False}, r"judges\.support\.titles"),
    "a setting that is none": ({"concurency": 2}, "concurency: no such setting"),
    "a value that is none": ({"concurrency": 0}, "run.concurrency"),
    "a limit without a price": (
        {"max_cost": 1, "model": "hosted_vllm/mock", "api_base": "http://127.0.0.1:1/v1"},
        "max_cost: the price",
    ),
}


@pytest.mark.parametrize(("changed", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_calls_no_function_and_changes_no_file(tmp_path, changed, says):
    called = []

    def answer(question):
        called.append(question)
        return {"answer": "The moon [1].", "contexts": [f"the moon, {question}"]}

    settings = {"samples": QUESTIONS, "program": "support", "answer": answer, "model": "lexical"}
    settings["out"] = tmp_path / "today"
    nj.evaluate(**settings)
    before, n = contents(tmp_path), len(called)
    with pytest.raises(InputError, match=says):
        nj.evaluate(**settings | changed)
    assert (contents(tmp_path), len(called)) == (before, n)
    assert nj.evaluate(**settings).is_complete  # and its samples are still those of its results


def test_a_missing_key_is_said_before_the_function_is_called(tmp_path, monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)

    def never(question):
        raise AssertionError

    with pytest.raises(EndpointUnusable, match="GEMINI_API_KEY"):
        nj.evaluate(QUESTIONS, "support", answer=never, model="gemini/gemini-2.5-flash")


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        (
            [{"question": NEW, "answer": "The moon [1].", "contexts": ["x"]}],
            "its topic .* would go",
        ),
        ([{"question": QUESTIONS[0]}], r"samples\[0\]"),
        ([{"question": QUESTIONS[0], "answer": "x"}], "support needs contexts"),
        ([], "samples: there is none"),
    ],
    ids=["other questions", "no answer", "no contexts", "none"],
)
def test_samples_that_are_refused_leave_those_of_the_results(tmp_path, samples, says):
    def judged(samples):
        return nj.evaluate(samples, "support", model="lexical", out=tmp_path / "today")

    whole = [{"question": q, "answer": "The moon [1].", "contexts": [q]} for q in QUESTIONS]
    judged(whole)
    before = contents(tmp_path)
    with pytest.raises(InputError, match=says):
        judged(samples)
    assert contents(tmp_path) == before
    judged([*whole, {"question": NEW, "answer": "x [1].", "contexts": ["x"]}])
    assert contents(tmp_path)[tmp_path / "today/samples/topics.jsonl"].count(b"\n") == 3
