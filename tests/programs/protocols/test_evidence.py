"""The evidence program: what it writes, scores and exports, on the packaged collection."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from mock_server import MockServer, input_of

import nuggetjudge
from nuggetjudge.judges import EvidencePlanner
from nuggetjudge.judges.lexical.nuggets_and_citations import judge_support
from nuggetjudge.programs.analysis.evidence.precision import labelled_suggestions, precision_rows
from nuggetjudge.programs.analysis.evidence.refinding import refound
from nuggetjudge.programs.protocols.evidence.repaired import export_repaired
from nuggetjudge.programs.protocols.evidence.scores import evidence_values
from nuggetjudge.records.answers import read_answers
from nuggetjudge.records.labels.labels import read_labels
from nuggetjudge.records.labels.suggestions import SentenceEvidence, read_sentence_evidence
from nuggetjudge.records.reading.problems import InputError, Problems

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "examples" / "collection"
LABELS = DEMO / "labels" / "support.jsonl"
SHEET = ROOT / "benchmarks" / "pages" / "suggestions.csv"


def run(out: Path, program: str = "evidence", model="lexical", **settings):
    data = {"topics": DEMO / "topics.tsv", "passages": [DEMO / "passages.jsonl"]}
    runs = [str(DEMO / "runs" / "miscited.jsonl"), str(DEMO / "runs" / "thin.jsonl")]
    return nuggetjudge.run(
        program=program, model=model, runs=runs, out=out, cache=False, **data, **settings
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("evidence") / "out"
    run(out, "support,evidence")
    return out


def steps_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]


def answer_as_twins(body):
    asked = input_of(body)
    if "turns" in asked:
        return EvidencePlanner.twins["plan"](asked)
    return judge_support(asked)


def rows_of(folder: Path) -> list[SentenceEvidence]:
    problems = Problems()
    found = list(read_sentence_evidence(folder / "evidence.jsonl", problems))
    problems.raise_errors()
    return found


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
    found = {(r["run_id"], r["topic_id"], r["measure"]): r["value"] for r in both}
    assert official.items() <= found.items()
    repaired = found["miscited", "all", "support_precision_repaired"]
    assert repaired > found["miscited", "all", "support_precision"]


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


def test_free_steps_find_what_the_plan_finds_and_say_what_they_took(results, tmp_path):
    given = {"evidence.how": "react", "program": "evidence", "evidence.labels": LABELS}
    lexical = run(tmp_path / "lexical", **given)
    rows = rows_of(tmp_path / "lexical")
    assert {step["name"] for step in steps_of(tmp_path / "lexical") if step["kind"] == "agent"} == {
        "evidence_react"
    }
    run(tmp_path / "plan", **{**given, "evidence.how": "plan"})
    plan = {(row.run_id, row.topic_id, row.sentence): row for row in rows_of(tmp_path / "plan")}
    both = [(row, plan[row.run_id, row.topic_id, row.sentence]) for row in rows]
    sought = [(one, other) for one, other in both if other.calls]
    assert all(one.calls for one, _ in sought)
    assert len(sought) > 15
    assert all(one.outcome == other.outcome for one, other in sought)
    assert any(row.suggestion and row.suggestion.evidence and row.shown for row in rows)
    assert 0 < sum(one.calls for one, _ in sought) < sum(other.calls for _, other in sought)
    with MockServer(answer_as_twins) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        alone = {"judges.support.evidence": False}  # the twin answers with labels
        asked = run(tmp_path / "model", model=model, **given, **alone)
    assert asked.is_complete
    assert lexical.is_complete
    twins = {(row.run_id, row.topic_id, row.sentence): row for row in rows_of(tmp_path / "model")}
    for row in rows:
        twin = twins[row.run_id, row.topic_id, row.sentence]
        assert (twin.outcome, twin.calls) == (row.outcome, row.calls)


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"evidence.of": ["none", "full"]}, "by evidence.how: plan alone"),
        ({"evidence.scope": ["reply"]}, "wanted corpus"),
        ({"judges.evidence_planner.model": "strong"}, "no model 'strong'|strong"),
    ],
)
def test_what_free_steps_cannot_do_is_refused_before_anything_is_asked(settings, wanted, tmp_path):
    with pytest.raises(InputError, match=wanted):
        run(tmp_path / "out", **{"evidence.how": "react", "evidence.labels": LABELS, **settings})


def test_a_trace_has_places_of_quoted_words_and_not_the_words(results):
    found = [
        part
        for step in steps_of(results)
        if isinstance(step.get("out"), dict)
        for part in step["out"].get("evidence", ())
    ]
    assert found
    assert {tuple(part) for part in found} == {("of", "start", "end")}


def test_a_line_that_was_edited_is_named(tmp_path):
    path = tmp_path / "evidence.jsonl"
    path.write_text('{"run_id": "r", "topic_id": "t", "sentence": 0, "outcome": "found"}\n')
    problems = Problems()
    assert not list(read_sentence_evidence(path, problems))
    with pytest.raises(InputError, match=r"evidence.jsonl:1: outcome: "):
        problems.raise_errors()


def test_what_people_confirmed_is_found_again(results):
    labels = read_labels(LABELS, Problems()).cells
    found = refound(results, labels, resamples=0)
    rows = {row["what"]: row for row in [*found.search, *found.swaps]}
    assert rows["in the best 10"]["value"] == 1.0
    assert rows["the right one in the best 3"]["value"] >= 0.8
    read = precision_rows(
        labelled_suggestions(results / "evidence.jsonl", labels), resamples=0, seed=0
    )
    assert [row["chosen"] for row in read][:2] == ["used", "all"]


@pytest.mark.slow
@pytest.mark.skipif("NUGGETJUDGE_DATA" not in os.environ, reason="needs the judged data")
def test_the_bounds_hold_on_the_judged_answers_of_trec_2024(tmp_path):
    from benchmarks.pages.evidence import results_in

    folder = results_in(Path(os.environ["NUGGETJUDGE_DATA"]), tmp_path)
    people = Path(os.environ["NUGGETJUDGE_DATA"]) / "rag24_support" / "answers.jsonl"
    found = refound(folder, read_labels(people, Problems()).cells, resamples=0)
    rows = {row["what"]: row for row in [*found.search, *found.swaps]}
    assert rows["in the best 10"]["n"] == 1539
    assert rows["in the best 10"]["value"] >= 0.94
    assert rows["the right one suggested"]["value"] >= 0.45
    assert rows["the right one in the best 3"]["value"] >= 0.83
    sheet = read_labels(SHEET, Problems()).cells
    used = precision_rows(
        labelled_suggestions(folder / "evidence.jsonl", sheet), resamples=0, seed=0
    )[0]
    assert used["full"]["value"] >= 0.8
