"""The evidence program: what it writes, scores and exports, on the packaged collection."""

import json
from collections import Counter
from pathlib import Path

import pytest

import nuggetjudge
from nuggetjudge.programs.protocols.evidence import evidence_values, export_repaired
from nuggetjudge.records.answers import read_answers
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.support import SentenceEvidence, read_sentence_evidence

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "tests" / "collection"
LABELS = DEMO / "labels" / "support.jsonl"


def run(out: Path, program: str = "evidence", model="lexical", **settings):
    data = {"topics": DEMO / "topics.tsv", "passages": [DEMO / "passages.jsonl"]}
    runs = [str(DEMO / "runs" / "miscited.jsonl"), str(DEMO / "runs" / "thin.jsonl")]
    return nuggetjudge.run(
        program=program, model=model, runs=runs, out=out, cache=False, **(data | settings)
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("evidence") / "out"
    run(out, "support,evidence")
    return out


def steps_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]


def rows_of(folder: Path) -> list[SentenceEvidence]:
    problems = Problems()
    rows = list(read_sentence_evidence(folder / "evidence.jsonl", problems))
    problems.raise_errors()
    return rows


def test_each_claim_has_a_line_and_spans_stand_in_their_texts(results):
    rows = rows_of(results)
    assert len({(row.run_id, row.topic_id, row.sentence) for row in rows}) == len(rows) == 50
    counts = Counter(row.outcome for row in rows)
    assert counts["wrong_citation"] > 15
    texts = {
        row["docid"]: row["text"]
        for row in map(json.loads, (DEMO / "passages.jsonl").read_text().splitlines())
    }
    for row in rows:
        if row.outcome == "wrong_citation":
            spans = [each for each in row.suggestion.evidence if each.of == "passage"]
            assert spans
            assert all(each.stands_in(texts[row.suggestion.passage_id]) for each in spans)
            assert row.suggestion.passage_id != row.citation


def test_support_is_asked_once_and_its_official_scores_do_not_change(results, tmp_path):
    manifest = json.loads((results / "manifest.json").read_text())
    assert manifest["judged"]["support"] == 50
    alone = run(tmp_path / "alone", "support")
    official = {(r.run_id, r.topic_id, r.measure): r.value for r in alone.scores}
    both = [json.loads(line) for line in (results / "scores.jsonl").read_text().splitlines()]
    scores = {(r["run_id"], r["topic_id"], r["measure"]): r["value"] for r in both}
    assert official.items() <= scores.items()
    repaired = scores["miscited", "all", "support_precision_repaired"]
    assert repaired > scores["miscited", "all", "support_precision"]


def test_an_unjudged_sentence_widens_the_bounds_and_is_never_not_found():
    at = {"run_id": "r", "topic_id": "t", "citation": "p", "label": "none"}
    given = [
        SentenceEvidence(sentence=n, outcome=o, **at) for n, o in enumerate(["not_found", None])
    ]
    values = evidence_values(given)
    assert (values["not_found"].value, values["not_found"].n_unjudged) == (1.0, 1)
    assert (values["not_found"].low, values["not_found"].high) == (0.5, 1.0)
    repaired = values["support_precision_repaired"]
    assert (repaired.value, repaired.low, repaired.high) == (0.0, 0.0, 0.5)


def test_the_export_cites_the_suggestion_and_keeps_what_stood_there(results, tmp_path):
    counts = export_repaired(results, tmp_path / "new")
    rows = rows_of(results)
    assert counts["changed_sentences"] == sum(row.repaired is not None for row in rows) > 0
    problems = Problems()
    new = {
        (a.run_id, a.topic_id): a
        for path in (tmp_path / "new").iterdir()
        for a in read_answers(path, problems)
    }
    problems.raise_errors()
    for row in rows:
        cited = new[f"{row.run_id}-repaired", row.topic_id].sentences[row.sentence].citations
        first = cited[0].passage_id if cited else None
        assert first == (row.repaired or row.citation)
    written = (tmp_path / "new" / "miscited.jsonl").read_text()
    assert '"original_citations":' in written
    assert '"repaired_from":"miscited"' in written
    with pytest.raises(InputError, match="there already"):
        export_repaired(results, tmp_path / "new")


def test_given_labels_are_taken_and_what_nobody_labelled_is_not_sought(tmp_path):
    run(tmp_path / "given", **{"evidence.labels": LABELS})
    rows = rows_of(tmp_path / "given")
    people = read_labels(LABELS, Problems()).cells
    for row in rows:
        if row.citation is not None:
            cell = (row.topic_id, row.run_id, str(row.sentence), row.citation)
            assert row.label == people[cell]
            assert (row.outcome == "not_sought") is (row.label in ("full", "partial"))
    assert not (tmp_path / "given" / "support.jsonl").exists()


def test_a_trace_has_places_of_quoted_words_and_not_the_words(results):
    parts = [
        part
        for step in steps_of(results)
        if isinstance(step.get("out"), dict)
        for part in step["out"].get("evidence", ())
    ]
    assert parts
    assert {tuple(part) for part in parts} == {("of", "start", "end")}


def test_a_line_that_was_edited_is_named(tmp_path):
    path = tmp_path / "evidence.jsonl"
    path.write_text('{"run_id": "r", "topic_id": "t", "sentence": 0, "outcome": "found"}\n')
    problems = Problems()
    assert not list(read_sentence_evidence(path, problems))
    with pytest.raises(InputError, match=r"evidence.jsonl:1: outcome: "):
        problems.raise_errors()
