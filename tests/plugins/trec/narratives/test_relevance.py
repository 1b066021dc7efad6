"""Relevance 0-4: what knows of grades goes by the scale of the results folder."""

import json

import pytest

import nuggetjudge as nj
from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.judges.narratives import NarrativeRelevanceJudge
from nuggetjudge.plugins.annotate.work.next_labels import next_labels
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.annotate.work.wording import show_labels
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.config.sections import DataConfig
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.records.reading.problems import InputError, Problems

PARTS = ["how turbines make power", "what tidal power costs", "who pays the bill"]
TEXTS = {
    "p1": "Turbines make power. Tidal power costs more than wind.",  # two parts
    "p2": "Wind blows hard.",  # none
    "p3": "Turbines are heavy.",  # about the first part
}
GRADES = {"p1": 3, "p2": 0, "p3": 1}  # no 4 among them


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path):
    """Two topics with the same parts and passages."""
    topics = [{"id": t, "narrative": "tidal power", "sub_narratives": PARTS} for t in ("t1", "t2")]
    passages = [{"docid": name, "text": text} for name, text in TEXTS.items()]
    pool = [{"topic_id": t, "docids": [*TEXTS]} for t in ("t1", "t2")]
    return {
        "topics": write(tmp_path / "topics.jsonl", topics),
        "passages": write(tmp_path / "passages.jsonl", passages),
        "candidates": write(tmp_path / "pool.jsonl", pool),
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
    path = write(tmp_path / "labels.jsonl", rows)
    examples = read_examples(
        path,
        NarrativeRelevanceJudge("lexical"),
        Problems(),
        data=DataConfig(
            topics=data["topics"], passages=(write(tmp_path / "more.jsonl", passages),)
        ),
    )
    assert examples.scale == ("0", "1", "2", "3", "4")
    assert {item.inputs["sub_narratives"].count("\n") for item in examples.items} == {2}


def test_each_needs_sub_narratives_and_says_of_which_topic(run, tmp_path):
    rows = [{"id": "t1", "narrative": "a", "sub_narratives": PARTS}, {"id": "t2", "narrative": "b"}]
    topics = write(tmp_path / "bare.jsonl", rows)
    with pytest.raises(InputError, match=r"bare.jsonl: .*1 of 2 topics have none, the first 't2'"):
        run("each", topics=topics)


def test_topics_without_a_list_take_that_of_their_nuggets(run, tmp_path):
    topics = write(tmp_path / "bare.jsonl", [{"id": t, "narrative": "a"} for t in ("t1", "t2")])
    nuggets = [
        {"text": f"fact {i}", "importance": "vital", "mapped_sub_narrative": f'"{part}"'}
        for i, part in enumerate([*PARTS, PARTS[0]])
    ]
    banks = [{"qid": t, "query": "a", "nuggets": nuggets} for t in ("t1", "t2")]
    out = run("each", topics=topics, nuggets=write(tmp_path / "banks.jsonl", banks))
    row = json.loads((out / "relevance.jsonl").read_text().splitlines()[0])
    assert row["parts"] == {"1": "detailed", "2": "detailed", "3": "none"}


@pytest.mark.parametrize(
    ("judge", "settings", "what"),
    [
        ("support", {"scale": "rag2025"}, "judges.support.scale: a setting of relevance alone"),
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
            program="relevance",
            model="lexical",
            out=tmp_path / "x",
            judges={judge: settings},
            **data,
        )
