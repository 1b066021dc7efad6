"""The argue program on a case counted by hand, with judgements missing, and with long reports."""

import json
import re
import shutil
from pathlib import Path

import pytest
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.programs.analysis.answers.views import order_labels, read_answer_views
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

DEMO = Path(__file__).parents[3] / "examples" / "argue"
SHOWN = ("question_coverage_supported", "question_coverage", "said_uncited", "said_unsupported",
         "question_coverage_weighted", "sentence_support", "report_f1")  # fmt: skip


# As examples/argue/README.md counts them.
COUNTED = {
    "careful": (3 / 4, 3 / 4, 0, 0, 5 / 6, 1, 6 / 7),
    "uncited": (1 / 4, 4 / 4, 2 / 4, 1 / 4, 2 / 6, 1 / 4, 1 / 4),
    "half": (0, 1 / 4, 0, 1 / 4, 0, 1 / 2, 0),
}
CUES = {  # what the model of these tests finds, by accepted answer: a word of the sentence
    "moving sea water": "moving", "the rising tide": "rising", "building is expensive": "expensive",
    "running is cheap": "cheap", "sihwa lake in korea": "sihwa", "migrating fish": "fish",
}  # fmt: skip


def brain(body):
    asked = input_of(body)
    text = asked["sentence"].lower()
    if "passage" in asked:
        wrong = "fish" in text or "rising" in text
        return {"verdict": "none" if wrong else "full"}
    given = {key: each.rpartition(": ")[2].lower() for key, each in asked["answers"].items()}
    return {"verdicts": {k: "yes" if CUES[each] in text else "no" for k, each in given.items()}}


@pytest.fixture
def server():
    with MockServer(brain=brain) as up:
        yield up


def config_of(out, server=None, runs=None, lists=DEMO / "lists.jsonl", **settings):
    given = {
        "program": ["argue"], "data.topics": DEMO / "topics.jsonl",
        "data.runs": [str(runs or DEMO / "runs")], "data.question_lists": [str(lists)],
        "run.out": out,
    }  # fmt: skip
    sets = ["run.cache=false"]
    sets += [f"models.default.api_base={server.base_url}"] if server else []
    return load_config(None, given | settings, sets, "hosted_vllm/mock" if server else "lexical")


def values(result, field="value"):
    """By run and measure, of the one topic."""
    rows = [row for row in result.scores if row.topic_id == "tides"]
    return {(row.run_id, row.measure): getattr(row, field) for row in rows}


def lines(folder, name):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


@pytest.mark.parametrize("model", ["lexical", "a model"])
def test_every_measure_comes_out_as_counted_by_hand(model, tmp_path, server):
    result = nj.run(config_of(tmp_path / "out", server if model == "a model" else None))
    assert result.is_complete
    scores = values(result)
    for run, counted in COUNTED.items():
        assert [scores[run, name] for name in SHOWN] == pytest.approx(counted), run
    assert score_path(result.folder, Problems()) == result.scores


def test_what_is_asked_is_what_was_planned(tmp_path, server):
    config = config_of(tmp_path / "out", server, **{"judges.accepted_answer.window": 4})
    planned = {estimate.judge: estimate.calls for estimate in plan(config)}
    nj.run(config)
    asked = [input_of(request.body) for request in server.requests]
    # Five answers in windows of four; three sentences stand in two reports each, and are asked
    # about once, as are two of the eight citations.
    assert planned["accepted_answer"] == 10 * 2
    assert planned["support"] == 8
    assert sum("answers" in one for one in asked) == 7 * 2
    assert sum("passage" in one for one in asked) == 6


def test_support_that_another_program_judges_is_not_asked_for_twice(tmp_path, server):
    nj.run(config_of(tmp_path / "out", server, program=["support", "argue"]))
    assert sum("passage" in input_of(one.body) for one in server.requests) == 6


def test_a_missing_answer_counts_only_where_it_could_change_the_fold(tmp_path, server):
    """Of `careful`, nobody knows whether sentence 3 says what running costs, or anything else."""
    server.faults = lambda index, body: (
        Refusal() if "answers" in (asked := input_of(body)) and asked["sentence"].startswith("Run")
        else None
    )  # fmt: skip
    result = nj.run(config_of(tmp_path / "out", server))
    low, high, score = (values(result, field) for field in ("low", "high", "value"))
    # Turbines and Sihwa Lake are supported elsewhere (OR): decided. The costs (AND) and the
    # animals, which only that sentence could name, are open: 2 of 2, 2 of 4, 4 of 4.
    at = ("careful", "question_coverage_supported")
    assert (score[at], low[at], high[at]) == (1.0, 0.5, 1.0)
    assert values(result, "n_unjudged")[at] == 2
    assert score["careful", "sentence_support"] == 1.0
    row = next(r for r in lines(result.folder, "answered.jsonl")
               if r["run_id"] == "careful" and r["aggregator"] == "AND")  # fmt: skip
    assert (row["label"], row["low"], row["high"]) == (None, "not_said", "supported")
    [view] = read_answer_views(result.folder, Problems(), run="careful")
    assert [each.unjudged for each in view.judged if each.label is None] == ["refused"] * 2


def test_missing_support_leaves_open_what_carries_an_answer_and_not_that_it_is_said(
    tmp_path, server
):
    server.faults = lambda index, body: (
        Refusal() if "passage" in (asked := input_of(body)) and "Sihwa" in asked["sentence"]
        else None
    )  # fmt: skip
    result = nj.run(config_of(tmp_path / "out", server))
    score, low, high = (values(result, field) for field in ("value", "low", "high"))
    assert low["careful", "question_coverage"] == high["careful", "question_coverage"] == 3 / 4
    at = ("careful", "question_coverage_supported")
    assert (score[at], low[at], high[at]) == (pytest.approx(2 / 3), 2 / 4, 3 / 4)
    at = ("careful", "sentence_support")
    assert (score[at], low[at], high[at]) == (1.0, 3 / 4, 1.0)
    [view] = read_answer_views(result.folder, Problems(), run="careful")
    [open_] = [each for each in view.judged if each.label is None]
    assert open_.unjudged == "refused"  # that of the citation, which its own program asks


def test_a_report_that_is_too_long_is_kept_cut_or_rejected_as_its_track_does(tmp_path):
    units = ["Moving sea water turns the turbines.", "Running it is cheap for a hundred years."]
    row = {
        "metadata": {"run_id": "r", "topic_id": "tides", "team_id": "x"},
        "responses": [{"text": text, "citations": []} for text in units],
    }
    runs = tmp_path / "long.jsonl"
    runs.write_text(json.dumps(row) + "\n")
    reports, counts = {}, {}
    cases = {"keep": 10, "cut": 10, "reject": 10, "none": None, "fits": 14, "characters": 40}
    for name, limit in cases.items():
        settings = {"argue.limit": limit}
        settings |= {"argue.over": name} if name in ("keep", "cut", "reject") else {}
        if name == "characters":
            settings |= {"argue.unit": "characters", "argue.over": "cut"}
        result = nj.run(config_of(tmp_path / name, runs=runs, **settings))
        [report] = lines(result.folder, "reports.jsonl")
        of = values(result)
        coverage, over = of["r", "question_coverage"], of["r", "over_length"]
        reports[name] = (report["words"], report["n_kept"], coverage, over)
        counts[name] = json.loads((result.folder / "manifest.json").read_text())["counts"]
    # Six and eight words; the first sentence answers one of four questions, the second none (AND).
    assert reports == {
        "keep": (14, 2, 0.25, 1), "cut": (14, 1, 0.25, 1), "reject": (14, 0, 0, 1),
        "none": (14, 2, 0.25, 0), "fits": (14, 2, 0.25, 0), "characters": (14, 1, 0.25, 1),
    }  # fmt: skip
    assert counts["cut"]["reports over 10 words (cut)"] == 1
    assert counts["reject"]["reports over 10 words (not judged, they score 0)"] == 1
    assert not any("reports over" in name for name in counts["fits"])


def test_headings_make_no_claim_and_rows_of_tables_do(tmp_path):
    """A heading may not answer a question; an uncited row answers it without a source."""
    units = ["# Moving sea water turns the turbines", "| Plant | Place |", "|---|---|",
             "| largest | Sihwa Lake in Korea |"]  # fmt: skip
    row = {
        "metadata": {"run_id": "r", "narrative_id": "rag2026-1", "team_id": "x"},
        "references": [],
        "answer": [{"text": text, "citations": []} for text in units],
    }
    (tmp_path / "run.jsonl").write_text(json.dumps(row) + "\n")
    bank = json.loads((DEMO / "lists.jsonl").read_text()) | {"query_id": "rag2026-1"}
    (tmp_path / "lists.jsonl").write_text(json.dumps(bank) + "\n")
    topics = {"id": "rag2026-1", "title": "tidal power"}
    (tmp_path / "topics.jsonl").write_text(json.dumps(topics) + "\n")
    result = nj.run(config_of(tmp_path / "out", runs=tmp_path / "run.jsonl",
                              lists=tmp_path / "lists.jsonl",
                              **{"data.topics": tmp_path / "topics.jsonl"}))  # fmt: skip
    [report] = lines(result.folder, "reports.jsonl")
    assert (report["headings"], report["table_rows"], len(report["claims"])) == (3, 1, 1)
    labels = {r["question"]: r["label"] for r in lines(result.folder, "answered.jsonl")}
    assert labels["What turns the turbines?"] == "not_said"
    assert labels["Where is the largest plant?"] == "uncited"
    problems = lines(result.folder, "problems.jsonl")
    assert sum(one["kind"] == "heading" for one in problems) == 3


def test_a_topic_without_questions_is_left_out_and_told(tmp_path):
    topics = (DEMO / "topics.jsonl").read_text() + '{"id": "eels", "title": "eels"}\n'
    (tmp_path / "topics.jsonl").write_text(topics)
    result = nj.run(config_of(tmp_path / "out", **{"data.topics": tmp_path / "topics.jsonl"}))
    means = {(r.run_id, r.measure): r for r in result.scores if r.topic_id == "all"}
    assert means["careful", "question_coverage"].n_topics == 1
    assert means["careful", "sentence_support"].n_topics == 2  # which has no need of questions
    kinds = [row["kind"] for row in lines(result.folder, "problems.jsonl")]
    assert "no_questions" in kinds


def test_reports_of_autojudge_that_miss_the_topic_answer_nothing(shared_data, tmp_path):
    """kiddie_smoke, read by us: run4 writes of ice hockey, run3 says nothing that a child asked."""
    kiddie = shared_data / "kiddie_smoke"
    accepted = [
        ("OR", ["a green pigment called chlorophyll", "green stuff called chlorophyll"]),
        ("AND", ["yellow and orange", "red colors come from sugars"]),  # run2 has the first alone
        ("OR", ["pine trees stay green", "pine trees keep their leaves"]),
    ]
    bank = [
        {"question": f"q{i}?", "aggregator_type": fold, "answers": [{"answer": a} for a in texts]}
        for i, (fold, texts) in enumerate(accepted)
    ]
    (tmp_path / "lists.jsonl").write_text(json.dumps({"query_id": "leaf", "nugget_bank": bank}))
    topics = {"data.topics": kiddie / "topics" / "kiddie-topics.jsonl"}
    lists = tmp_path / "lists.jsonl"
    result = nj.run(config_of(tmp_path / "out", runs=kiddie / "runs", lists=lists, **topics))
    coverage = {
        row.run_id: row.value
        for row in result.scores
        if row.measure == "question_coverage" and row.topic_id == "leaf"
    }
    assert coverage == {
        "run1": pytest.approx(2 / 3), "run2": pytest.approx(2 / 3), "run3": 0, "run4": 0,
    }  # fmt: skip
    means = {row.measure: row.n_topics for row in result.scores if row.topic_id == "all"}
    assert (means["question_coverage"], means["sentence_support"]) == (1, 5)


def test_without_lists_nothing_is_asked(tmp_path):
    with pytest.raises(InputError, match="argue needs question lists"):
        nj.run(config_of(tmp_path / "out", **{"data.question_lists": []}))


# `judge run argue`: what it prints, says of broken lists, and does with labels of people.
ARGUE_CLI_DEMO = Path(__file__).resolve().parents[3] / "examples" / "argue"
DATA = ["--topics", ARGUE_CLI_DEMO / "topics.jsonl", "--runs", ARGUE_CLI_DEMO / "runs"]


@pytest.fixture
def ran(judge, tmp_path):
    lists = ["--set", f"data.question_lists={ARGUE_CLI_DEMO / 'lists.jsonl'}"]
    ran = judge("run", "argue", *DATA, *lists, "--model", "lexical", "--out", "out")
    assert ran.code == 0, ran.err
    return ran


def test_the_leaderboard_is_the_one_of_the_page_and_score_gives_the_same_bytes(
    ran, judge, tmp_path
):
    page = (ARGUE_CLI_DEMO.parents[1] / "docs" / "protocols" / "argue.md").read_text()
    shown = page.partition("--out results/argue\n")[2].partition("\n\n...")[0]
    assert ran.out.startswith(shown)
    again = judge("score", "out", "--json")
    assert again.out == (tmp_path / "out" / "scores.jsonl").read_text()


def test_show_says_where_an_answer_is_said_and_what_carries_it(ran, judge):
    text = judge("show", "out", "uncited", "tides").out
    assert "Questions, 4: 1 supported, 2 uncited, 1 unsupported" in text
    assert "okay uncited: Where is the largest plant? [Sihwa Lake in Korea]" in text
    assert "said in sentence 3" in text


def test_people_label_questions_of_reports(ran, judge, tmp_path):
    """One of twelve labels differs, by one place."""
    rows = [json.loads(line) for line in (tmp_path / "out" / "answered.jsonl").open()]
    ids = ("topic_id", "run_id", "question_id", "label")
    labels = [{name: row[name] for name in ids} for row in rows]
    changed = next(row for row in labels if row["label"] == "uncited")
    changed["label"] = "supported"
    (tmp_path / "people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    agreed = judge("agree", "people.jsonl", "out")
    assert agreed.code == 0, agreed.err
    assert re.search(r"share of equal labels +\.917 ", agreed.out)  # 11 of 12
    assert "unknown_scale" not in agreed.err
    drawn = judge("next", "out", "--kind", "argue", "--n", "2", "--out", "sheet.csv")
    assert drawn.code == 0, drawn.err
    head = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig").splitlines()[0]
    assert head.startswith("topic_id,run_id,question_id,request,accepted,report,label")


def test_a_broken_list_ends_the_run_with_its_line_before_anything_is_asked(judge, tmp_path):
    lines = (ARGUE_CLI_DEMO / "lists.jsonl").read_text()
    (tmp_path / "lists.jsonl").write_text(lines + '{"query_id": "x", "nugget_bank": "none"}\n')
    ended = judge("run", "argue", *DATA, "--set", "data.question_lists=lists.jsonl", "--out", "out")
    assert ended.code == 2
    assert "lists.jsonl:2: field 'nugget_bank' is 'none', wanted an object" in ended.err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_collaborators_files_is_read_by_their_names(judge, tmp_path):
    folder = tmp_path / "lists"
    folder.mkdir()
    asked = {"What turns the turbines?": ["OR", {"moving sea water": ["d1"]}]}
    (folder / "nuggets_tides.json").write_text(json.dumps(asked, indent=1))
    judged = judge(
        "run", "argue", *DATA, "--set", "data.question_lists=lists", "--out", "out", "--json"
    )
    assert judged.code == 0, judged.err
    rows = [row for row in judged.rows if row["topic_id"] == "all"]
    of_coverage = [row for row in rows if row["measure"] == "question_coverage_supported"]
    coverage = {row["run_id"]: row["value"] for row in of_coverage}
    assert coverage == {"careful": 1.0, "half": 0.0, "uncited": 1.0}
    shutil.rmtree(folder)
    shown = judge("show", "out", "half", "tides")  # the results stand without it
    assert shown.code == 0


def test_labels_of_questions_stand_from_not_said_to_supported(tmp_path):
    rows = [{"topic_id": "t", "run_id": "r", "question_id": q, "label": label}
            for q, label in (("1", "uncited"), ("2", "not_said"))]  # fmt: skip
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    worst_first = ("not_said", "unsupported", "uncited", "supported")
    assert read_labels(path, Problems()).scale == worst_first
    assert order_labels("argue") == worst_first
