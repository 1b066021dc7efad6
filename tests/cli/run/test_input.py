"""Wrong input ends with one clear line that names the place, exit 2, and no traceback."""

import json
import subprocess
import sys

import pytest
from mock_server import MockServer, input_of

from nuggetjudge.judges import SupportJudge


@pytest.fixture
def refused(judge, tiny):
    """Runs on the tiny collection with some arguments replaced; returns the one line of error."""

    def run(programs: str = "support", **changed: object) -> str:
        given = {"topics": tiny / "topics.tsv", "passages": tiny / "passages.jsonl"}
        given |= {"runs": tiny / "one.jsonl", "out": "out", "model": "lexical"} | changed
        options = [part for name, value in given.items() if value is not None
                   for part in (f"--{name}", value)]  # fmt: skip
        ran = judge("run", programs, *options)
        assert ran.code == 2, (ran.out, ran.err)
        assert ran.out == ""
        assert "Traceback" not in ran.err
        (line,) = (text for text in ran.err.splitlines() if not text.startswith("No model named"))
        return line

    return run


def test_a_run_that_answers_no_judged_topic_scores_0_and_does_not_vanish(judge, tiny):
    text = (tiny / "two.jsonl").read_text(encoding="utf-8")
    (tiny / "two.jsonl").write_text(text.replace('"t1"', '"t9"'), encoding="utf-8")
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl", "--json"]
    runs = ["--runs", tiny / "one.jsonl", "--runs", tiny / "two.jsonl", "--model", "lexical"]
    means = [row for row in judge("run", "support", *data, *runs).rows if row["topic_id"] == "all"]
    values = {row["value"] for row in means if row["run_id"] == "two"}
    assert values == {0.0}


def test_control_characters_reach_no_terminal(judge, tiny, tmp_path):
    row = json.loads((tiny / "one.jsonl").read_text(encoding="utf-8")) | {
        "run_id": "a\x1b[2J\u202eb"
    }
    (tiny / "one.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl"]
    data += ["--runs", tiny / "one.jsonl", "--model", "lexical", "--out", "out"]
    ran = judge("run", "support", *data, "--fail-under", "support_precision=2")
    assert ran.code == 1
    for text in (ran.out, ran.err):
        assert "a\\x1b[2J\\u202eb" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    wrong = judge("score", tmp_path / "out", "--topics", tmp_path / "\x1b[2J")
    assert "\x1b" not in wrong.err
    (tiny / "t\x1b.tsv").write_text("", encoding="utf-8")
    ran = judge("run", "support", *data, "--topics", tiny / "t\x1b.tsv")
    assert (ran.code, "t\\x1b.tsv:1: " in ran.err, "\x1b" in ran.err) == (2, True, False)


def test_the_reader_of_the_output_may_go_away(environment, tmp_path, tiny):
    (tmp_path / "scores.py").write_text(
        "import sys\nfrom nuggetjudge.cli import app\n"
        "def gone(): raise BrokenPipeError(32, 'gone')\n"
        "app.app.command('gone')(gone)\nsys.argv = ['judge', 'gone']\napp.main()\n",
        encoding="utf-8",
    )
    command = [sys.executable, "scores.py"]
    ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_an_error_of_ours_is_no_gate_and_shows_its_traceback(environment, tmp_path):
    (tmp_path / "broken.py").write_text(
        "import sys\nfrom nuggetjudge.cli import app\n"
        "def broken(): raise LookupError('unforeseen')\n"
        "app.app.command('broken')(broken)\nsys.argv = ['judge', 'broken']\napp.main()\n",
        encoding="utf-8",
    )
    command = [sys.executable, "broken.py"]
    ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=False)
    assert ran.returncode == 70
    assert b"Traceback" in ran.stderr
    assert b"LookupError: unforeseen" in ran.stderr


def test_a_passage_that_is_not_there_is_unjudged_and_never_no_support(
    judge, tiny, tmp_path, rows_of
):
    (tiny / "passages.jsonl").write_text(
        '{"docid": "p9", "text": "About something else."}\n', encoding="utf-8"
    )
    ran = judge(
        *("run", "support", "--topics", tiny / "topics.tsv", "--runs", tiny / "one.jsonl"),
        *("--passages", tiny / "passages.jsonl", "--model", "lexical", "--out", "out", "--json"),
    )
    assert ran.code == 3
    assert "  most in one 3\n  to accept this: --allow-missing 100%\n" in ran.err
    lost = rows_of(tmp_path / "out" / "unjudged.jsonl")
    assert [(row["reason"], row["citation"]) for row in lost] == [("no_passage", "p1")] * 3
    row = next(row for row in ran.rows if row["measure"] == "support_precision")
    assert (row["value"], row["n"], row["n_unjudged"]) == (None, 0, 3)
    assert (row["low"], row["high"]) == (0.0, 1.0)


def test_an_output_folder_that_cannot_be_written_is_told_before_anything_is_asked(
    refused, tiny, tmp_path
):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with MockServer() as server:
        line = refused(
            out=tmp_path / "file" / "out", model="hosted_vllm/mock",
            set=f"models.default.api_base={server.base_url}",
        )  # fmt: skip
        assert "file" in line
        assert server.requests == []
    assert "file" in refused(out=tmp_path / "file")


def test_garbage_in_a_journal_is_named_by_its_line(refused, judge, tiny, tmp_path):
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl"]
    run = ["run", "support", *data, "--runs", tiny / "one.jsonl", "--out", "out"]
    assert judge(*run).code == 0
    (journal,) = (tmp_path / "out" / "journal").glob("support-*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], b"garbage\n", *lines[1:]]))
    line = refused(model=None)
    assert f"{journal.name}:2: " in line
    assert "delete this line and run again" in line
    journal.write_bytes(b"".join(lines))
    assert judge(*run).code == 0


# `judges.NAME.prompt` and `.instructions`: a published judge in a run, its record, and errors.
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


@pytest.mark.whole  # the dialects of prompt files are an annex
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


@pytest.mark.whole
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
            "judges.support.prompt: has its own instructions; remove judges.support.instructions",
        ),
        (("judges.rankllm.instructions=x",), "judges.rankllm: this judge uses its own prompts"),
        (
            ("judges.assigner.instructions=x", "judges.support.prompt=tiny/support.yaml"),
            None,
        ),
        (
            ("judges.support.prompt=tiny/support.yaml", "judges.support.state=tiny/fitted.json"),
            "tiny/fitted.json: it has a fitted prompt, but the judge prompt of its own",
        ),
        (
            ("judges.support.instructions=Be fair.", "judges.support.state=tiny/fitted.json"),
            "it has a fitted prompt, but the judge instructions of its own; choose one of them",
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
