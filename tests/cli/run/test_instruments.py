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


def test_two_instruments_are_compared_as_two_judges(run_tiny, judge, server, files, rows_of):
    path = files / "assigner.yaml"
    assert run_tiny(server, "nuggets", out="ours").code == 0
    ran = run_tiny(server, "nuggets", "--set", f"judges.assigner.prompt={path}", out="theirs")
    assert ran.code == 0, ran.err
    n_asked = len(server.requests)
    compared = judge("compare", "ours", "theirs", "--as", "judges", "--json")
    assert compared.code == 0, compared.err
    assert len(server.requests) == n_asked
    (report,) = compared.rows
    assert (report["compared"], report["agreement"]["n"], report["n_flips"]) == ("judges", 8, 4)
    again = run_tiny(server, "nuggets", "--set", f"judges.assigner.prompt={path}", out="theirs")
    assert (again.code, len(server.requests)) == (0, n_asked)


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


def test_a_dry_run_measures_the_prompt_of_the_file(run_tiny, server, files):
    short = run_tiny(server, "support", "--dry-run")
    path = files / "support.yaml"
    path.write_text(SUPPORT.replace("S: ", "S " * 4000), encoding="utf-8")
    long = run_tiny(server, "support", "--set", f"judges.support.prompt={path}", "--dry-run")
    assert (short.code, long.code, server.requests) == (0, 0, [])
    tokens = [
        int(line.split()[3].replace(",", ""))
        for ran in (short, long)
        for line in ran.out.splitlines()
        if line.startswith("support ")
    ]
    assert tokens[1] - tokens[0] > 6 * 1500


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
            ("judges.question_evolver.instructions=x", "judges.support.prompt=tiny/support.yaml"),
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


def test_a_window_said_twice_must_be_the_same(run_tiny, server, files):
    text = "template: assigner.yaml\nwindow: 2\n"
    (files / "two.yaml").write_text(text, encoding="utf-8")
    more = ("--set", f"judges.assigner.prompt={files / 'two.yaml'}")
    ran = run_tiny(server, "nuggets", *more, "--set", "judges.assigner.window=3")
    assert ran.code == 2
    assert "two.yaml:2: window: 2, and judges.assigner.window is 3" in ran.err
    assert run_tiny(server, "nuggets", *more).code == 0
    assert len(server.requests) == 4
    recorded = manifest(files.parent / "out")
    assert {str(files / name) for name in ("two.yaml", "assigner.yaml")} <= recorded[
        "inputs"
    ].keys()


def test_a_correction_goes_with_a_prompt_of_a_file(run_tiny, server, files, tmp_path, rows_of):
    cuts = {"cuts": [0.5, 1.1], "curve": None, "log_odds": False, "topics": {}, "spread": None}
    write_state(files / "cuts.json", correction=cuts)  # full, at 1, is below the second cut
    more = ("judges.support.prompt=tiny/support.yaml", "judges.support.state=tiny/cuts.json")
    ran = run_tiny(server, "support", *(part for each in more for part in ("--set", each)))
    assert ran.code == 0, ran.err
    assert {row["label"] for row in rows_of(tmp_path / "out" / "support.jsonl")} == {"partial"}


def test_no_prompt_is_searched_for_in_the_place_of_a_files(judge, files, example):
    model = [
        "--model",
        "hosted_vllm/mock",
        "--set",
        "models.default.api_base=http://127.0.0.1:9/v1",
    ]
    prompt = ["--set", "judges.support.prompt=tiny/support.yaml", "--out", "fitted.json"]
    how = ["--judge", "support", "--method", "few-shot", *model, *prompt]
    ran = judge("calibrate", "demo/labels/support.jsonl", "--config", "demo/judge.yaml", *how)
    assert ran.code == 2
    assert "the prompt of support is a file's (prompt), which stays as it is" in ran.err


def test_explain_leaves_a_judge_with_a_prompt_of_its_own_as_it_is(
    run_tiny, server, files, tmp_path
):
    more = ("--set", f"judges.support.prompt={files / 'support.yaml'}", "--set", "run.explain=true")
    ran = run_tiny(server, "support", *more)
    assert ran.code == 0, ran.err
    assert "reasoning" not in manifest(tmp_path / "out")["judges"]["support"]
    ran = run_tiny(server, "support", *more, "--set", "judges.support.reasoning=true", out="other")
    assert (ran.code, "judges.support.reasoning: goes with" in ran.err) == (2, True)


def test_a_prompt_that_asks_for_the_judges_own_json_may_ask_for_quotes(
    run_tiny, server, files, tmp_path, rows_of
):
    reply = {"passage_quotes": ["tide"], "sentence_quotes": [], "verdict": "none"}
    server.brain = lambda body: reply
    path = files / "own.yaml"
    path.write_text("user: '{sentence} {passage}'\nreply: {form: json}\n", encoding="utf-8")
    asked = f"judges.support={{prompt: '{path}', evidence: true}}"
    ran = run_tiny(server, "support", "--set", asked)
    assert ran.code == 0, ran.err
    cited = [row for row in rows_of(tmp_path / "out" / "support.jsonl") if row["citation"]]
    assert cited
    assert all("evidence" in row for row in cited)


@pytest.mark.parametrize("setting", ["prompt", "instructions", "demonstrations", "state"])
def test_a_broken_file_of_a_later_judge_is_told_before_anything_is_asked(
    setting, run_tiny, server, files
):
    path = files / "broken.txt"
    path.write_text("\n", encoding="utf-8")
    ran = run_tiny(server, "nuggets,support", "--set", f"judges.support.{setting}={path}")
    assert (ran.code, "broken.txt" in ran.err) == (2, True), ran.err
    assert not server.requests
