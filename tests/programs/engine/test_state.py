"""Judge files in a run: the labels are those of the correction, per topic, and a change is seen."""

import json

import pytest
from graded_labels import write_jsonl

import nuggetjudge as nj
from nuggetjudge.judges import JudgeFile
from nuggetjudge.judges.fitted import Correction, OrdinalCurve
from nuggetjudge.judges.lexical import overlap as lexical
from nuggetjudge.judges.table import find_judge
from nuggetjudge.records.reading.problems import InputError

SENTENCES = [
    "tides follow the moon and the sun",
    "tides follow the wind and the stars",
    "kelp bends in rivers of cold water",
]
PASSAGE = "The moon and the sun make the tides. Kelp bends."
NUGGETS = ["the moon makes tides", "the sun makes tides", "kelp glows in winter"]


@pytest.fixture
def data(tmp_path):
    """Two topics with the same answer, the same nuggets and the same passage."""
    (tmp_path / "topics.tsv").write_text(
        "t1\tmoon tides sun\nt2\tmoon tides wind\n", encoding="utf-8"
    )
    passages = [{"docid": "p1", "text": PASSAGE}]
    answer = [{"text": text, "citations": [0]} for text in SENTENCES]
    runs, banks, pool = [], [], []
    for topic in ("t1", "t2"):
        about = {"run_id": "r", "topic_id": topic, "topic": "why"}
        runs.append({**about, "references": ["p1"], "response_length": 9, "answer": answer})
        nuggets = [{"text": text, "importance": "vital"} for text in NUGGETS]
        banks.append({"qid": topic, "query": "why", "nuggets": nuggets})
        pool.append({"topic_id": topic, "docids": ["p1"]})
    return {
        "topics": tmp_path / "topics.tsv",
        "passages": write_jsonl(tmp_path / "passages.jsonl", passages),
        "runs": str(write_jsonl(tmp_path / "r.jsonl", runs)),
        "nuggets": write_jsonl(tmp_path / "bank.jsonl", banks),
        "candidates": write_jsonl(tmp_path / "pool.jsonl", pool),
        "out": tmp_path / "out",
    }


PARTS = {
    "support": ("runs", "topics", "passages"),
    "nuggets": ("runs", "topics", "nuggets"),
    "relevance": ("topics", "passages", "candidates"),
}
OF_JUDGE = {  # program -> judge, its labels
    "support": ("support", ("none", "partial", "full")),
    "nuggets": ("assigner", ("not_support", "partial_support", "support")),
    "relevance": ("relevance", ("0", "1", "2", "3")),
}


@pytest.fixture
def run(data, tmp_path):
    """Runs a program with a correction, or a ready judge file, as the state of its judge."""

    def judged(program, correction=None, *, state=None, **settings):
        name, scale = OF_JUDGE[program]
        if correction is not None:
            state = tmp_path / "state.json"
            version = find_judge(name).load().version
            file = JudgeFile(judge=name, version=version, scale=scale, model="lexical",
                             correction=correction)  # fmt: skip
            state.write_text(file.text(), encoding="utf-8")
        if state is not None:
            settings[f"judges.{name}.state"] = str(state)
        given = {part: data[part] for part in ("out", *PARTS[program])}
        return nj.run(program=program, **given, **settings)

    return judged


def rows_of(folder, name):
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def test_support_labels_are_those_of_the_correction_and_shifts_are_of_their_topic(run, data):
    scores = [lexical.measure_support(text, PASSAGE) for text in SENTENCES]
    assert scores == sorted(scores, reverse=True)
    first, second, third = scores
    cuts = ((third + second) / 2, (second + first) / 2)
    run("support", Correction(cuts=cuts, topics={"t2": 1.0}))
    rows = rows_of(data["out"], "support.jsonl")
    labels = {topic: [r["label"] for r in rows if r["topic_id"] == topic] for topic in ("t1", "t2")}
    assert labels == {"t1": ["full", "partial", "none"], "t2": ["full", "full", "full"]}


def test_probabilities_of_a_curve_stand_beside_the_labels(run, data):
    curve = OrdinalCurve(slope=2.0, thresholds=(0.0, 1.0))
    correction = Correction(curve=curve, topics={"t2": 0.5})
    run("support", correction)
    for row in rows_of(data["out"], "support.jsonl"):
        sentence = SENTENCES[row["sentence"]]
        position = lexical.measure_support(sentence, PASSAGE) + (
            0.5 if row["topic_id"] == "t2" else 0
        )
        partial, full = curve.at_least(position)
        wanted = {"none": 1 - partial, "partial": partial - full, "full": full}
        assert row["probabilities"] == pytest.approx(wanted)


def test_a_state_with_fewer_labels_gives_those(run, data):
    run("support", Correction(cuts=(0.01,), labels=("none", "full")))
    rows = rows_of(data["out"], "support.jsonl")
    assert {row["label"] for row in rows} == {"full"}


def test_a_changed_state_is_judged_anew_and_told_in_the_manifest(run, data):
    def manifest():
        return json.loads((data["out"] / "manifest.json").read_text(encoding="utf-8"))

    run("support")
    assert manifest()["judges"]["support"]["state"] is None
    states_and_labels = []
    for cuts in ((2.0, 2.0), (-1.0, -1.0), (2.0, 2.0)):
        run("support", Correction(cuts=cuts), force=True)
        labels = {row["label"] for row in rows_of(data["out"], "support.jsonl")}
        states_and_labels.append((manifest()["judges"]["support"]["state"], labels))
    assert [labels for _, labels in states_and_labels] == [{"none"}, {"full"}, {"none"}]
    first, second, third = (state for state, _ in states_and_labels)
    assert first == third != second


def test_a_state_whose_labels_have_no_weight_is_refused(run):
    with pytest.raises(InputError, match="it gives the labels no, yes, a run wants none, partial"):
        run("support", Correction(cuts=(0.5,), labels=("no", "yes")))


def test_a_state_of_another_judge_or_model_is_refused_by_file(run, tmp_path):
    (tmp_path / "other.json").write_text(
        JudgeFile(judge="relevance", version="1", scale=("0", "1"), model="lexical").text(),
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=r"other.json: it is a file of the relevance judge"):
        run("support", state=tmp_path / "other.json")
    with pytest.raises(InputError, match=r"none.json: cannot be read"):
        run("support", state=tmp_path / "none.json")


def test_a_judge_without_a_prompt_of_ours_has_no_state(run, tmp_path):
    with pytest.raises(InputError, match=r"judges.rankllm.state: it asks by prompts of its own"):
        run("nuggets", **{"judges.rankllm.state": str(tmp_path / "state.json")})
