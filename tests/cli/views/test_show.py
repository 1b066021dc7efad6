"""`judge show`: what a user reads of an answer, a run, a topic and a folder."""

import json
import re
from pathlib import Path

import pytest
from mock_server import MockServer, input_of

ROOT = Path(__file__).resolve().parents[3]
SUN = "the sun adds to it"


@pytest.fixture
def tides(run_tiny, tide_brain, tmp_path):
    """`out`: run two states the sun's nugget, one does not; one reply is no judgement."""

    def brain(body):
        asked = input_of(body)
        if asked.get("sentence") == "Kelp bends with the tide.":
            return {"verdict": "perhaps \x1b[31m"}
        reply = tide_brain(body)
        if "nuggets" in asked and "Lakes" in asked["answer"]:
            reply = {"verdicts": dict.fromkeys(asked["nuggets"], "support")}
        return reply

    with MockServer(brain=brain) as server:
        ran = run_tiny(server, "nuggets,support", "--quiet")
    assert ran.code == 3, ran.err
    return tmp_path / "out"


def test_an_answer_by_sentence_with_labels_and_what_came_instead(judge, tides):
    ran = judge("show", tides, "one", "t1")
    assert ran.code == 0, ran.err
    lines = [line.strip() for line in ran.out.splitlines()]
    assert "1  Tides follow the moon." in lines
    assert lines[lines.index("1  Tides follow the moon.") + 1].startswith("full")
    at = lines.index("3  Kelp bends with the tide.")
    assert lines[at + 1].startswith("not judged (unparseable)")
    assert any("perhaps" in line for line in lines[at + 2 :])
    assert "\x1b" not in ran.out
    assert "Nuggets, 4: 3 support, 1 not_support" in lines
    assert f"1  vital not_support: {SUN}" in lines
    [scores] = [part for part in ran.out.split("\n\n") if part.startswith("A ")]
    assert "on 2 judgements, 1 not judged" in " ".join(scores.split())
    assert "word overlap" not in ran.out  # a model gave these labels


def test_passages_and_people_on_demand(judge, tides, tmp_path):
    [nugget] = [
        each
        for each in json.loads((tides / "assignments.jsonl").read_text().splitlines()[0])["nuggets"]
        if each["text"] == SUN
    ]
    labels = tmp_path / "people.csv"
    head = "topic_id,run_id,nugget_id,annotator,label,rationale\n"
    labels.write_text(f"{head}t1,one,{nugget['id']},ann,support,it is implied\n")
    ran = judge("show", tides, "one", "t1", "--labels", labels, "--passages")
    assert "no_labels" not in ran.err
    assert "people (ann): support, not as the judge: it is implied" in ran.out
    assert "| The moon makes the tides." in ran.out
    assert "The moon makes" not in judge("show", tides, "one", "t1").out


def test_what_each_run_misses_of_a_topic(judge, tides):
    ran = judge("show", tides, "--topic", "t1")
    lines = ran.out.splitlines()
    marks = {
        line.split()[-1]: line.split()[1]
        for line in lines
        if line.split()[2:] in (["one"], ["two"])
    }
    assert marks == {"one": ".+++", "two": "++++"}  # the nugget that is missed most stands first
    first = next(line for line in lines if line.endswith(SUN))
    assert first.split()[:5] == ["1", "1", "0", "1", "0"]


def test_what_is_in_a_folder_and_what_to_ask_next(judge, tides):
    ran = judge("show", tides)
    printed = " ".join(ran.out.split())
    assert "2 runs, 1 topic, 2 of 2 answers" in printed
    assert "1 more did not arrive (1 unparseable)" in printed
    asks = [line.strip() for line in ran.out.splitlines() if line.startswith("  judge show")]
    assert f"judge show {tides} two t1" in asks
    for ask in asks:  # each of them is a command that works
        assert judge(*ask.split()[1:]).code == 0


def test_a_changed_input_is_said_and_its_sentences_are_not_shown(judge, tides, tmp_path):
    run = tmp_path / "tiny" / "one.jsonl"
    run.write_text(run.read_text().replace("moon", "sun"))
    ran = judge("show", tides, "one", "t1")
    assert ran.code == 0
    assert "has changed since the run read it" in ran.err
    assert "Tides follow the moon. Tides follow the sun alone." in ran.out  # as it was judged
    assert "1  (the text of this sentence is not there)" in ran.out


def test_what_is_not_there_ends_with_two_and_the_nearest(judge, tides):
    for arguments, words in (
        (["on"], "has no run 'on'; nearest: one"),
        (["one", "t2"], "has no topic 't2'; nearest: t1"),
        (["--topic", "t2"], "has no topic 't2'; nearest: t1"),
        (["one", "--measure", "F1"], "has no measure 'F1'; wanted one of"),
        (["one", "--passages"], "--passages: shown with one answer; name its run and topic too"),
        (["one", "t1", "--topic", "t1"], "--topic: the topic is named already"),
    ):
        ran = judge("show", tides, *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err


def test_the_page_shows_what_the_command_prints(judge, tmp_path):
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^[$] judge show .*\n((?:.*\n)*?)```", page, re.MULTILINE)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    judge("run", "examples/demo/judge.yaml", "--quiet")
    assert judge("show", "results/demo", "thin", "demo-bees").out.startswith(block)
    for command in re.findall(r"`judge (show [^`]*)`", page):
        assert judge(*command.split()).code == 0, command
