"""Wrong input ends with one clear line that names the place, exit 2, and no traceback."""

import json
import os
import re
import subprocess
import sys

import pytest
from mock_server import MockServer

PLACE = re.compile(r"judge: \S+:\d+: ")


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


def test_a_missing_file_is_named(refused, tiny):
    assert "gone.tsv" in refused(topics=tiny / "gone.tsv")
    assert "gone.jsonl" in refused(passages=tiny / "gone.jsonl")
    assert "gone" in refused(runs=tiny / "gone")


@pytest.mark.parametrize("name", ["topics.tsv", "passages.jsonl", "one.jsonl"])
def test_an_empty_file_is_named(name, refused, tiny):
    (tiny / name).write_text("", encoding="utf-8")
    line = refused()
    assert PLACE.match(line)
    assert f"{name}:1: " in line


@pytest.mark.parametrize("name", ["passages.jsonl", "one.jsonl", "nuggets.jsonl"])
def test_a_broken_json_line_is_named(name, refused, tiny):
    path = tiny / name
    path.write_text(path.read_text(encoding="utf-8") + '{"broken": \n', encoding="utf-8")
    line = refused("nuggets,support", nuggets=tiny / "nuggets.jsonl")
    assert PLACE.match(line)
    assert f"{name}:2: " in line


def test_a_binary_file_is_named(refused, tiny):
    (tiny / "one.jsonl").write_bytes(os.urandom(2000) + b"\xff\xfe")
    assert "one.jsonl" in refused()


def test_two_answers_of_a_run_to_a_topic_are_told_with_both_places(refused, tiny):
    path = tiny / "one.jsonl"
    path.write_text(path.read_text(encoding="utf-8") * 2, encoding="utf-8")
    line = refused()
    assert f"{path}:2: " in line
    assert "line 1" in line or f"{path.name}:1" in line


def test_the_same_run_in_two_files_is_told(refused, tiny):
    (tiny / "runs").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (tiny / "runs" / name).write_bytes((tiny / "one.jsonl").read_bytes())
    line = refused(runs=tiny / "runs")
    assert "b.jsonl:1: " in line
    assert "a.jsonl:1" in line


def test_runs_that_answer_none_of_the_topics_are_no_run(refused, tiny):
    (tiny / "topics.tsv").write_text("t9\tsomething else\n", encoding="utf-8")
    assert "0 of 1 answers match a topic: t1 against t9" in refused()


def test_a_run_that_answers_no_judged_topic_scores_0_and_does_not_vanish(judge, tiny):
    text = (tiny / "two.jsonl").read_text(encoding="utf-8")
    (tiny / "two.jsonl").write_text(text.replace('"t1"', '"t9"'), encoding="utf-8")
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl", "--json"]
    runs = ["--runs", tiny / "one.jsonl", "--runs", tiny / "two.jsonl", "--model", "lexical"]
    means = [row for row in judge("run", "support", *data, *runs).rows if row["topic_id"] == "all"]
    values = {row["value"] for row in means if row["run_id"] == "two"}
    assert values == {0.0}


def test_missing_data_is_asked_for_by_its_flag(refused, tiny):
    assert "--runs" in refused(runs=None)
    assert "--topics" in refused(topics=None)
    assert "data.nuggets" in refused("nuggets")
    assert "--candidates" in refused("relevance")


def test_names_that_no_leaderboard_can_hold_are_told_before_anything_is_judged(refused, tiny):
    text = (tiny / "one.jsonl").read_text(encoding="utf-8")
    (tiny / "one.jsonl").write_text(text.replace('"one"', '"one run"'), encoding="utf-8")
    assert "one.jsonl:1: run_id is 'one run'" in refused()
    (tiny / "topics.tsv").write_text("all\twhat makes the tides\n", encoding="utf-8")
    assert "topic 'all'" in refused()


def test_support_without_any_passage_says_what_to_name(refused):
    assert "--passages" in refused(passages=None)


def test_support_of_reports_with_documents_needs_no_passages(judge, tiny):
    text = (tiny / "one.jsonl").read_text(encoding="utf-8")
    documents = '{"documents": {"p1": {"id": "p1", "text": "The moon makes the tides."}}, '
    (tiny / "one.jsonl").write_text(documents + text.removeprefix("{"), encoding="utf-8")
    data = ["--topics", tiny / "topics.tsv", "--runs", tiny / "one.jsonl"]
    ran = judge("run", "support", *data, "--model", "lexical", "--out", "out")
    assert (ran.code, ran.out.split("\n\n")[0].count("one")) == (0, 1), ran.err


@pytest.mark.parametrize("gate", ["A=nan", "A=inf", "A=-inf", "=0.4", "A", "A=x"])
def test_a_gate_that_says_nothing_is_refused(gate, refused):
    line = refused(**{"fail-under": gate})
    assert line.startswith(f"judge: --fail-under {gate}: wanted MEASURE=VALUE")


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_cost", "nan"), ("max_cost", "inf"), ("allow_missing", "nan"), ("allow_missing", "inf%"),
     ("limit", 2**64), ("max_calls", 2**63), ("max_tokens", 2**63), ("out", "x" * 300)],
)  # fmt: skip
def test_a_number_or_name_that_nothing_can_hold_is_refused(name, value, refused):
    line = refused(set=f"run.{name}={value}")
    assert f"run.{name}: " in line


def test_run_files_that_a_shell_made_of_a_pattern_get_a_hint(judge, tiny):
    ran = judge("run", "support", "--runs", tiny / "one.jsonl", tiny / "two.jsonl")
    assert ran.code == 2
    assert "Quote patterns (--runs 'runs/*') or repeat --runs" in ran.err


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


def test_a_file_that_the_system_refuses_is_no_gate(judge, tiny):
    ran = judge("run", "x" * 300 + "/judge.yaml")
    assert ran.code == 2, ran.err


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


def test_an_unknown_program_is_told_with_the_known_ones(refused):
    line = refused("nuggets,suport")
    assert "suport" in line
    assert "relevance, nuggets, support" in line


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


def test_a_manifest_of_another_make_is_refused(judge, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    none = judge("score", folder)
    assert (none.code, "manifest.json" in none.err) == (2, True)
    (folder / "manifest.json").write_text("{not json", encoding="utf-8")
    broken = judge("score", folder)
    assert (broken.code, "manifest.json:1: not JSON" in broken.err) == (2, True)
    for text in ('{"version": 99}', "[]", "3"):
        (folder / "manifest.json").write_text(text, encoding="utf-8")
        ran = judge("score", folder)
        assert ran.code == 2, ran.err
        assert "Traceback" not in ran.err
        assert "manifest.json" in ran.err


def test_a_results_folder_with_a_foreign_manifest_is_not_written_over(refused, tiny, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text("[]", encoding="utf-8")
    assert "manifest.json" in refused()
    assert (tmp_path / "out" / "manifest.json").read_text(encoding="utf-8") == "[]"


@pytest.mark.parametrize(
    "arguments",
    [["score", "gone"], ["agree", "gone", "gone"], ["run"], ["nothing"], ["run", "support", "--no"],
     ["run", "gone.yaml"],
     ["generate", "--k", "²"]],
)  # fmt: skip
def test_wrong_usage_exits_2_without_a_traceback(arguments, judge):
    ran = judge(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert "Traceback" not in ran.err


def test_score_and_agree_name_the_broken_line(judge, tmp_path):
    row = {"qid": "1", "query": "q", "run_id": "r", "answer_text": "a", "response_length": 1}
    row["nuggets"] = [{"text": "n", "importance": "vital", "assignment": "support"}]
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(row)[:-9] + "\n", encoding="utf-8")
    for command in (["score", path], ["agree", path, path]):
        ran = judge(*command)
        assert ran.code == 2
        assert f"{path}:2: " in ran.err
        assert "Traceback" not in ran.err


def test_agree_of_unlike_things_says_what_they_are(judge, tmp_path):
    (tmp_path / "a.qrels").write_text("1 0 d1 2\n", encoding="utf-8")
    row = {"run_id": "r", "topic_id": "1", "sentence": 0, "citation": "d1", "rank": 0}
    (tmp_path / "b.jsonl").write_text(
        json.dumps(row | {"label": "full", "weight": 1.0}) + "\n", encoding="utf-8"
    )
    ran = judge("agree", "a.qrels", "b.jsonl")
    assert ran.code == 2
    assert "labels of different things" in ran.err
