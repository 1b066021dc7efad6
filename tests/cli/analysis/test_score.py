"""`judge score` on the command line."""

import json
import random
from collections import Counter

import pytest
from json_lines import read_rows, write_rows

from nuggetjudge.programs.scoring.score import label_counts, score_path
from nuggetjudge.records.reading.problems import Problems


# `judge score --labels`: what a user reads, what a machine reads, and how it refuses.
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
    assert ran.out.startswith(plain.out + "\nCorrected V_strict\n95% intervals; the judge saves")
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
    assert ran.err.startswith(
        "judge: few.csv: all 1 labels are 'support', wanted at least two values"
    )
    ran = judge("score", "judged.jsonl", "--labels", "human.csv", "--where", "round")
    assert (ran.code, ran.out) == (2, "")
    assert "wanted FIELD=VALUE" in ran.err


# Scores and counts of chosen rows of a judged file: topics, bounds and n are those of the rows.
TABLE_2 = {  # of arXiv:2504.15205: topics -> full, partial, none of people, by condition
    "from_scratch": (22, (2752, 1652, 2338)),
    "post_edited": (14, (1812, 1076, 1277)),
}


def answer(run_id, topic_id, part, *sentences):
    cited = [{"text": "A.", "citations": [{"docid": f"p{i}", "label": label}
              for i, label in enumerate(labels)]} for labels in sentences]  # fmt: skip
    return {"run_id": run_id, "topic_id": topic_id, "part": part, "sentences": cited}


ROWS = [
    answer("a", "t1", "x", [2, 0], [1]), answer("b", "t1", "x", [0], []),
    answer("a", "t2", "x", [-1], [2]), answer("a", "t3", "y", [0]), answer("c", "t3", "y", [2]),
]  # fmt: skip


@pytest.fixture
def judged(tmp_path):
    path = tmp_path / "judged.jsonl"
    write_rows(path, ROWS)
    return path


def test_chosen_rows_score_as_a_file_of_them_alone(judged, tmp_path):
    alone = tmp_path / "alone.jsonl"
    write_rows(alone, ROWS[:3])
    rows = score_path(judged, Problems(), where={"part": ["x"]})
    assert rows == score_path(alone, Problems())
    by = {(row.run_id, row.topic_id, row.measure): row for row in rows}
    mean = by["b", "all", "support_precision"]  # no answer to t2, and t3 is not asked for
    assert (mean.value, mean.n_topics) == (0.0, 2)
    open_one = by["a", "t2", "support_precision"]
    assert (open_one.value, open_one.low, open_one.high, open_one.n_unjudged) == (1.0, 0.5, 1.0, 1)
    assert not any(row.run_id == "c" or row.topic_id == "t3" for row in rows)


def test_labels_are_counted_by_a_field_first_citations_by_themselves(judged, judge):
    ran = judge("score", "judged.jsonl", "--counts", "part", "--json")
    assert ran.code == 0, ran.err
    counted = {(row["of"], row["value"]): row for row in ran.rows}
    first = counted["first citations", "x"]
    assert first["labels"] == {"full": 2, "partial": 1, "none": 1}
    assert (first["n"], first["n_unjudged"], first["n_topics"], first["n_runs"]) == (4, 1, 2, 2)
    assert counted["citations", "x"]["labels"] == {"full": 2, "partial": 1, "none": 2}
    assert counted["citations", None]["n"] == 7
    table = judge("score", "judged.jsonl", "--counts", "part", "--where", "part=y").out
    assert table.splitlines()[2].split() == ["y", "1", "2", "2", "1", "0", "1", "0"]


def test_the_counts_of_the_support_paper_come_of_the_file_as_it_is(shared_data):
    """Table 2 where the data has all of its topics; else the rows, counted another way."""
    path = shared_data / "rag24_support" / "answers.jsonl"
    rows = read_rows(path)
    counts = {
        row.value: row
        for row in label_counts(path, "condition", Problems())
        if row.of == "first citations"
    }
    for condition, (n_topics, published) in TABLE_2.items():
        names = [name for name in counts if name is not None and name.startswith(condition)]
        labels = Counter(
            sentence["citations"][0]["label"]
            for row in rows
            if row["condition"] in names
            for sentence in row["sentences"]
            if sentence["citations"]
        )
        ours = tuple(
            sum(counts[name].labels[label] for name in names)
            for label in ("full", "partial", "none")
        )
        assert ours == (labels[2], labels[1], labels[0])
        topics = set().union(*(counts[name].topics for name in names))
        if len(topics) == n_topics:
            assert ours == published
        assert all(n <= most for n, most in zip(ours, published, strict=True))


def test_runs_judged_from_scratch_score_as_another_implementation_has_them(shared_data, rows_of):
    folder = shared_data / "rag24_support"
    where = {"condition": ["from_scratch", "from_scratch_webassess"]}
    rows = score_path(folder / "answers.jsonl", Problems(), where=where)
    means = {r.run_id: r for r in rows if r.topic_id == "all" and r.measure == "support_precision"}
    cells = rows_of(folder / "expected_cell_scores.jsonl")
    cells = [row for row in cells if row["condition"].startswith("from_scratch")]
    n_topics = len({row["topic_id"] for row in cells})
    for run_id, mean in means.items():
        values = [row["weighted_precision"] or 0.0 for row in cells if row["run_id"] == run_id]
        if mean.n_topics == n_topics:  # none is left out, without any judged citation
            assert mean.value == pytest.approx(sum(values) / n_topics, abs=1e-6)
    assert means["IITD-IRL.ag_rag_gpt35_expansion_rrf_20"].n_topics == n_topics
