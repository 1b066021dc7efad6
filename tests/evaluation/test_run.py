"""`nuggetjudge.run` from a script, a running event loop and a thread, and what it returns."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from mock_server import MockServer

import nuggetjudge as nj
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.evaluation.result import list_question_scores
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.rows import ScoreRow

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"


@pytest.fixture
def settings(tmp_path):
    return {
        "program": "nuggets,support", "topics": DEMO / "topics.tsv",
        "passages": DEMO / "passages.jsonl", "nuggets": DEMO / "nuggets.jsonl",
        "runs": str(DEMO / "runs"), "model": "lexical", "out": tmp_path / "out",
    }  # fmt: skip


def test_settings_alone_run_a_program(settings):
    result = nj.run(**settings)
    assert result.is_complete
    assert result.unjudged == []
    assert result.n_unjudged == 0
    assert result.n_judged == 258 + 100  # nugget labels and cited sentences of the collection
    assert set(result.judgements) == {"nuggets", "assignments", "support"}
    assert len(result.judgements["assignments"]) == 19
    assert {row.run_id for row in result.scores} == {"complete", "factdump", "miscited", "thin"}


def test_a_config_file_and_settings_give_the_same_as_settings_alone(settings, tmp_path):
    alone = nj.run(**settings)
    file = nj.run(DEMO / "judge.yaml", nuggets=DEMO / "nuggets.jsonl", out=tmp_path / "file")
    assert file.scores == alone.scores


def test_it_runs_inside_a_running_event_loop(settings):
    async def notebook():
        return nj.run(**settings)

    assert asyncio.run(notebook()).is_complete


def test_dotted_settings_reach_every_section(settings):
    result = nj.run(**settings, **{"support.citations": "all"})
    assert "support_precision_all" in {row.measure for row in result.scores}


def test_a_wrong_setting_is_an_input_error_and_not_a_traceback_from_within(settings):
    from nuggetjudge.records.reading.problems import InputError

    with pytest.raises(InputError, match="nothing"):
        nj.run(**settings, nothing=1)


def test_scores_become_a_data_frame(settings):
    pytest.importorskip("pandas", reason="pandas is not part of the default install")
    result = nj.run(**settings)
    frame = result.to_pandas()
    assert len(frame) == len(result.scores)
    assert {"run_id", "topic_id", "measure", "value", "n", "n_unjudged"} <= set(frame.columns)


@pytest.mark.slow
def test_concurrency_changes_no_byte(tmp_path, model_server):
    model_server.latency_s = 0.01
    made = {}
    for concurrency in (1, 64):
        config = load_config(
            DEMO / "judge.yaml",
            {"run.out": tmp_path / str(concurrency), "run.cache": False},
            [f"models.default.api_base={model_server.base_url}", f"run.concurrency={concurrency}"],
            "hosted_vllm/mock",
        )
        folder = nj.run(config).folder
        made[concurrency] = {
            path.name: path.read_bytes()
            for path in folder.iterdir()
            if path.is_file() and path.name not in ("manifest.json", "spend.jsonl")
        }
    assert made[1] == made[64]
    assert len(made[1]) == 7
    assert model_server.max_in_flight > 8


def test_model_swaps_the_name_and_keeps_the_rest_of_the_entry(settings, tmp_path):
    config = tmp_path / "judge.yaml"
    with MockServer(model_names=("one", "two")) as server:
        config.write_text(
            f"models:\n  default: {{model: openai/one, api_base: {server.base_url}}}\n"
            f"  other: {{model: openai/two, api_base: {server.base_url}, temperature: 0.5}}\n"
            "run: {cache: false, limit: 1}\n",
            encoding="utf-8",
        )
        asked = []
        for model in (None, "openai/two", "other", {"model": "lexical"}):
            server.clear()
            nj.run(config, **{**settings, "program": "support", "model": model}, force=True)
            asked.append({(r.body["model"], r.body["temperature"]) for r in server.requests})
    assert asked == [{("one", 0.0)}, {("two", 0.0)}, {("two", 0.5)}, set()]


# An evaluation that is refused has called no function and changed no file.
QUESTIONS = ["what makes tides", "why do bridges sway"]


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


NEW = "how high do tides rise"
REFUSED = {
    "other questions": ({"samples": [NEW]}, "its topic .* would be lost"),
    "other questions, from a generator": ({"samples": iter([NEW])}, "its topic .* would be lost"),
    "another system": ({"name": "other"}, "its run today of 1 would be lost"),
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
            "its topic .* would be lost",
        ),
        ([{"question": QUESTIONS[0]}], r"samples\[0\]"),
        ([{"question": QUESTIONS[0], "answer": "x"}], "support needs contexts"),
        ([], "samples: none"),
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


# Why a question has no full score: what its own program lacks, and nothing of others.
def row(measure, n_unjudged):
    return ScoreRow(
        run_id="r", topic_id="t", measure=measure, value=0.5, n=2, n_unjudged=n_unjudged,
        low=0.5, high=0.5,
    )  # fmt: skip


def test_a_failure_of_one_program_is_no_reason_of_anothers_measure():
    lost = {"run_id": "r", "topic_id": "t"}
    result = SimpleNamespace(
        folder="out",
        scores=[row("support_precision", 1), row("V_strict", 0), row("mine", 1)],
        unjudged=[
            {**lost, "stage": "support", "reason": "refused"},
            {**lost, "stage": "answers", "reason": "error"},
        ],
    )
    support, nuggets, own = (score.reasons for score in list_question_scores(result))
    assert support == {"refused": 1, "error": 1}
    assert nuggets == {"error": 1}  # no answer at all: of every program
    assert own == {"refused": 1, "error": 1}  # of no program that says so
    del result.unjudged[1]
    assert [score.reasons for score in list_question_scores(result, ["V_strict"])] == [{}]
