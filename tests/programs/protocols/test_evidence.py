"""The evidence program: what it writes, scores and exports, on the packaged collection."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from json_lines import read_rows
from mock_faults import Refusal
from mock_server import MockServer, input_of

import nuggetjudge
import nuggetjudge as nj
from nuggetjudge.judges.lexical import contradiction as nugget_search
from nuggetjudge.judges.lexical import keypoints as entailment
from nuggetjudge.judges.lexical import overlap as nuggets_and_citations
from nuggetjudge.judges.lexical import questions
from nuggetjudge.programs.protocols.evidence import evidence_values, export_repaired
from nuggetjudge.programs.protocols.nugget_search import summarize_searches
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records import NuggetSource, read_nugget_banks
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


# Banks that were searched for: in the run's files, with their sources, and never by a failure.
NUGGET_SEARCH_DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"


def nugget_search_run(out: Path, **settings: Any) -> nj.Result:
    fixed = {"out": out, "cache": False, "limit": 2}
    return nj.run(NUGGET_SEARCH_DEMO / "nugget_search.yaml", **(fixed | settings))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> nj.Result:
    return nugget_search_run(tmp_path_factory.mktemp("search") / "out")


def texts() -> dict[str, str]:
    return {row["docid"]: row["text"] for row in read_rows(NUGGET_SEARCH_DEMO / "passages.jsonl")}


def test_the_bank_says_where_each_nugget_stands_and_is_read_again(found: nj.Result) -> None:
    banks = read_nugget_banks(found.folder / "nuggets.jsonl", Problems())
    assert len(banks) == 2
    passages = texts()
    for bank in banks.values():
        assert len(bank.nuggets) > 5
        for nugget in bank.nuggets:
            assert nugget.sources
            for source in nugget.sources:
                assert isinstance(source, NuggetSource)
                assert nugget.text in passages[source.docid][source.start : source.end]
    assert found.is_complete
    assert score_path(found.folder, Problems()) == found.scores


def test_the_folder_says_why_each_search_ended_and_what_each_round_brought(
    found: nj.Result,
) -> None:
    searches = read_rows(found.folder / "nugget_search.jsonl")
    assert [row["topic_id"] for row in searches] == ["demo-bridges", "demo-sourdough"]
    assert {row["stop"] for row in searches} <= {"nothing_new", "rounds"}
    n_saturated = sum(row["stop"] == "nothing_new" for row in searches)
    first, second = summarize_searches(found.folder)
    assert first.startswith(f"{n_saturated} of 2 topics saturated")
    n_first = sum(row["new"][0] for row in searches)
    assert f": {n_first} + " in second
    bank = {row["qid"]: row["nuggets"] for row in read_rows(found.folder / "nuggets.jsonl")}
    for row in read_rows(found.folder / "pool.jsonl"):
        carry = {s["docid"] for n in bank[row["topic_id"]] for s in n["sources"]}
        assert carry <= set(row["docids"])
    assert {row["stage"] for row in read_rows(found.folder / "trace.jsonl")} == {"search"}


def answer_as_baselines(body: dict[str, Any]) -> dict[str, Any]:
    asked = input_of(body)
    if "facet" in asked:
        return nugget_search.propose_nuggets(asked)
    if "facets" in asked:
        return nugget_search.write_gap_queries(asked)
    if "response" in asked:
        return entailment.judge_point(asked)
    if "sentence" in asked:
        return nuggets_and_citations.judge_support(asked)
    if "answer" in asked:
        return nuggets_and_citations.assign_nuggets(asked)
    if "nuggets" in asked:
        return nuggets_and_citations.rate_importance(asked)
    return questions.split_question(asked)


def test_a_model_searches_as_the_lexical_judges_do_where_it_answers_as_they_do(
    found: nj.Result, tmp_path: Path
) -> None:
    with MockServer(answer_as_baselines) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        result = nugget_search_run(tmp_path / "out", model=model)
    for name in ("nuggets.jsonl", "nugget_search.jsonl", "pool.jsonl"):
        assert (result.folder / name).read_bytes() == (found.folder / name).read_bytes()
    counts = Counter(step["name"] for step in read_rows(result.folder / "trace.jsonl"))
    assert counts["support"] == sum("sentence" in input_of(r.body) for r in server.requests)
    assert max(row["calls"] for row in read_rows(result.folder / "nugget_search.jsonl")) <= 80


def test_a_topic_whose_search_failed_is_unjudged_and_scores_nothing(tmp_path: Path) -> None:
    def refuse(index: int, body: dict[str, Any]) -> Any:
        return Refusal() if "sourdough" in str(input_of(body).get("sentence")) else None

    with MockServer(answer_as_baselines, faults=refuse) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        result = nugget_search_run(tmp_path / "out", model=model)
    assert [row["qid"] for row in read_rows(result.folder / "nuggets.jsonl")] == ["demo-bridges"]
    assert result.manifest["topics_without_bank"] == ["demo-sourdough"]
    assert result.manifest["unjudged_by_reason"]["refused"] == 1
    lost = [r for r in result.scores if r.topic_id == "demo-sourdough" and r.measure == "A"]
    assert lost
    assert all(row.value is None for row in lost)


def test_a_search_starts_from_a_bank_or_from_windows(tmp_path: Path) -> None:
    of_file = nugget_search_run(
        tmp_path / "file",
        **{"nuggets.start": str(NUGGET_SEARCH_DEMO / "nuggets.jsonl"), "nugget_search.rounds": 1},
    )
    assert all(row["started"] > 5 for row in read_rows(of_file.folder / "nugget_search.jsonl"))
    assert str(NUGGET_SEARCH_DEMO / "nuggets.jsonl") in of_file.manifest["inputs"]
    data = {
        "candidates": NUGGET_SEARCH_DEMO / "candidates.jsonl",
        "qrels": NUGGET_SEARCH_DEMO / "qrels.txt",
    }
    window = nugget_search_run(tmp_path / "window", **data, **{"nuggets.start": "window"})
    assert all(row["started"] > 5 for row in read_rows(window.folder / "nugget_search.jsonl"))
    rounds = {s["round"] for r in read_rows(window.folder / "nuggets.jsonl") for n in r["nuggets"]
              for s in n["sources"]}  # fmt: skip
    assert 0 in rounds


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"nuggets": NUGGET_SEARCH_DEMO / "nuggets.jsonl"}, "use one of them"),
        ({"passages": ()}, "add passage files"),
        ({"nuggets.start": "window"}, "--candidates"),
        ({"nugget_search.pipeline": ["listwise 5"]}, "nugget_search.pipeline"),
    ],
)
def test_a_search_that_cannot_go_says_what_is_wanted(
    settings: dict[str, Any], wanted: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=wanted):
        nugget_search_run(tmp_path / "out", **settings)


@pytest.mark.slow
def test_a_search_finds_more_vital_nuggets_than_windows_over_the_same_passages(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.pages.nugget_search import main

    main([str(shared_data)])
    lines = capsys.readouterr().out.splitlines()
    cells = {row[0]: row[1:] for row in (line.strip("| ").split(" | ") for line in lines)}
    by_way = {
        name: [*map(float, row)] for name, row in cells.items() if len(row) == 6 and "." in row[-1]
    }
    search, n_passages = by_way["search"], 1
    same = by_way["windows, the passages that the search read"]
    as_many = by_way["windows of one passage, as many calls as the search"]
    vital, precision = 3, 5
    assert search[n_passages] == same[n_passages]
    assert search[0] == as_many[0]  # calls
    assert search[vital] > max(same[vital], as_many[vital])
    assert search[precision] > max(same[precision], as_many[precision])
    n_same = int(cells["a report answers it (T1, majority of 3)"][3])
    assert n_same >= 60  # of 88


@pytest.mark.slow
def test_a_model_searches_as_the_lexical_judges_do_on_topics_of_trec_2024(
    shared_data: Path, tmp_path: Path
) -> None:
    folder = shared_data / "rag24_e2e"
    data = {"topics": folder / "topics.tsv", "passages": folder / "passages.jsonl"}
    given = {**data, "runs": sorted((folder / "runs").iterdir())[:1], "limit": None}
    lexical = nugget_search_run(tmp_path / "lexical", **given)
    with MockServer(answer_as_baselines) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        asked = nugget_search_run(tmp_path / "model", model=model, **given)
    assert len(read_rows(asked.folder / "nugget_search.jsonl")) == 12
    for name in ("nuggets.jsonl", "nugget_search.jsonl", "pool.jsonl"):
        assert (asked.folder / name).read_bytes() == (lexical.folder / name).read_bytes()
    assert 0 < max(row["calls"] for row in read_rows(asked.folder / "nugget_search.jsonl")) <= 80


def test_a_search_that_finds_no_nugget_for_any_topic_is_not_complete(tmp_path: Path) -> None:
    passages = tmp_path / "passages.jsonl"
    passages.write_text('{"docid": "a", "text": "Nothing to the point."}\n', encoding="utf-8")
    result = nugget_search_run(tmp_path / "out", passages=passages)
    assert not result.is_complete
    assert result.missing_points == ["nuggets"]
    listed = [row["what"] for row in read_rows(result.folder / "problems.jsonl")]
    assert sum("has no nuggets" in what for what in listed) == 2
    assert score_path(result.folder, Problems()) == result.scores
