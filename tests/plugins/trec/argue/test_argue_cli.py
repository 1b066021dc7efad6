"""`judge run argue`: what it prints, says of broken lists, and does with labels of people."""

import json
import re
import shutil
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[4] / "examples" / "argue"
DATA = ["--topics", DEMO / "topics.jsonl", "--runs", DEMO / "runs"]


@pytest.fixture
def ran(judge, tmp_path):
    lists = ["--set", f"data.question_lists={DEMO / 'lists.jsonl'}"]
    ran = judge("run", "argue", *DATA, *lists, "--model", "lexical", "--out", "out")
    assert ran.code == 0, ran.err
    return ran


def test_the_leaderboard_is_the_one_of_the_page_and_score_gives_the_same_bytes(
    ran, judge, tmp_path
):
    page = (DEMO.parents[1] / "docs" / "protocols" / "argue.md").read_text()
    shown = page.partition("--out results/argue\n")[2].partition("\n\nwhy: ")[0]
    assert ran.out.startswith(shown)
    again = judge("score", "out", "--json")
    assert again.out == (tmp_path / "out" / "scores.jsonl").read_text()


def test_show_says_where_an_answer_is_said_and_what_carries_it(ran, judge):
    text = judge("show", "out", "uncited", "tides").out
    assert "Questions, 4: 1 supported, 2 uncited, 1 unsupported" in text
    assert "okay uncited: Where is the largest plant? [Sihwa Lake in Korea]" in text
    assert "said in sentence 3" in text


def test_people_label_questions_of_reports(ran, judge, tmp_path):
    """One of twelve labels differs, by one place."""
    rows = [json.loads(line) for line in (tmp_path / "out" / "answered.jsonl").open()]
    ids = ("topic_id", "run_id", "question_id", "label")
    labels = [{name: row[name] for name in ids} for row in rows]
    changed = next(row for row in labels if row["label"] == "uncited")
    changed["label"] = "supported"
    (tmp_path / "people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    agreed = judge("agree", "people.jsonl", "out")
    assert agreed.code == 0, agreed.err
    assert re.search(r"share of equal labels +\.917 ", agreed.out)  # 11 of 12
    assert "unknown_scale" not in agreed.err
    drawn = judge("next", "out", "--kind", "argue", "--n", "2", "--out", "sheet.csv")
    assert drawn.code == 0, drawn.err
    head = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig").splitlines()[0]
    assert head.startswith("topic_id,run_id,question_id,request,accepted,report,label")


def test_a_broken_list_ends_the_run_with_its_line_before_anything_is_asked(judge, tmp_path):
    lines = (DEMO / "lists.jsonl").read_text()
    (tmp_path / "lists.jsonl").write_text(lines + '{"query_id": "x", "nugget_bank": "none"}\n')
    ended = judge("run", "argue", *DATA, "--set", "data.question_lists=lists.jsonl", "--out", "out")
    assert ended.code == 2
    assert "lists.jsonl:2: field 'nugget_bank' is 'none', wanted an object" in ended.err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_collaborators_files_is_read_by_their_names(judge, tmp_path):
    folder = tmp_path / "lists"
    folder.mkdir()
    asked = {"What turns the turbines?": ["OR", {"moving sea water": ["d1"]}]}
    (folder / "nuggets_tides.json").write_text(json.dumps(asked, indent=1))
    judged = judge(
        "run", "argue", *DATA, "--set", "data.question_lists=lists", "--out", "out", "--json"
    )
    assert judged.code == 0, judged.err
    rows = [row for row in judged.rows if row["topic_id"] == "all"]
    of_coverage = [row for row in rows if row["measure"] == "question_coverage_supported"]
    coverage = {row["run_id"]: row["value"] for row in of_coverage}
    assert coverage == {"careful": 1.0, "half": 0.0, "uncited": 1.0}
    shutil.rmtree(folder)
    shown = judge("show", "out", "half", "tides")  # the results stand without it
    assert shown.code == 0
