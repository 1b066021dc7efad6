"""Our judges as a metric of ragas, in its evaluations and experiments, and its data as samples."""

import asyncio
import math

import pytest

import nuggetjudge as nj

ragas = pytest.importorskip("ragas")

from ragas import EvaluationDataset  # noqa: E402

from nuggetjudge.plugins.harnesses.ragas_metric import AnswerMetric, samples  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROWS = [
    ("Why wind?", "Wind moves decks [1]."),
    ("Why both?", "Iron rusts [1]. Cables carry load [2]."),
    ("Why stripes?", "Zebra [1]."),
]
DECKS = ["Wind moves decks.", "Cables carry load."]


@pytest.fixture(scope="module")
def dataset():
    return EvaluationDataset.from_list(
        [{"user_input": q, "response": a, "retrieved_contexts": DECKS} for q, a in ROWS]
    )


def evaluate(dataset, metric):
    return ragas.evaluate(dataset, metrics=[metric], show_progress=False)


def test_evaluate_gives_the_measure_of_each_row(dataset):
    metric = AnswerMetric("support_precision", model="lexical")
    result = evaluate(dataset, metric)
    # By hand: the one citation is right; one of two; none.
    assert result["support_precision"] == [1.0, 0.5, 0.0]
    assert [row.n for row in sorted(metric.judged, key=lambda row: -row.value)] == [1, 2, 1]


def test_a_row_that_was_not_judged_is_nan_with_its_reason_and_no_0(dataset, refusing):
    metric = AnswerMetric("support_precision", model=refusing, cache=False)
    with pytest.warns(RuntimeWarning, match="nan, .*1 unjudged; refused 1"):
        result = evaluate(dataset, metric)
    values = result["support_precision"]
    assert [math.isnan(value) for value in values] == [False, False, True]
    lost = [row for row in metric.judged if row.value is None]
    assert [(row.n, row.n_unjudged, dict(row.reasons)) for row in lost] == [(0, 1, {"refused": 1})]


def test_an_experiment_gets_the_value_its_reason_and_what_it_rests_on():
    metric = AnswerMetric("V_strict", model="lexical")
    rows = ragas.Dataset(name="bridges", backend="inmemory")
    for question, answer in ROWS:
        rows.append({"user_input": question, "response": answer, "nuggets": DECKS})

    @ragas.experiment(backend="inmemory")
    async def judged(row):
        result = await metric.ascore(**row)
        return {**row, "value": float(result), "why": result.reason, **result.traces["output"]}

    done = {row["user_input"]: row for row in asyncio.run(judged.arun(rows))}
    assert {q: row["value"] for q, row in done.items()} == {
        "Why wind?": 0.5, "Why both?": 0.5, "Why stripes?": 0.0,
    }  # fmt: skip
    assert done["Why wind?"]["n"] == 2
    assert "- Cables carry load." in done["Why wind?"]["why"]


def test_a_metric_alone_gives_nan_and_reason_for_what_was_not_judged(refusing):
    metric = AnswerMetric("V_strict", model=refusing, cache=False)
    judged = {"user_input": "Why?", "response": "Wind moves decks.", "nuggets": DECKS}
    assert metric.score(**judged).value is not None
    result = metric.score(**judged | {"response": "Zebra."})
    assert math.isnan(result.value)
    assert result.traces["output"]["n_unjudged"] == 2
    assert "Not judged" in result.reason


@pytest.mark.parametrize("kind", ["list", "jsonl", "csv"])
def test_datasets_and_their_files_are_samples(dataset, tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    if kind == "list":
        rows = dataset.to_list()
    else:
        getattr(dataset, f"to_{kind}")(path)
        rows = samples(path)
    scores = nj.evaluate(rows, "support", model="lexical").rows(["support_precision"])
    assert [row.value for row in scores] == [1.0, 0.5, 0.0]
