"""What frameworks return is read as it is; the real libraries are in tests/integrations/samples."""

import io
import time
from types import SimpleNamespace

import dspy
import pytest
from openai.types.responses import Response

import nuggetjudge as nj
from nuggetjudge.evaluation.samples.reading import make_sample, read_samples
from nuggetjudge.evaluation.samples.returned import read_returned
from nuggetjudge.records.reading.problems import InputError

DOCUMENT = SimpleNamespace(page_content="The moon does.", metadata={"title": "Tides"}, id=None)
NODE = SimpleNamespace(node=SimpleNamespace(text="The moon does.", id_="n1"), score=0.5)
RETURNED = {
    "create_retrieval_chain": {"input": "q", "context": [DOCUMENT], "answer": "The moon [1]."},
    "RetrievalQA": {"query": "q", "result": "The moon [1].", "source_documents": [DOCUMENT]},
    "LlamaIndex": {"response": "The moon [1].", "source_nodes": [NODE], "metadata": {}},
    "Haystack": {
        "retriever": {"documents": [SimpleNamespace(content="Cut by the ranker.", meta={})]},
        "ranker": {"documents": [SimpleNamespace(content="The moon does.", meta={"title": "T"})]},
        "llm": {"replies": ["The moon [1]."], "meta": [{"model": "m"}]},
    },
    "DSPy": dspy.Prediction(context=["The moon does."], answer="The moon [1].", reasoning="r"),
}


@pytest.mark.parametrize("returned", RETURNED.values(), ids=RETURNED)
def test_answer_and_contexts_are_found_where_each_framework_has_them(returned):
    samples = [
        make_sample({"question": "q", **read_returned(returned)}, 0),
        make_sample({"question": "q", "response": returned}, 0),
    ]
    if isinstance(returned, dict) and "DSPy" not in returned:
        samples.append(make_sample({"question": "q", **returned}, 0))
    for sample in samples:
        assert sample.answer == "The moon [1]."
        assert [context.text for context in sample.contexts] == ["The moon does."]


def of_openai(text, annotations, results):
    """A reply of the Responses API with one search; the fields are those of the real class."""
    cited = [{"type": "file_citation", "filename": "f.md", **each} for each in annotations]
    content = {"type": "output_text", "text": text, "annotations": cited}
    search = {"type": "file_search_call", "id": "s", "queries": ["q"], "status": "completed"}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    output = [search | {"results": results}, message | {"content": [content]}]
    fixed = {"id": "r", "created_at": 0, "model": "m", "object": "response", "tools": []}
    return Response(**fixed, output=output, parallel_tool_calls=False, tool_choice="auto")


def test_file_citations_of_openai_cite_the_chunks_of_their_file():
    chunks = [
        {"file_id": "file-a", "filename": "f.md", "text": "The moon makes the tides."},
        {"file_id": "file-b", "filename": "g.md", "text": "Boats are wet."},
    ]
    text = "The moon makes the tides. Boats fly."
    notes = [{"file_id": "file-a", "index": 25}, {"file_id": "file-b", "index": 36}]
    response = of_openai(text, notes, chunks)
    for returned in (response, response.model_dump()):
        result = nj.evaluate(["q"], "support", answer=lambda q, r=returned: r, model="lexical")
        row = result.rows("support_precision")[0]
        assert (row.value, row.n) == (0.5, 2)
    assert read_returned(response)["answer"] == (
        "The moon makes the tides.[file-a] Boats fly.[file-b]"
    )


def test_a_citation_of_openai_never_splits_a_word_and_needs_the_chunk():
    notes = [{"file_id": "file-a", "index": 1}, {"file_id": "file-c", "index": 9}]
    with_chunks = of_openai("Tides turn.", notes, [{"file_id": "file-a", "text": "Tides."}])
    assert read_returned(with_chunks)["answer"] == "Tides[file-a] turn."
    assert read_returned(of_openai("Tides turn.", notes, None)) == {"answer": "Tides turn."}


def test_capitalised_columns_and_lists_in_a_csv_file_of_pandas():
    pandas = pytest.importorskip("pandas")
    rows = [
        {"Question": f"q{i}", "Answer": "The moon [1].", "Retrieved Contexts": ["The moon does."]}
        for i in range(3)
    ]
    rows[1]["Answer"] = None
    file = io.StringIO()
    pandas.DataFrame(rows).to_csv(file, index=False)
    file.seek(0)
    frame = pandas.read_csv(file)
    with pytest.warns(UserWarning, match=r"1 answers are None or NaN .* first samples\[1\]"):
        result = nj.evaluate(frame, "support", model="lexical")
    rows = result.rows("support_precision")
    assert [(row.value, row.reasons) for row in rows] == [
        (1.0, {}),
        (None, {"error": 1}),
        (1.0, {}),
    ]
    judge = "examples/demo/grounded.yaml"  # reads claim and source
    fields = {"claim": "answer", "source": "Retrieved Contexts"}
    items = nj.evaluate(frame, "items", judge=judge, fields=fields, model="lexical")
    assert [(row["topic_id"], row["reason"]) for row in items.unjudged] == [
        (rows[1].topic_id, "error")
    ]


def test_a_name_that_is_there_comes_before_one_that_only_looks_like_it():
    (sample,) = read_samples([{"question": "q", "Question": "other", "Answer": "a"}])
    assert (sample.question, sample.answer) == ("q", "a")


def test_a_function_that_fails_on_its_first_three_calls_stops_with_its_error():
    called = []

    def broken(question):
        called.append(question)
        raise KeyError("index")

    questions = [f"q{i}" for i in range(50)]
    with pytest.raises(KeyError, match="index") as raised:
        nj.evaluate(questions, "support", answer=broken, at_once=2, model="lexical")
    assert len(called) < 10
    assert "first 3 questions" in raised.value.__notes__[0]
    assert any(entry.name == "broken" for entry in raised.traceback)


def test_a_function_that_works_may_fail_three_times_in_a_row():
    def shaky(question):
        if question in ("q1", "q2", "q3"):
            raise TimeoutError
        return {"answer": "The moon [1].", "contexts": ["The moon does."]}

    with pytest.warns(UserWarning, match="3 of 9 calls of answer failed"):
        result = nj.evaluate(
            [f"q{i}" for i in range(9)], "support", answer=shaky, at_once=1, model="lexical"
        )
    assert [row.value for row in result.rows("support_precision")].count(1.0) == 6


def test_the_first_three_may_fail_where_another_call_has_returned_by_then():
    def shaky(question):
        if question in ("q0", "q1", "q2"):
            time.sleep(0.2)
            raise TimeoutError
        time.sleep(0.01 if question == "q3" else 0.3)
        return {"answer": "The moon [1].", "contexts": ["The moon does."]}

    with pytest.warns(UserWarning, match="3 of 9 calls of answer failed"):
        nj.evaluate(
            [f"q{i}" for i in range(9)], "support", answer=shaky, at_once=4, model="lexical"
        )


def test_what_is_no_answer_is_still_named():
    with pytest.raises(
        InputError, match=r"answer\(\) returned llm, retriever; wanted one of answer"
    ):
        nj.evaluate(
            ["q"],
            "support",
            answer=lambda q: {"llm": {"replies": []}, "retriever": {"documents": []}},
            model="lexical",
        )
    with pytest.raises(TypeError, match="answer: answers is SimpleNamespace, wanted a function"):
        nj.evaluate(["q"], "support", answer=SimpleNamespace(), model="lexical")
