"""Coverage by sub-narrative in a run of nuggets: scored, corrected, shown, and no 0 too many."""

import json

import pytest
from json_lines import write_rows
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.plugins.annotate.work.next_labels import next_labels
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.annotate.work.wording import show_labels
from nuggetjudge.plugins.report.answers import matrices
from nuggetjudge.plugins.trec.narratives.whole import NarrativeRelevanceJudge
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.answers.answer_text import answer_text
from nuggetjudge.programs.analysis.answers.views import read_answer_views
from nuggetjudge.programs.config.sections import DataConfig
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records import read_nugget_banks
from nuggetjudge.records.reading.problems import InputError, Problems

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
        program="nuggets", model="lexical", out=tmp_path / "out",
        topics=write_rows(tmp_path / "topics.jsonl", [{"id": t, "title": t} for t in BANKS]),
        nuggets=write_rows(tmp_path / "banks.jsonl", banks),
        runs=str(write_rows(tmp_path / "runs.jsonl", runs)),
    )  # fmt: skip
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
    write_rows(path, rows)
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
    write_rows(path, rows)
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
        program="nuggets", model="lexical", out=tmp_path / "out", nuggets=path,
        runs=str(write_rows(tmp_path / "runs.jsonl", runs)),
    )  # fmt: skip
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


# Relevance 0-4: what knows of grades goes by the scale of the results folder.
PARTS = ["how turbines make power", "what tidal power costs", "who pays the bill"]
TEXTS = {
    "p1": "Turbines make power. Tidal power costs more than wind.",  # two parts
    "p2": "Wind blows hard.",  # none
    "p3": "Turbines are heavy.",  # about the first part
}
GRADES = {"p1": 3, "p2": 0, "p3": 1}  # no 4 among them


@pytest.fixture
def data(tmp_path):
    """Two topics with the same parts and passages."""
    topics = [{"id": t, "narrative": "tidal power", "sub_narratives": PARTS} for t in ("t1", "t2")]
    passages = [{"docid": name, "text": text} for name, text in TEXTS.items()]
    pool = [{"topic_id": t, "docids": [*TEXTS]} for t in ("t1", "t2")]
    return {
        "topics": write_rows(tmp_path / "topics.jsonl", topics),
        "passages": write_rows(tmp_path / "passages.jsonl", passages),
        "candidates": write_rows(tmp_path / "pool.jsonl", pool),
    }


@pytest.fixture
def run(data, tmp_path):
    def ran(how="together", **settings):
        out = tmp_path / f"out-{how}"
        chosen = {"scale": "rag2025", "sub_narratives": how}
        nj.run(
            program="relevance", model="lexical", out=out, judges={"relevance": chosen},
            **{**data, **settings},
        )  # fmt: skip
        return out

    return ran


@pytest.mark.parametrize("how", ["together", "each"])
def test_passages_are_graded_by_the_parts_of_the_narrative(run, how):
    out = run(how)
    rows = [json.loads(line) for line in (out / "relevance.jsonl").read_text().splitlines()]
    assert {row["passage_id"]: row["grade"] for row in rows} == GRADES
    parts = {"1": "detailed", "2": "detailed", "3": "none"}
    assert rows[0].get("parts") == (parts if how == "each" else None)


def test_agreement_has_the_grade_that_nobody_gave(run, tmp_path):
    out = run()
    lines = [f"{t} 0 {name} {grade}\n" for t in ("t1", "t2") for name, grade in GRADES.items()]
    (tmp_path / "human.qrels").write_text("".join(lines), encoding="utf-8")
    agreement = agree(tmp_path / "human.qrels", out, Problems(), resamples=0)
    assert agreement["scale"] == ["0", "1", "2", "3", "4"]
    assert agreement["accuracy"] == 1.0


def test_people_are_asked_for_grades_of_the_scale_with_the_parts_before_them(run):
    out = run()
    task = read_task([out], "relevance", Problems())
    words = [one.word for one in show_labels("relevance", task.scale)]
    assert words[-2:] == ["two or three parts", "four parts or more"]
    assert "2: the passage answers one part in detail." in task.guidelines
    [parts] = [t.text for t in task.show_texts(("t1", "p1")) if t.of == "sub_narratives"]
    assert parts.splitlines() == [f"{i}. {part}" for i, part in enumerate(PARTS, 1)]
    sheet = next_labels([out], 2, Problems())
    assert sheet.scale == ("0", "1", "2", "3", "4")
    assert all(row["sub_narratives"] == parts for row in sheet.rows)


def test_a_corrected_mean_gain_is_a_share_of_four(run):
    [gain] = [
        m for m in read_items(run(), "relevance", Problems()).measures if m.name == "mean_gain"
    ]
    assert gain.gains == {"0": 0.0, "1": 0.25, "2": 0.5, "3": 0.75, "4": 1.0}


def test_fitting_reads_labels_of_the_scale_with_the_parts(data, tmp_path):
    ids = [(t, f"p{i}") for t in ("t1", "t2") for i in range(10)]
    passages = [{"docid": f"p{i}", "text": f"Tide {i}."} for i in range(10)]
    rows = [{"topic_id": t, "passage_id": name, "label": i % 5} for i, (t, name) in enumerate(ids)]
    path = write_rows(tmp_path / "labels.jsonl", rows)
    examples = read_examples(
        path,
        NarrativeRelevanceJudge("lexical"),
        Problems(),
        data=DataConfig(
            topics=data["topics"], passages=(write_rows(tmp_path / "more.jsonl", passages),)
        ),
    )
    assert examples.scale == ("0", "1", "2", "3", "4")
    assert {item.inputs["sub_narratives"].count("\n") for item in examples.items} == {2}


def test_each_needs_sub_narratives_and_says_of_which_topic(run, tmp_path):
    rows = [{"id": "t1", "narrative": "a", "sub_narratives": PARTS}, {"id": "t2", "narrative": "b"}]
    topics = write_rows(tmp_path / "bare.jsonl", rows)
    with pytest.raises(InputError, match=r"bare.jsonl: .*1 of 2 topics have none, the first 't2'"):
        run("each", topics=topics)


def test_topics_without_a_list_take_that_of_their_nuggets(run, tmp_path):
    topics = write_rows(
        tmp_path / "bare.jsonl", [{"id": t, "narrative": "a"} for t in ("t1", "t2")]
    )
    nuggets = [
        {"text": f"fact {i}", "importance": "vital", "mapped_sub_narrative": f'"{part}"'}
        for i, part in enumerate([*PARTS, PARTS[0]])
    ]
    banks = [{"qid": t, "query": "a", "nuggets": nuggets} for t in ("t1", "t2")]
    out = run("each", topics=topics, nuggets=write_rows(tmp_path / "banks.jsonl", banks))
    row = json.loads((out / "relevance.jsonl").read_text().splitlines()[0])
    assert row["parts"] == {"1": "detailed", "2": "detailed", "3": "none"}


@pytest.mark.parametrize(
    ("judge", "settings", "what"),
    [
        (
            "support",
            {"scale": "rag2025"},
            "judges.support.scale: only relevance can have this setting",
        ),
        ("relevance", {"sub_narratives": "each"}, "each is of scale rag2025"),
        (
            "relevance",
            {
                "scale": "rag2025",
                "sub_narratives": "each",
                "verify": {"when": {"labels": ["1"]}},
            },
            "judges.relevance.verify: the grade is made of labels of sub-narratives",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused(data, tmp_path, judge, settings, what):
    with pytest.raises(InputError, match=what):
        nj.run(
            program="relevance", model="lexical", out=tmp_path / "x", judges={judge: settings},
            **data,
        )  # fmt: skip
