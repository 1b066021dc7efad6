"""`judge export-config`, `judge schema` and `judge cache`, as a user runs them."""

import json
from pathlib import Path

import yaml

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
    numbers = {"min_grade": 1, "most": 30, "keep": 20}  # arXiv:2411.09607
    assert data["nuggets"] == {"how": "window", "start": "none", "fill": False, **numbers}


def test_an_exported_config_keeps_what_is_left_to_the_endpoint(judge, tmp_path):
    sets = [
        "--set",
        "models.default.temperature=null",
        "--set",
        "models.default.model=openai/gpt-5",
    ]
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
    assert "no replies" in judge("cache").out
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
