"""`nuggetjudge.run` from a script, a running event loop and a thread, and what it returns."""

import asyncio
from pathlib import Path

import pytest
from mock_server import MockServer

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"


@pytest.fixture
def settings(tmp_path):
    return {
        "program": "nuggets,support",
        "topics": DEMO / "topics.tsv",
        "passages": DEMO / "passages.jsonl",
        "nuggets": DEMO / "nuggets.jsonl",
        "runs": str(DEMO / "runs"),
        "model": "lexical",
        "out": tmp_path / "out",
    }


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
