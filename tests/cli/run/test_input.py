"""Wrong input ends with one clear line that names the place, exit 2, and no traceback."""

import json
import subprocess
import sys

import pytest
from mock_server import MockServer


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
