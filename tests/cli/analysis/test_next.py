"""From judged answers to a sheet, from the filled sheet to how far the judge agrees with people."""

import csv
import json
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole
COLLECTION = Path(__file__).resolve().parents[2] / "collection"


@pytest.fixture
def demo(judge, tmp_path):
    """Five topics of the demo, judged without a model; `next` is run from where `run` was."""
    shutil.copytree(COLLECTION, tmp_path / "demo")
    ran = judge("run", "demo/judge.yaml", "--out", "judged", "--quiet")
    assert ran.code == 0, ran.err
    return tmp_path


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_sheet_that_people_filled_is_measured_as_it_is(judge, demo):
    ran = judge("next", "judged", "--kind", "support", "--n", 12, "--out", "sheet.csv")
    assert ran.code == 0, ran.err
    assert "of 100 items" in ran.out
    rows = rows_of(demo / "sheet.csv")
    assert len(rows) == 12
    texts = {row["passage"] for row in rows} | {row["sentence"] for row in rows}
    assert "" not in texts
    assert not any("judge" in name for name in rows[0])
    for row in rows[:10]:
        row |= {"label": "full", "annotator": "ann", "rationale": "=because"}
    with (demo / "sheet.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (report,) = judge("agree", "sheet.csv", "judged", "--json").rows
    assert (report["kind"], report["n"], report["n_human_unlabelled"]) == ("support", 10, 2)
    assert report["truth_counts"]["full"] == 10
    chosen = judge("agree", "sheet.csv", "judged", "--where", "chosen_by=random", "--json")
    n_random = sum(row["chosen_by"] == "random" for row in rows)
    assert chosen.rows[0]["n"] + chosen.rows[0]["n_human_unlabelled"] == n_random == 6

    more = judge(
        *("next", "judged", "--kind", "support", "--n", 200, "--labels", "sheet.csv"),
        *("--out", "more.jsonl"),
    )
    assert "of 100 items, 10 labelled before" in more.out
    names = ("topic_id", "run_id", "sentence_id", "passage_id")
    first = {tuple(row[name] for name in names) for row in rows[:10]}
    second = [
        json.loads(line) for line in (demo / "more.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(second) == 90
    assert not first & {tuple(row[name] for name in names) for row in second}


def test_a_sheet_says_what_else_could_be_labelled_where_no_kind_was_named(judge, demo):
    ran = judge("next", "judged", "--n", 2, "--out", "sheet.csv")
    assert ran.out.endswith("Also judged there: support (--kind).\n")
    ran = judge("next", "judged", "--kind", "support", "--n", 2, "--out", "support.csv")
    assert "Also judged" not in ran.out


def test_equal_commands_write_equal_bytes_and_never_over_labels(judge, demo):
    for name in ("one.csv", "two.csv"):
        assert judge("next", "judged", "--n", 9, "--out", name).code == 0
    assert (demo / "one.csv").read_bytes() == (demo / "two.csv").read_bytes()
    again = judge("next", "judged", "--n", 9, "--out", "one.csv")
    assert (again.code, "may hold labels" in again.err) == (2, True)


def test_texts_that_are_gone_are_left_out_and_said(judge, demo):
    (demo / "demo" / "passages.jsonl").write_text(
        '{"docid": "x", "text": "another"}\n', encoding="utf-8"
    )
    ran = judge("next", "judged", "--kind", "support", "--n", 3, "--out", "sheet.csv")
    assert ran.code == 0
    assert "passages.jsonl: has changed since the run read it" in ran.err
    assert {row["passage"] for row in rows_of(demo / "sheet.csv")} == {""}


def test_the_page_shows_what_is_printed(judge, tmp_path, example):
    judge("run", "demo/judge.yaml", "--out", "judged", "-q")
    page = (Path(__file__).parents[3] / "docs" / "trust" / "next.md").read_text(encoding="utf-8")
    shown = page.split("```\n")[3]
    printed = judge("next", "judged", "--kind", "support", "--n", 12, "--out", "to-label.csv").out
    assert printed == shown
