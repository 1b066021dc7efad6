"""A preset is what it expands to: nothing of a run can tell the two apart."""

import json

import pytest
import yaml
from pydantic import ValidationError

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.presets import PRESETS, SERVED
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.manifest import make_fingerprint
from nuggetjudge.records.reading.problems import InputError

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
        "export-config",
        "support",
        "--set",
        "models.default.model=preset:qwen3-8b",
        "--set",
        f"models.default.api_base={SERVED}",
    ).out
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
