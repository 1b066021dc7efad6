"""Samples as the real libraries hold them: frames, datasets, retrieved documents, test cases."""

import os

import pytest

import nuggetjudge as nj

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROWS = [
    {"question": "what makes tides", "answer": "The moon [1].", "contexts": ["The moon does."]},
    {"question": "what do bees eat", "answer": "Nectar [1].", "contexts": ["They eat nectar."]},
]


def judged(samples):
    result = nj.evaluate(samples, "support", model="lexical")
    return [(row.topic_id, row.value, row.n) for row in result.rows(["support_precision"])]


@pytest.fixture(scope="module")
def expected():
    scores = judged(ROWS)
    assert len(scores) == 2
    return scores


def test_a_polars_frame(expected):
    polars = pytest.importorskip("polars")
    assert judged(polars.DataFrame(ROWS)) == expected


def test_a_pandas_frame(expected):
    pandas = pytest.importorskip("pandas")
    assert judged(pandas.DataFrame(ROWS)) == expected


def test_a_hugging_face_dataset(expected):
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_list(ROWS)
    assert judged(dataset) == expected
    assert judged(dataset.to_iterable_dataset()) == expected


def test_documents_of_langchain(expected):
    documents = pytest.importorskip("langchain_core.documents")
    rows = []
    for row in ROWS:
        retrieved = [documents.Document(page_content=text) for text in row["contexts"]]
        rows.append({"input": row["question"], "answer": row["answer"], "context": retrieved})
    assert judged(rows) == expected


def test_test_cases_of_deepeval(expected):
    cases = pytest.importorskip("deepeval.test_case")
    rows = [
        cases.LLMTestCase(
            input=row["question"], actual_output=row["answer"], retrieval_context=row["contexts"]
        )
        for row in ROWS
    ]
    assert judged(rows) == expected
