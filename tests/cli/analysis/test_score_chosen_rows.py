"""Scores and counts of chosen rows of a judged file: topics, bounds and n are those of the rows."""

import json
from collections import Counter

import pytest

from nuggetjudge.programs.scoring.score import label_counts, score_path
from nuggetjudge.records.reading.problems import Problems

TABLE_2 = {  # of arXiv:2504.15205: topics -> full, partial, none of people, by condition
    "from_scratch": (22, (2752, 1652, 2338)),
    "post_edited": (14, (1812, 1076, 1277)),
}


def answer(run_id, topic_id, part, *sentences):
    cited = [{"text": "A.", "citations": [{"docid": f"p{i}", "label": label}
              for i, label in enumerate(labels)]} for labels in sentences]  # fmt: skip
    return {"run_id": run_id, "topic_id": topic_id, "part": part, "sentences": cited}


ROWS = [
    answer("a", "t1", "x", [2, 0], [1]),
    answer("b", "t1", "x", [0], []),
    answer("a", "t2", "x", [-1], [2]),
    answer("a", "t3", "y", [0]),
    answer("c", "t3", "y", [2]),
]


@pytest.fixture
def judged(tmp_path):
    path = tmp_path / "judged.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_chosen_rows_score_as_a_file_of_them_alone(judged, tmp_path):
    alone = tmp_path / "alone.jsonl"
    alone.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:3]), encoding="utf-8")
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
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
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
