"""A run says of each reason what helps, and "to retry" only where retrying can."""

import pytest
from mock_server import Refusal, Status, Truncated

ONE_BY_ONE = ("--set", "run.concurrency=1", "--set", "models.default.retries=0", "--quiet")


def helps(ran):
    """What stands below `Missing judgements are listed in`, by reason and number."""
    lines = ran.err.splitlines()
    (first,) = (
        i for i, line in enumerate(lines) if line.startswith("Missing judgements are listed in out")
    )
    rest = [line for line in lines[first + 1 :] if line.startswith("  ")]
    return dict(line.strip().split(": ", 1) for line in rest)


def test_each_reason_has_what_helps_and_only_a_failed_call_is_simply_asked_again(
    tide_server, run_tiny
):
    faults = [Refusal(), Truncated(), Truncated(), Status(500)]
    tide_server.faults = lambda index, body: faults[index] if index < len(faults) else None
    ran = run_tiny(tide_server, "support", *ONE_BY_ONE)
    assert ran.code == 3, ran.err
    help_of = helps(ran)
    assert help_of["error 1"] == "run the same command again to retry"
    assert help_of["refused 1"] == "the model or its filter declined: use another model"
    assert "raise models.default.max_tokens (--set)" in help_of["truncated 2"]
    tide_server.faults = None
    again = run_tiny(tide_server, "support", *ONE_BY_ONE)
    assert again.code == 0, again.err
    assert "Missing judgements" not in again.err


def test_what_does_not_fit_into_the_context_is_no_case_for_asking_again(
    tide_server, run_tiny, tiny
):
    answers = (tiny / "one.jsonl").read_text().replace("Tides follow the moon.", "Tides. " * 900)
    (tiny / "one.jsonl").write_text(answers)
    tide_server.context_length = 1000
    ran = run_tiny(tide_server, "support", *ONE_BY_ONE)
    assert ran.code == 3, ran.err
    assert "to retry" not in ran.err
    expected = "longer than the context of the model: use a model with a larger one"
    assert helps(ran)["error 1"] == expected  # one sentence a call: no window is smaller


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("judge.yaml",), "Check models.only.model and models.only.api_base"),
        (("judge.yaml", "--set", "models.other.model=lexical"), "models.*.model and models.*.api"),
        (("support", "--model", "hosted_vllm/none"), "Check --model and --api-base"),
    ],
)
def test_a_hint_is_a_setting_of_the_config_or_a_flag(
    tide_server, judge, tiny, tmp_path, arguments, hint
):
    url = tide_server.base_url
    (tmp_path / "judge.yaml").write_text(
        f"program: support\nmodels: {{only: {{model: hosted_vllm/none, api_base: '{url}'}}}}\n"
        "judges: {support: {model: only}}\n"
    )
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl"]
    data += ["--runs", tiny / "one.jsonl", "--out", "out", "--quiet"]
    where = [] if "judge.yaml" in arguments else ["--api-base", url]
    ran = judge("run", *arguments, *where, *data)
    assert ran.code == 2
    assert hint in ran.err


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5"])
def test_a_dry_run_needs_no_key_and_says_so(judge, tiny, model):
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl"]
    data += ["--runs", tiny / "one.jsonl", "--model", model]
    ran = judge("run", "support", *data, "--dry-run", "--json")
    assert ran.code == 0, ran.err
    assert "no model is asked, and no key is needed" in ran.err
    assert ran.rows[0]["calls"] == 3
    assert ran.rows[0]["cost"] > 0, "a model that LiteLLM lists has a price"
