"""Coverage by sub-narrative in a run of nuggets: scored, corrected, shown, and no 0 too many."""

import json

import pytest
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.plugins.report.answers import matrices
from nuggetjudge.programs.analysis.answers.answer_text import answer_text
from nuggetjudge.programs.analysis.answers.views import read_answer_views
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records import read_nugget_banks
from nuggetjudge.records.reading.problems import Problems

BANKS = {
    "t1": [
        ("turbines turn with the tide", "vital", "how it works"),
        ("tidal power costs 90 a unit", "vital", "what it costs"),
        ("wind is cheaper than tides", "okay", "what it costs"),
    ],
    "t2": [("trains stop in snow", "vital", "")],
}
ANSWERS = {
    ("r1", "t1"): "Turbines turn with the tide. Wind is cheaper than tides.",
    ("r1", "t2"): "Trains stop in snow.",
    ("r2", "t2"): "Nothing.",  # it does not answer t1
}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def results(tmp_path):
    names = ("text", "importance", "mapped_sub_narrative")
    banks = [
        {"qid": t, "query": t, "nuggets": [dict(zip(names, n, strict=True)) for n in nuggets]}
        for t, nuggets in BANKS.items()
    ]
    runs = [
        {
            "run_id": run, "topic_id": topic, "topic": topic, "references": [],
            "response_length": 1, "answer": [{"text": text, "citations": []}],
        }
        for (run, topic), text in ANSWERS.items()
    ]  # fmt: skip
    nj.run(
        program="nuggets",
        model="lexical",
        out=tmp_path / "out",
        topics=write(tmp_path / "topics.jsonl", [{"id": t, "title": t} for t in BANKS]),
        nuggets=write(tmp_path / "banks.jsonl", banks),
        runs=str(write(tmp_path / "runs.jsonl", runs)),
    )
    return tmp_path / "out"


def means(rows):
    return {(r.run_id, r.measure): r for r in rows if r.topic_id == "all" and r.measure[:2] == "SN"}


def test_a_topic_without_sub_narratives_counts_for_nobody_and_one_not_answered_is_0(results):
    scores = means(score_path(results, Problems()))
    # r1 on t1: all of the one nugget of the first, half of the two of the second; vital: 1 of 2.
    assert scores["r1", "SN"].value == pytest.approx((1 + 0.5) / 2)
    assert scores["r1", "SN_vital"].value == 0.5
    assert scores["r2", "SN"].value == 0.0
    assert {row.n_topics for row in scores.values()} == {1}


def test_what_is_not_judged_leaves_the_sub_narrative_open(results):
    path = forget_digests(results) / "assignments.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["nuggets"][0]["assignment"] = None
    write(path, rows)
    score = means(score_path(results, Problems()))["r1", "SN"]
    assert (score.value, score.n_unjudged) == (0.5, 1)
    assert (score.low, score.high) == (0.25, 0.75)


def test_each_nugget_weighs_its_share_of_the_mean_so_that_it_can_be_corrected(results):
    items = read_items(results, "nuggets", Problems())
    [measure] = [m for m in items.measures if m.name == "SN"]
    of_r1 = [
        float(w)
        for w, cell in zip(measure.weights, items.cells, strict=True)
        if cell[:2] == ("t1", "r1")
    ]
    assert of_r1 == [0.5, 0.25, 0.25]
    assert measure.topics == ("t1",)


def test_an_answer_is_shown_by_sub_narrative(results):
    [view] = list(read_answer_views(results, Problems(), run="r1", topic="t1"))
    text = answer_text(view, {}, passages=False)
    assert "how it works: 1 of 1 stated" in text
    assert "what it costs: 1 of 2 stated" in text
    assert text.index("how it works") < text.index("turbines turn") < text.index("what it costs")


def test_nuggets_without_sub_narratives_score_as_they_did(results, tmp_path):
    path = forget_digests(results) / "assignments.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        for nugget in row["nuggets"]:
            nugget.pop("mapped_sub_narrative", None)
    write(path, rows)
    assert means(score_path(results, Problems())) == {}


def test_the_nuggets_of_2025_are_scored_by_sub_narrative(shared_data, tmp_path):
    # An answer made of the first nugget of each sub-narrative, word by word, touches every one.
    path = shared_data / "rag25_nuggets" / "nuggets_nist.jsonl"
    banks = read_nugget_banks(path, Problems())
    runs = []
    for topic, bank in banks.items():
        first = {}
        for nugget in bank.nuggets:
            first.setdefault(nugget.sub_narrative, nugget.text)
        for run, texts in (("one_each", [*first.values()]), ("one", [bank.nuggets[0].text])):
            answer = [{"text": text, "citations": []} for text in texts]
            row = {"run_id": run, "topic_id": topic, "topic": "x", "references": []}
            runs.append({**row, "response_length": 1, "answer": answer})
    runs.sort(key=lambda row: row["run_id"])
    nj.run(
        program="nuggets",
        model="lexical",
        out=tmp_path / "out",
        nuggets=path,
        runs=str(write(tmp_path / "runs.jsonl", runs)),
    )
    scores = means(score_path(tmp_path / "out", Problems()))
    assert scores["one_each", "SN"].n_topics == 13
    for measure in ("SN", "SN_strict", "SN_vital"):
        assert scores["one_each", measure].value > 2 * scores["one", measure].value > 0


def test_the_page_has_the_sub_narrative_of_each_nugget(results):
    [matrix] = matrices(results, Problems())
    page_data = matrix.as_json(str, {})
    items = {topic["id"]: topic["items"] for topic in page_data["topics"]}
    assert [[*row[1:]] for row in items["t1"]] == [list(nugget) for nugget in BANKS["t1"]]
    assert [[*row[1:]] for row in items["t2"]] == [["trains stop in snow", "vital"]]
