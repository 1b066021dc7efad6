"""`judge export-config`, `judge schema` and `judge cache`, as a user runs them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from mock_server import MockServer, Supports
from pydantic import ValidationError

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.presets import PRESETS, SERVED
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.manifest import make_fingerprint
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.encoders import CachedEncoder

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection" / "judge.yaml"


def test_the_exported_config_of_a_finished_run_gives_its_scores_again(judge, tmp_path):
    demo = judge("run", DEMO, "--json", "--quiet")
    assert demo.code == 0, demo.err
    exported = judge("export-config", "results/demo")
    assert exported.code == 0, exported.err
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "again.yaml").write_text(exported.out, encoding="utf-8")
    ran = judge("run", "again.yaml", "--json", "--quiet", cwd=tmp_path / "elsewhere")
    assert ran.code == 0, ran.err
    assert ran.rows == demo.rows


def test_an_exported_config_has_every_setting(judge):
    exported = judge("export-config", "nuggets", "--set", "models.default.model=openai/gpt-4o")
    data = yaml.safe_load(exported.out)
    assert data["program"] == ["nuggets"]
    assert data["models"]["default"]["model"] == "openai/gpt-4o"
    assert data["models"]["default"]["retries"] == 4
    numbers = {"min_grade": 1, "max_nuggets": 30, "keep": 20}  # arXiv:2411.09607
    assert data["nuggets"] == {"method": "window", "start": "none", "fill": False, **numbers}


def test_an_exported_config_keeps_what_is_left_to_the_endpoint(judge, tmp_path):
    sets = [
        "--set", "models.default.temperature=null", "--set", "models.default.model=openai/gpt-5",
    ]  # fmt: skip
    exported = judge("export-config", "support", *sets)
    (tmp_path / "again.yaml").write_text(exported.out, encoding="utf-8")
    again = judge("export-config", "again.yaml")
    assert again.out == exported.out
    assert yaml.safe_load(again.out)["models"]["default"]["temperature"] is None


def test_the_schema_takes_the_demo_config_and_closes_every_section(judge):
    schema = json.loads(judge("schema").out)
    assert set(yaml.safe_load(DEMO.read_text(encoding="utf-8"))) <= set(schema["properties"])
    sections = [schema, *(d for d in schema["$defs"].values() if d.get("type") == "object")]
    assert all(section["additionalProperties"] is False for section in sections)


def test_cache_shows_and_clears_replies_by_model(judge, tide_server, run_tiny):
    assert "no cached replies" in judge("cache").out
    assert run_tiny(tide_server, "support", "--quiet").code == 0
    assert "6  hosted_vllm/mock" in judge("cache").out
    assert judge("cache", "--clear", "--model", "openai/other").out.startswith("0 ")
    assert judge("cache", "--clear", "--model", "hosted_vllm/mock").out.startswith("6 ")
    assert run_tiny(tide_server, "support", "--quiet", out="again").code == 0
    assert len(tide_server.requests) == 12


def test_the_schema_of_a_judge_is_printed(judge):
    schema = json.loads(judge("schema", "--judge").out)
    assert schema["required"] == ["name", "question", "inputs", "labels"]
    assert "program" in json.loads(judge("schema").out)["properties"]


# `judge cache` on kept vectors; on kept replies: test_demo.py.
class Lengths:
    """One dimension: how long a text is."""

    name = "lengths"

    def passages(self, texts):
        return np.array([[len(text)] for text in texts], np.float32)

    queries = passages


@pytest.mark.parametrize("folder", ["home/cache/nuggetjudge/vectors", "own"])
def test_vectors_are_counted_and_forgotten(judge, tmp_path, folder):
    flags = ["--folder", tmp_path / folder] if folder == "own" else []
    assert " vectors" not in judge("cache", *flags).out
    encoder = CachedEncoder(Lengths(), tmp_path / folder)
    encoder.passages(["ebb", "flood"])
    encoder.close()
    assert "         2  vectors, 0.0 MB in " in judge("cache", *flags).out
    assert " vectors" not in judge("cache", *flags, "--clear", "--model", "m").out
    assert judge("cache", *flags, "--clear").out.endswith("2 vectors deleted\n")
    assert " vectors" not in judge("cache", *flags).out


# `judge doctor`: exit 0 ready, 3 usable with other settings, 2 unusable.
def full(body):
    return {"verdict": "full"}


def at(server, *sets):
    model = ["doctor", "--model", "hosted_vllm/mock"]
    settings = [f"models.default.api_base={server.base_url}", *sets]
    return [*model, *(part for setting in settings for part in ("--set", setting))]


def test_a_ready_model_is_told_with_what_the_call_took(judge):
    with MockServer(brain=full) as server:
        ran = judge(*at(server))
        (row,) = judge(*at(server), "--json").rows
    assert ran.code == 0, ran.err
    assert "ready" in ran.out
    assert "not ready" not in ran.out
    assert re.search("^cost +unknown$", ran.out, re.M)
    assert max(map(len, ran.out.splitlines())) <= 80
    assert (row["ready"], row["requests"], row["cost"]) == (True, 2, None)
    assert row["prompt_tokens"] > 0


def test_a_model_without_schemas_is_told_what_to_set_and_runs_with_it(judge, tmp_path):
    with MockServer(brain=full, supports=Supports(schema=False)) as server:
        ran = judge(*at(server))
        assert ran.code == 3
        assert "with these flags:\n  --set models.default.schema=json_object\n" in ran.out
        config = tmp_path / "judge.yaml"
        entry = f"{{model: hosted_vllm/mock, api_base: '{server.base_url}'}}"
        config.write_text(f"models: {{default: {entry}}}\n", encoding="utf-8")
        ran = judge("doctor", config)
        assert "  models:\n    default:\n      schema: json_object\n" in ran.out
        assert judge(*at(server, "models.default.schema=json_object")).code == 0


def test_a_wrong_key_is_unusable(judge):
    with MockServer(brain=full, api_key="right") as server:
        ran = judge(*at(server, "models.default.api_key_env=TIDE_KEY"), env={"TIDE_KEY": "wrong1"})
        assert (ran.code, ran.out) == (2, "")
        assert "401" in ran.err
        assert "wrong1" not in ran.err
        assert "Traceback" not in ran.err


def test_a_server_that_is_not_there_is_unusable(judge):
    with MockServer(brain=full) as server:
        gone = server.base_url
    ran = judge("doctor", "--model", "hosted_vllm/mock", "--set", f"models.default.api_base={gone}")
    assert ran.code == 2
    assert "not ready" in ran.out
    assert "Traceback" not in ran.err


def test_without_a_model_the_lexical_judge_is_ready(judge):
    assert judge("doctor").code == 0


def test_every_model_of_a_config_is_examined(judge, tmp_path):
    with MockServer(brain=full) as one, MockServer(brain=full) as two:
        entries = "".join(
            f"  {name}: {{model: hosted_vllm/mock, api_base: {server.base_url}}}\n"
            for name, server in (("one", one), ("two", two))
        )
        (tmp_path / "judge.yaml").write_text(
            f"program: support\nmodels:\n{entries}", encoding="utf-8"
        )
        rows = judge("doctor", "judge.yaml", "--json").rows
    assert [(row["alias"], row["ready"]) for row in rows] == [("one", True), ("two", True)]


# A preset is what it expands to: nothing of a run can tell the two apart.
AT = {"api_base": SERVED}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_an_entry_that_can_be_asked_and_says_who_says_so(name):
    preset = PRESETS[name]
    entry = ModelConfig(model=f"preset:{name}", **AT)
    assert entry == ModelConfig(**preset.entry(), **AT)
    assert entry.wire_name == preset.model
    assert entry.way == "http"
    assert entry.max_tokens, "a reply without an end would take all that is left of the context"
    assert preset.source.startswith("https://")
    assert entry.reply_schema == ("none" if preset.own_prompt else "json_schema")


def test_lines_beside_a_preset_go_before_its_own():
    entry = ModelConfig(model="preset:qwen3-8b", max_tokens=99, extra_body={}, **AT)
    assert (entry.max_tokens, entry.extra_body, entry.context_length) == (99, {}, 32_768)


def test_a_preset_that_there_is_not_ends_in_one_line_with_what_was_meant(tmp_path):
    with pytest.raises(ValidationError, match="no preset 'qwen8b'; did you mean qwen3-8b"):
        ModelConfig(model="preset:qwen8b", **AT)
    config = tmp_path / "judge.yaml"
    config.write_text("program: support\nmodels:\n  default:\n    model: preset:lama\n")
    with pytest.raises(InputError, match=r"judge\.yaml:3: models\.default: no preset 'lama'"):
        load_config(config, {})


def test_the_fingerprint_of_a_run_is_that_of_the_lines_that_judge_models_prints(judge, tmp_path):
    spelled = tmp_path / "spelled.yaml"
    spelled.write_text("program: support\n" + judge("models", "qwen3-8b").out)
    whole = load_config(spelled, {})
    flags = {"program": ["support"], "models.default.api_base": SERVED}
    named = load_config(None, flags, model="preset:qwen3-8b")
    assert make_fingerprint(named, {}) == make_fingerprint(whole, {})
    assert make_fingerprint(
        load_config(None, flags, model="preset:qwen3-32b"), {}
    ) != make_fingerprint(whole, {})
    shown = judge(
        "export-config", "support", "--set", "models.default.model=preset:qwen3-8b", "--set",
        f"models.default.api_base={SERVED}",
    ).out  # fmt: skip
    assert "preset:" not in shown
    assert yaml.safe_load(shown)["models"]["default"]["model"] == "hosted_vllm/Qwen/Qwen3-8B"


def test_the_list_names_all_and_a_wrong_name_is_told(judge):
    listed = judge("models")
    models, _ = listed.out.split("\n\n")
    rows = [line.split()[:2] for line in models.splitlines()[1:]]
    assert rows == [[name, one.model] for name, one in PRESETS.items()]
    assert max(map(len, listed.out.splitlines())) <= 80
    assert "--model preset:NAME --api-base URL" in listed.err
    assert [row["name"] for row in judge("models", "--json").rows] == list(PRESETS)
    wrong = judge("models", "gpt-oss-20")
    assert (wrong.code, wrong.err) == (
        2,
        "judge: no preset 'gpt-oss-20'; did you mean gpt-oss-20b?\n",
    )


def test_a_run_asks_as_the_preset_says_and_its_manifest_shows_the_lines(
    tide_server, run_tiny, tmp_path
):
    tide_server.model_names = ("Qwen/Qwen3-8B",)
    ran = run_tiny(tide_server, "support", "--model", "preset:qwen3-8b", "--quiet")
    assert ran.code == 0, ran.err
    body = tide_server.requests[0].body
    assert (body["model"], body["max_tokens"]) == ("Qwen/Qwen3-8B", 4096)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    manifest = (tmp_path / "out" / "manifest.json").read_text(encoding="utf-8")
    assert "preset:" not in manifest
    kept = json.loads(manifest)["config"]["models"]["default"]
    assert (kept["model"], kept["context_length"]) == ("hosted_vllm/Qwen/Qwen3-8B", 32_768)
