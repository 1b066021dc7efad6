"""`judge agree`, `compare` and `next` on the command line."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from json_lines import read_rows, write_rows
from page_output import is_shown

# `judge agree` as a user runs it: readable in 80 columns, quick, and as the page shows it.
ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "trust" / "agreement.md").read_text(encoding="utf-8")


def commands_of_the_page():
    """(arguments, what it shows) of each `$ judge …` in the page's blocks."""
    for block in re.findall(r"^```\n(\$ judge .*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ judge ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command.split(), shown


@pytest.fixture
def annotated(tmp_path):
    items = [(t, q) for t in range(4) for q in range(6)]
    label = {"a": lambda t, q: q % 3, "b": lambda t, q: (q + (t == q)) % 3, "c": lambda t, q: 1}
    rows = [
        {"topic_id": t, "passage_id": q, "annotator": name, "label": of(t, q)}
        for t, q in items
        for name, of in label.items()
    ]
    judged = [{"topic_id": t, "passage_id": q, "label": (q * t) % 3} for t, q in items]
    write_rows(tmp_path / "judged.jsonl", judged)
    return write_rows(tmp_path / "human.jsonl", rows)


def test_calls_are_those_of_a_model(judge, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    labels = "examples/demo/labels/grounded.jsonl"
    own = ("--judge", "examples/demo/grounded.yaml")
    ran = judge("run", "items", "--items", labels, *own, "--out", "out", "--quiet")
    assert ran.code == 0, ran.err
    compared = ("agree", labels, "out", "--resamples", "0")
    assert "Model calls" not in judge(*compared).out  # word overlap asked nobody
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, "answered_by": ["gpt"]}), encoding="utf-8")
    n = sum(manifest["judged"].values())
    assert f"Model calls: {n}, 1.00 per judgement." in judge(*compared).out


@pytest.mark.slow
def test_the_page_shows_what_the_commands_print(judge, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    n_shown = 0
    for arguments, shown in commands_of_the_page():
        into = arguments.index(">") if ">" in arguments else len(arguments)
        ran = judge(*arguments[:into])
        assert ran.code == 0, ran.err
        if into < len(arguments):
            (tmp_path / arguments[into + 1]).write_text(ran.out, encoding="utf-8")
        else:
            assert is_shown(ran.out, shown), ran.out
            n_shown += 1
    assert n_shown >= 2


def test_one_file_shows_its_annotators(judge, annotated):
    ran = judge("agree", annotated)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("The annotators agree with each other ")
    assert "3 annotators, 24 items on 4 topics, 72 labels" in ran.out
    assert "Fleiss kappa" not in ran.out
    assert "Fleiss kappa" in judge("agree", annotated, "--all").out
    assert max(map(len, ran.out.splitlines())) <= 80
    alone = judge("agree", "judged.jsonl")
    assert alone.code == 2
    assert "several annotators" in alone.err


def test_scores_fit_in_80_columns(judge, tmp_path):
    rows = [
        {"run_id": f"r{r}", "topic_id": t, "measure": "V", "value": (r * 7 + t * 3 + r * t) % 11}
        for r in range(25)
        for t in range(5)
    ]
    human = write_rows(tmp_path / "human.jsonl", rows)
    judged = [{**row, "value": (row["value"] * 5) % 11} for row in rows]
    write_rows(tmp_path / "judged.jsonl", judged)
    ran = judge("agree", human, "judged.jsonl")
    assert ran.code == 0, ran.err
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "tau-b, top 20" not in ran.out
    ran_all = judge("agree", human, "judged.jsonl", "--all").out
    assert max(map(len, ran_all.splitlines())) <= 80
    assert "tau-b, top 20" in ran_all


# What `judge compare` prints of two runs, of a leaderboard and of two judges.
COLLECTION = Path(__file__).resolve().parents[2] / "collection"


@pytest.fixture
def judged(judge, tmp_path):
    """Five topics of the demo with its own nuggets, judged without a model."""
    shutil.copytree(COLLECTION, tmp_path / "demo")
    data = ["--nuggets", "demo/nuggets.jsonl", "--out", "judged", "--quiet"]
    ran = judge("run", "demo/judge.yaml", *data)
    assert ran.code == 0, ran.err
    return tmp_path / "judged"


def test_two_runs_are_tested_in_the_order_they_are_named(judge, judged):
    ran = judge("compare", "judged", "--runs", "complete,thin", "--measure", "V_strict", "--json")
    (report,) = ran.rows
    (pair,) = report["measures"]["V_strict"]["pairs"]
    assert (pair["run_id"], pair["other_run_id"], pair["n_topics"]) == ("complete", "thin", 5)
    assert pair["p"] == 2 / 2**5  # better on all five topics
    means = [run["mean"] for run in report["measures"]["V_strict"]["runs"]]
    assert pair["difference"] == pytest.approx(means[0] - means[1])
    scores = read_rows(judged / "scores.jsonl")
    by_run = {
        row["run_id"]: row["value"]
        for row in scores
        if (row["topic_id"], row["measure"]) == ("all", "V_strict")
    }
    assert means == pytest.approx([by_run["complete"], by_run["thin"]])
    text = judge("compare", "judged", "--runs", "complete,thin").out
    assert text.startswith("complete is not shown to be better than thin: V_strict +")
    assert "complete minus thin, by topic" in text
    assert "5/0/0" in text


def test_two_judges_show_their_flips_and_write_all_of_them(judge, judged, rows_of):
    human = "demo/labels/nuggets.jsonl"
    ran = judge("compare", human, "judged", "--flips", "flips.jsonl")
    assert ran.code == 0, ran.err
    flips = read_rows(judged.parent / "flips.jsonl")
    (agreed,) = judge("agree", human, "judged", "--json").rows
    n_equal = sum(row[i] for i, row in enumerate(agreed["confusion"]))
    assert len(flips) == agreed["n"] - n_equal > 3
    assert f"{len(flips)} of {agreed['n']} items another label" in ran.out
    assert f"{len(flips) - 5} more; all are in flips.jsonl" in ran.out
    assert all(row["label"] != row["other_label"] and row["nugget"] for row in flips)
    again = judge("compare", human, "judged", "--flips", "flips.jsonl")
    assert (again.code, "exists already" in again.err) == (2, True)


def test_the_page_shows_what_is_printed(judge, example):
    judge("run", "demo/judge.yaml", "--out", "judged", "--quiet")
    page = (Path(__file__).parents[3] / "docs" / "trust" / "compare.md").read_text(encoding="utf-8")
    for runs in ([], ["complete", "thin"]):
        command = " ".join(["$ judge compare results/lexical", *runs, "--measure V_strict"])
        shown = page.split(f"{command}\n")[1].split("```")[0]
        printed = judge("compare", "judged", *runs, "--measure", "V_strict").out
        assert is_shown(printed, shown), printed


# What `judge compare` and `judge gate` say on stderr before anybody believes their figures.
WARNED = "Made with this judge: thin. These scores are not independent of the judge."


def test_what_was_compared_and_on_whom_the_judge_leans_is_said(judge, tmp_path, example):
    assert judge("run", "demo/judge.yaml", "--out", "judged", "--quiet").code == 0
    path = tmp_path / "judged" / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(manifest | {"independence": {"thin": ["judge"]}}), "utf-8")
    for command in (
        ("compare", "judged"),
        ("compare", "judged", "--json"),
        ("gate", "judged", "--min", "V_strict=0"),
    ):
        assert WARNED in judge(*command).err, command
    assert f"judged: {WARNED}" in judge("gate", "judged", "--baseline", "judged").err

    shutil.copytree(tmp_path / "judged", tmp_path / "other")
    ran = judge("compare", "judged", "other", "--as", "judges")
    assert "another label (nuggets;" in ran.out, ran.err
    assert "Compared: nuggets. Both also judged support (--kind)." in ran.err
    named = judge("compare", "judged", "other", "--kind", "support", "--as", "judges")
    assert "another label (support;" in named.out, named.err
    assert "Compared:" not in named.err


# From judged answers to a sheet, from the filled sheet to how far the judge agrees with people.
@pytest.fixture
def demo(judge, tmp_path):
    """Five topics of the demo, judged without a model; `next` is run from where `run` was."""
    shutil.copytree(COLLECTION, tmp_path / "demo")
    ran = judge("run", "demo/judge.yaml", "--out", "judged", "--quiet")
    assert ran.code == 0, ran.err
    return tmp_path


def next_rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.whole
def test_a_sheet_that_people_filled_is_measured_as_it_is(judge, demo):
    ran = judge("next", "judged", "--kind", "support", "--n", 12, "--out", "sheet.csv")
    assert ran.code == 0, ran.err
    assert "of 100 items" in ran.out
    rows = next_rows_of(demo / "sheet.csv")
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
    mixed = judge("agree", "sheet.csv", "judged")
    assert "labels are not a random sample" in mixed.err
    assert "and count; for a fair figure add --where chosen_by=random" in mixed.err
    assert "for a fair figure" in judge("check", "sheet.csv", "--results", "judged").err
    assert report["truth_counts"]["full"] == 10
    chosen = judge("agree", "sheet.csv", "judged", "--where", "chosen_by=random", "--json")
    assert "not a random sample" not in chosen.err
    n_random = sum(row["chosen_by"] == "random" for row in rows)
    assert chosen.rows[0]["n"] + chosen.rows[0]["n_human_unlabelled"] == n_random == 6

    more = judge(
        *("next", "judged", "--kind", "support", "--n", 200, "--labels", "sheet.csv"),
        *("--out", "more.jsonl"),
    )
    assert "of 100 items; 10 already have a label" in more.out
    names = ("topic_id", "run_id", "sentence_id", "passage_id")
    first = {tuple(row[name] for name in names) for row in rows[:10]}
    second = read_rows(demo / "more.jsonl")
    assert len(second) == 90
    assert not first & {tuple(row[name] for name in names) for row in second}


@pytest.mark.whole
def test_a_sheet_says_what_else_could_be_labelled_where_no_kind_was_named(judge, demo):
    ran = judge("next", "judged", "--n", 2, "--out", "sheet.csv")
    assert ran.out.endswith("Other judgements of the results: support (--kind).\n")
    ran = judge("next", "judged", "--kind", "support", "--n", 2, "--out", "support.csv")
    assert "Other judgements" not in ran.out


@pytest.mark.whole
def test_equal_commands_write_equal_bytes_and_never_over_labels(judge, demo):
    for name in ("one.csv", "two.csv"):
        assert judge("next", "judged", "--n", 9, "--out", name).code == 0
    assert (demo / "one.csv").read_bytes() == (demo / "two.csv").read_bytes()
    again = judge("next", "judged", "--n", 9, "--out", "one.csv")
    assert (again.code, "may hold labels" in again.err) == (2, True)


@pytest.mark.whole
def test_texts_that_are_gone_are_left_out_and_said(judge, demo):
    (demo / "demo" / "passages.jsonl").write_text(
        '{"docid": "x", "text": "another"}\n', encoding="utf-8"
    )
    ran = judge("next", "judged", "--kind", "support", "--n", 3, "--out", "sheet.csv")
    assert ran.code == 0
    assert "passages.jsonl: has changed since the run read it" in ran.err
    assert {row["passage"] for row in next_rows_of(demo / "sheet.csv")} == {""}


@pytest.mark.whole
def test_next_the_page_shows_what_is_printed(judge, tmp_path, example):
    judge("run", "demo/judge.yaml", "--out", "judged", "-q")
    page = (Path(__file__).parents[3] / "docs" / "trust" / "next.md").read_text(encoding="utf-8")
    shown = page.split("```\n")[3]
    printed = judge("next", "judged", "--kind", "support", "--n", 12, "--out", "to-label.csv").out
    assert printed == shown
