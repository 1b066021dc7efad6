import json
from importlib.metadata import EntryPoint

import pytest
from json_lines import write_rows

from nuggetjudge.records import InputError, Problems, file_kind, kinds, read_labels
from nuggetjudge.records.kinds import Kind
from nuggetjudge.records.rows import Label

REAL = {
    "rag24_e2e/topics.tsv": "topics", "rag24_e2e/candidates.jsonl": "candidates",
    "rag24_e2e/passages.jsonl": "passages", "rag24_e2e/qrels_nist.txt": "qrels",
    "rag24_e2e/nuggets_nist.jsonl": "nuggets", "rag24_e2e/runs/neu.neurag.jsonl": "answers",
    "rag24_nuggets/nugget_assignments.jsonl": "assignments",
    "rag24_support/answers.jsonl": "support", "rag24_support/pairs.jsonl": "labels",
    "rag24_relevance/pairs.jsonl": "relevance", "crux_duc/runs/bm25.run": "run",
    "crux_duc/queries.jsonl": "questions", "crux_duc/llm_ratings.jsonl": "ratings",
    "crux_duc/llm_ratings_all_docids.jsonl": "ratings",
    "kiddie_smoke/topics/kiddie-topics.jsonl": "topics",
    "kiddie_smoke/runs/run1.jsonl": "answers",
    "kiddie_smoke/eval/kiddie_fake.eval.ir_measures.txt": "scores",
}  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), REAL.items())
def test_real_files_are_told_apart(name, kind, shared_data):
    assert file_kind(shared_data / name) == kind


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ({"run_id": "r", "topic_id": "1", "sentence": 0, "citation": None}, "support"),
        ({"qid": "1", "query": "q", "run_id": "r", "nuggets": []}, "assignments"),
        ({"query_id": "1", "claim_bank": {}}, "nuggets"),
        ({"run_id": "r", "topic_id": "1", "measure": "V", "value": 1}, "scores"),
        ({"topic_id": "1", "passage_id": "p", "grade": 2}, "relevance"),
        ({"query": "q", "passage": "p", "judgment": 2, "result_status": 1}, "relevance"),
        ({"topic_id": "1", "nugget_id": "n", "run_id": "r", "label": "support"}, "labels"),
        ({"query": {"qid": "1", "text": "q"}, "candidates": []}, "candidates"),
        ({"qid": "1", "text": "q"}, "topics"),
        ({"topic_id": "1", "run_id": "r", "answer": "Ebb.", "label": 1}, "labels"),
        ({"qid": "1", "report_id": "r", "question_idx": 0, "report": "R.", "label": 1}, "labels"),
        ({"id": "1", "subquestions": ["Who?"]}, "questions"),
        ({"example_id": "1", "topic": "t", "questions": ["Who?"]}, "questions"),
        ({"id": "1", "docid": "d", "rating": [5]}, "ratings"),
        ({"example_id": "1", "pid": "d", "rating": [5]}, "ratings"),
        ({"id": "1", "document": "d", "relevances": {"0": 4}, "rationales": {}}, "ratings"),
        ({"id": "1", "report": "R."}, "reports"),
        ({"qid": "1", "reference_summary": "R."}, "reports"),
        ({"id": "1", "documents": ["D."], "summary": "S."}, "summaries"),
        ({"id": "1", "request": "Write."}, "topics"),
        ({"id": "1", "request": "Write.", "domain": "d", "category": "c"}, "topics"),
        ({"qid": "1", "query": "q", "key_points": ["Ebb."]}, "key_points"),
        ({"topic_id": "1", "run_id": "r", "claims": None}, "claims"),
        ({"topic_id": "1", "run_id": "r", "key_point_id": "k", "label": None, "evidence": "",
          "is_quoted": None}, "entailments"),
        ({"topic_id": "1", "run_id": "r", "key_point_id": "k", "label": "yes"}, "labels"),
        ({"run_id": "r", "topic_id": "1", "documents": {}, "responses": []}, "answers"),
        ("topic_id,passage_id,label", "labels"),
        ("topic_id,run_id,key_point_id,label", "labels"),
        ("topic_id;passage_id;label", "labels"),
        ("topic_id\tlabel\tpassage_id", "labels"),
        ("1 0 d True", "qrels"),
        ("sys2 1 V_strict 1", "scores"),
        ("P_5 all 0.5", "scores"),
    ],
)  # fmt: skip
def test_the_first_record_tells_the_kind(first, kind, write):
    assert file_kind(write(first)) == kind


def test_an_envelope_is_of_the_kind_it_wraps(write):
    data = {"qid": "1", "query": "q", "nuggets": []}
    envelope = {"schema_version": "castorini.cli.v1", "artifacts": [{"kind": "data", "data": data}]}
    assert file_kind(write(json.dumps(envelope, indent=2))) == "nuggets"


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ((), "the file is empty"),
        (({"colour": "red"},), "an object with colour, wanted a record of answers"),
        (("just some words in a file",), "is of no known kind"),
        (("{torn",), "not JSON"),
    ],
)
def test_a_file_of_no_known_kind_is_an_input_error(first, message, write):
    with pytest.raises(InputError, match=message):
        file_kind(write(*first))


# A kind of judgements that another package declares: its files, its labels, its spellings.
class Tone(Label):
    RUDE = "rude", "the answer insults the reader"
    PLAIN = "plain", "the answer neither insults nor flatters"
    KIND = "kind", "the answer is friendly"


def read_tones(lines):
    for line in lines:
        yield line, (line.id("topic_id"), line.id("run_id")), line.row["tone"], {}


TONES = Kind(
    name="tones", key=("topic_id", "run_id"), scale=Tone,
    gains={"rude": 0.0, "plain": 0.5, "kind": 1.0}, rows="tones", read=read_tones,
    files={"tones": lambda row: "tone" in row},
    spell=lambda written, scale: ("rude" if written == "impolite" else written, True),
)  # fmt: skip


@pytest.fixture
def installed(monkeypatch):
    entry = EntryPoint("tones", f"{__name__}:TONES", kinds.GROUP)
    broken = EntryPoint("gone", "no_such_module:KIND", kinds.GROUP)
    monkeypatch.setattr(kinds, "entry_points", lambda group: [broken, entry])
    kinds._load_installed.cache_clear()
    yield
    kinds._load_installed.cache_clear()


def written(path, *rows):
    write_rows(path, rows)
    return path


def test_its_files_are_recognised_and_read(installed, tmp_path):
    rows = [
        {"topic_id": "t", "run_id": r, "tone": tone} for r, tone in (("a", "kind"), ("b", None))
    ]
    path = written(tmp_path / "tones.jsonl", *rows)
    assert file_kind(path) == "tones"
    labels = read_labels(path, Problems())
    assert (labels.kind, labels.scale) == ("tones", ("rude", "plain", "kind"))
    assert (labels.cells, labels.n_unlabelled) == ({("t", "a"): "kind"}, 1)


def test_label_files_with_its_ids_are_of_it_and_mean_its_labels(installed, tmp_path):
    ids = {"topic_id": "t", "run_id": "a"}
    labels = read_labels(
        written(tmp_path / "people.jsonl", {**ids, "label": "impolite"}), Problems()
    )
    assert (labels.kind, labels.cells) == ("tones", {("t", "a"): "rude"})
    cut = read_labels(
        written(tmp_path / "more.jsonl", {**ids, "label": "plain"}), Problems(), cut="plain"
    )
    assert cut.cells == {("t", "a"): "positive"}


def test_without_the_package_the_same_labels_are_of_no_kind(tmp_path):
    row = {"topic_id": "t", "run_id": "a", "label": "plain"}
    assert read_labels(written(tmp_path / "people.jsonl", row), Problems()).kind == "other"


@pytest.mark.parametrize("kind", kinds.load_kinds().values(), ids=lambda kind: kind.name)
def test_every_kind_has_a_gain_in_order_for_each_label(kind):
    gains = [kind.gains[label] for label in kind.labels]
    assert gains == sorted(gains)
    assert set(kind.gains) == set(kind.labels)
    assert (min(gains), max(gains)) == (0.0, 1.0)
