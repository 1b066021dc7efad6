"""`judges.NAME.prompt` and `.instructions`: a published judge in a run, its record, and errors."""

import json

import pytest
from mock_server import MockServer, input_of

from nuggetjudge.judges import SupportJudge

TEMPLATE = """\
method: nuggets
system_message: You label nuggets.
prefix_user: |-
  {num_nuggets} nuggets.
  Query: {query}
  Passage: {context}
  List: {nuggets}
"""
SUPPORT = """\
user: "S: {sentence}\\nP: {passage}"
reply: {form: label, after: 'Label:', labels: {entailed: full, neutral: none}}
"""


@pytest.fixture
def server(tide_brain):
    """Answers our prompts in JSON, and in a list whatever asks for one."""

    def brain(body):
        if "<data>" in last_message(body):
            return tide_brain(body)
        if "Query:" in last_message(body):
            items = last_message(body).split("List: ")[1]
            return str(
                ["support" if "kelp" in each else "not_support" for each in eval_list(items)]
            )
        return "Label: entailed"

    with MockServer(brain=brain) as mock:
        yield mock


def last_message(body):
    """The last message to the model."""
    return body["messages"][-1]["content"]


def eval_list(text):
    """The texts of a list without quotes in its texts."""
    return [each.strip("' ") for each in text.strip("[]").split("',")]


@pytest.fixture
def files(tiny):
    (tiny / "assigner.yaml").write_text(TEMPLATE, encoding="utf-8")
    (tiny / "support.yaml").write_text(SUPPORT, encoding="utf-8")
    (tiny / "strict.txt").write_text("Be strict.\n", encoding="utf-8")
    return tiny


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def test_a_published_prompt_runs_and_the_manifest_says_which(
    run_tiny, server, files, tmp_path, rows_of
):
    path = files / "assigner.yaml"
    ran = run_tiny(server, "nuggets", "--set", f"judges.assigner.prompt={path}")
    assert ran.code == 0, ran.err
    labels = [row["assignment"] for cell in rows_of(tmp_path / "out" / "assignments.jsonl")
              for row in cell["nuggets"]]  # fmt: skip
    assert labels == ["not_support", "not_support", "support", "not_support"] * 2
    recorded = manifest(tmp_path / "out")
    sha256 = recorded["inputs"][str(path)]
    assert recorded["judges"]["assigner"]["prompt_file"] == {"sha256": sha256, "fenced": False}
    assert recorded["config"]["judges"]["assigner"]["prompt"] == str(path)
    bodies = [received.body for received in server.requests]
    assert {body["messages"][0]["content"] for body in bodies} == {"You label nuggets."}
    assert not any("response_format" in body for body in bodies)


def test_another_content_of_the_file_is_another_judge(run_tiny, server, files):
    path = files / "support.yaml"
    more = ("--set", f"judges.support.prompt={path}")
    assert run_tiny(server, "support", *more).code == 0
    n_asked = len(server.requests)
    path.write_text(SUPPORT.replace("neutral: none", "neutral: partial"), encoding="utf-8")
    assert run_tiny(server, "support", *more).code == 0
    assert len(server.requests) == n_asked  # the words sent are the same: the cache has the replies
    path.write_text(SUPPORT.replace("P: ", "Passage: "), encoding="utf-8")
    assert run_tiny(server, "support", *more).code == 0
    assert len(server.requests) > n_asked


@pytest.mark.parametrize("given", ["Be strict.", "strict.txt"])
def test_instructions_are_a_text_or_a_file_beside_the_config(given, judge, server, files):
    config = files / "judge.yaml"
    config.write_text(
        f"""\
program: support
data: {{topics: topics.tsv, passages: passages.jsonl, runs: [one.jsonl, two.jsonl]}}
models: {{default: {{model: hosted_vllm/mock, api_base: '{server.base_url}'}}}}
judges: {{support: {{instructions: {given}}}}}
""",
        encoding="utf-8",
    )
    ran = judge("run", config, "--out", "out", "--quiet")
    assert ran.code == 0, ran.err
    for received in server.requests:
        assert received.body["messages"][0]["content"].startswith("Be strict.\n\nLabels:")
        assert "sentence" in input_of(received.body)
    recorded = manifest(files.parent / "out")
    assert (str(files / "strict.txt") in recorded["inputs"]) == (given == "strict.txt")


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (("judges.support.prompt=away.yaml",), "away.yaml: cannot be read"),
        (
            ("judges.support.prompt=tiny/assigner.yaml",),
            "assigner.yaml:3: prefix_user: line 1",
        ),
        (("judges.support.instructions=away.md",), "away.md: cannot be read"),
        (("judges.support.instructions=' '",), ".instructions: the instructions are blank"),
        (
            ("judges.support.prompt=tiny/support.yaml", "judges.support.instructions=x"),
            "judges.support.prompt: it has instructions of its own; take one",
        ),
        (("judges.rankllm.instructions=x",), "judges.rankllm: it asks by prompts of its own"),
        (
            ("judges.assigner.instructions=x", "judges.support.prompt=tiny/support.yaml"),
            None,
        ),
        (
            ("judges.support.prompt=tiny/support.yaml", "judges.support.state=tiny/fitted.json"),
            "tiny/fitted.json: it has a fitted prompt, and the judge prompt of its own",
        ),
        (
            ("judges.support.instructions=Be fair.", "judges.support.state=tiny/fitted.json"),
            "it has a fitted prompt, and the judge instructions of its own; take one of them",
        ),
    ],
)
def test_what_does_not_fit_ends_with_what_to_change(sets, message, run_tiny, server, files):
    prompts = {"judge": {"instructions": "Be fair.", "demos": []}}
    write_state(files / "fitted.json", prompts=prompts)
    more = [part for each in sets for part in ("--set", each)]
    ran = run_tiny(server, "support", *more)
    if message is None:
        assert ran.code == 0
        return
    assert (ran.code, server.requests) == (2, [])
    assert message in ran.err


def write_state(path, **more):
    row = {"format": "nuggetjudge-judge-1", "judge": "support", "version": SupportJudge.version}
    row |= {"scale": ["none", "partial", "full"], "model": "hosted_vllm/mock"}
    path.write_text(json.dumps(row | more), encoding="utf-8")
