"""`judge score --labels`: what a user reads, what a machine reads, and how it refuses."""

import json
import random

import pytest


@pytest.fixture
def files(tmp_path):
    """Judgements of 2 runs on 6 topics with 10 nuggets each, and labels of half of them."""
    rng = random.Random(0)
    labels = ["topic_id,run_id,nugget_id,label"]
    with (tmp_path / "judged.jsonl").open("w", encoding="utf-8") as stream:
        for topic in range(6):
            for run, share in (("good", 0.7), ("poor", 0.3)):
                nuggets = []
                for i in range(10):
                    truth = "support" if rng.random() < share else "not_support"
                    other = "not_support" if truth == "support" else "support"
                    label = other if rng.random() < 0.15 else truth
                    nuggets.append({"id": f"n{i}", "text": f"n{i}", "importance": "vital"})
                    nuggets[-1]["assignment"] = label
                    if rng.random() < 0.6:
                        labels.append(f"t{topic},{run},n{i},{truth}")
                row = {"qid": f"t{topic}", "query": "q", "run_id": run, "answer_text": "a"}
                stream.write(json.dumps({**row, "response_length": 1, "nuggets": nuggets}) + "\n")
    (tmp_path / "human.csv").write_text("\n".join(labels) + "\n", encoding="utf-8")
    return tmp_path


def test_the_table_stands_below_the_plain_scores(judge, files):
    plain = judge("score", "judged.jsonl")
    ran = judge(
        "score", "judged.jsonl", "--labels", "human.csv", "--measures", "V_strict",
        "--half-width", 0.05,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.out.startswith(
        plain.out + "\nCorrected V_strict\n95% intervals; judge and people correlate"
    )
    table = [line.split() for line in ran.out.removeprefix(plain.out).splitlines() if line]
    head = next(i for i, line in enumerate(table) if line[:3] == ["run", "judged", "corrected"])
    assert [line[0] for line in table[head + 1 : head + 3]] == ["good", "poor"]
    assert [line[0] for line in table[-2:]] == ["good", "poor"]  # minus good: poor


def test_json_gives_score_rows_and_then_corrected_ones(judge, files):
    plain = judge("score", "judged.jsonl", "--json")
    ran = judge("score", "judged.jsonl", "--labels", "human.csv", "--json", "--level", 0.9)
    assert ran.out.startswith(plain.out)
    rows = [row for row in ran.rows if "row" in row]
    assert [row["row"] for row in rows] == ["corrected"] * 12 + ["difference"] * 6
    first = rows[0]
    assert {"judged", "corrected", "human_only", "rho", "n_labels", "warnings"} <= first.keys()
    assert (first["level"], first["run_id"], first["measure"]) == (0.9, "good", "A")
    low, high = first["corrected"]["like_these"]
    assert low < first["corrected"]["value"] < high
    assert rows[-1]["against"] == "good"


def test_few_labels_over_the_runs_correct_their_mean_and_say_what_is_missing(judge, files):
    head, *rows = (files / "human.csv").read_text(encoding="utf-8").splitlines()
    for run, n in (("good", 15), ("poor", 15)):
        of_run = [row for row in rows if f",{run}," in row]
        head = "\n".join([head, *random.Random(2).sample(of_run, n)])
    (files / "few.csv").write_text(head, encoding="utf-8")
    ran = judge("score", "judged.jsonl", "--labels", "few.csv", "--measures", "A")
    assert ran.code == 0, ran.err
    assert "good: 15 labels, wanted 20 or more: label 5 more of its items" in ran.out
    (row,) = [line.split() for line in ran.out.splitlines() if "(pooled)  " in line][:1]
    assert row[:3] == ["all", "runs", "(pooled)"]
    ran = judge("score", "judged.jsonl", "--labels", "few.csv", "--measures", "A", "--json")
    rows = [row for row in ran.rows if "row" in row]
    assert [row["row"] for row in rows] == ["corrected", "corrected", "pooled"]
    assert rows[0]["corrected"] is None
    assert rows[2]["n_labels"] == 30
    assert float(row[4]) == pytest.approx(rows[2]["corrected"]["value"], abs=0.0006)


def test_labels_of_other_items_are_left_out_by_a_flag_and_counted(judge, files):
    plain = judge("score", "judged.jsonl", "--labels", "human.csv")
    with (files / "human.csv").open("a", encoding="utf-8") as stream:
        stream.write("t0,good,n98,support\nt0,good,n99,support\n")
    refused = judge("score", "judged.jsonl", "--labels", "human.csv")
    assert (refused.code, refused.out) == (2, "")
    assert "2 labels are of items that are not in judged.jsonl" in refused.err
    ran = judge("score", "judged.jsonl", "--labels", "human.csv", "--ignore-other-labels")
    assert (ran.code, ran.out) == (0, plain.out)
    assert "1 other_items (skipped), first at human.csv:1: 2 labels are of items" in ran.err


def test_labels_that_do_not_fit_end_with_2_and_print_nothing(judge, files):
    (files / "few.csv").write_text(
        "topic_id,run_id,nugget_id,label\nt0,good,n0,support\n", encoding="utf-8"
    )
    ran = judge("score", "judged.jsonl", "--labels", "few.csv")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("judge: few.csv: all 1 labels are 'support', wanted two values")
    ran = judge("score", "judged.jsonl", "--labels", "human.csv", "--where", "round")
    assert (ran.code, ran.out) == (2, "")
    assert "wanted FIELD=VALUE" in ran.err
