"""Our judges as a scorer of Inspect, in real evaluations of its mock model, and its logs."""

import math

import pytest

import nuggetjudge as nj
from nuggetjudge.records.reading.problems import InputError

inspect_ai = pytest.importorskip("inspect_ai")

from click.testing import CliRunner  # noqa: E402
from inspect_ai import Task  # noqa: E402
from inspect_ai._cli.score import score_command  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.log import read_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from nuggetjudge.plugins.harnesses.inspect_scorer import answer_scorer, samples  # noqa: E402

NUGGETS = ["wind moves decks", "cables carry load"]
ANSWERS = ["Wind moves decks.", "Wind moves decks. Cables carry load.", "Zebra."]


def run(tmp_path, scorer, answers=ANSWERS, log_format="eval", **options):
    """A log of a task whose model gives these answers, one sample after the other."""
    metadata = {"contexts": ["Wind moves decks."], "nuggets": NUGGETS, "answer": "gold"}
    dataset = [
        Sample(id=f"s{i}", input=f"Why {i}?", target="", metadata=metadata)
        for i in range(len(ANSWERS))
    ]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in answers]
    for output in outputs:  # else Inspect counts tokens by a file that it downloads
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    task = Task(dataset=MemoryDataset(dataset), scorer=scorer, name="bridges", **options)
    (log,) = inspect_ai.eval(
        task, model=get_model("mockllm/model", custom_outputs=outputs), log_dir=str(tmp_path),
        log_format=log_format, display="none", max_samples=1,
    )  # fmt: skip
    return log


def scores_of(log):
    return [sample.scores["answer_scorer"] for sample in log.samples]


def metrics_of(log):
    return {
        name: metric.value for each in log.results.scores for name, metric in each.metrics.items()
    }


def test_a_task_is_scored_with_what_each_score_rests_on(tmp_path):
    log = run(tmp_path, answer_scorer("V_strict", model="lexical"))
    assert log.status == "success"
    first, *_ = scores = scores_of(log)
    assert [score.value for score in scores] == [0.5, 1.0, 0.0]  # of 2 vital nuggets, by hand
    assert first.answer == "Wind moves decks."
    assert "does not state:\n- cables carry load" in first.explanation
    assert first.metadata == {
        "measure": "V_strict", "n": 2, "n_unjudged": 0, "low": 0.5, "high": 0.5, "reasons": {},
    }  # fmt: skip
    assert metrics_of(log)["mean"] == pytest.approx(0.5)
    assert metrics_of(log)["n"] == 6


def test_a_sample_that_was_not_judged_is_unscored_and_counted_and_no_0(tmp_path, refusing):
    log = run(tmp_path, answer_scorer("V_strict", model=refusing, settings={"cache": False}))
    *judged, lost = scores_of(log)
    assert math.isnan(lost.value)
    assert lost.reason == "grader_failed"
    assert lost.metadata["n_unjudged"] == 2
    assert lost.metadata["reasons"] == {"refused": 1}
    of_means = log.results.scores[0]
    assert (of_means.scored_samples, of_means.unscored_samples) == (2, 1)
    mean = sum(score.value for score in judged) / 2
    assert metrics_of(log)["mean"] == pytest.approx(mean)
    assert metrics_of(log)["n"] == 4


def test_a_model_that_never_answers_is_an_error_and_no_score(tmp_path, refusing):
    from mock_server import Status

    refusing.server.faults = lambda index, body: Status(500)
    scorer = answer_scorer("V_strict", model=refusing, settings={"cache": False})
    log = run(tmp_path, scorer)
    assert log.status == "error"
    assert "none of 1 judgements could be made" in log.error.message


@pytest.mark.parametrize("format", ["eval", "json"])
def test_a_log_gives_the_samples_that_were_scored(tmp_path, format):
    log = run(tmp_path, answer_scorer("V_strict", model="lexical"), log_format=format)
    assert log.location.endswith(format)
    result = nj.evaluate(samples(log.location), "nuggets", model="lexical")
    rows = {row.topic_id: row.value for row in result.rows(["V_strict"])}
    assert rows == {"s0": 0.5, "s1": 1.0, "s2": 0.0}


def test_a_log_is_scored_from_the_command_line(tmp_path):
    log = run(tmp_path, answer_scorer("length", model="lexical"))
    out = tmp_path / "scored.eval"
    words = (
        f"{log.location} --scorer nuggetjudge/answer_scorer -S measure=V_strict -S model=lexical"
    )
    options = f"--action append --overwrite --output-file {out} --display none"
    done = CliRunner().invoke(score_command, [*words.split(), *options.split()])
    assert done.exit_code == 0, done.output
    scored = read_eval_log(str(out))
    assert [sample.scores["answer_scorer1"].value for sample in scored.samples] == [0.5, 1.0, 0.0]


def test_a_wrong_measure_is_told_before_the_task_begins():
    with pytest.raises(InputError, match="did you mean V_strict"):
        answer_scorer("V_strcit", model="lexical")
