"""`judge doctor`: exit 0 ready, 3 usable with other settings, 2 unusable."""

import re

from mock_server import MockServer, Supports


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
