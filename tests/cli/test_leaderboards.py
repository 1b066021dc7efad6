"""What a leaderboard says: who leads, how sure a mean is, and what is missing from it."""

import csv
import io
import json
from collections import Counter, defaultdict

import pytest
from json_lines import write_rows

from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.analysis.leaderboards import leaderboards
from nuggetjudge.programs.analysis.tables.leaderboards import (
    make_leaderboard_table,
    write_leader_sentence,
)
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.rows import ScoreRow
from nuggetjudge.views.terminal import Terminal, table_text


def row(**changed):
    fields = {"run_id": "r", "topic_id": "all", "measure": "A", "value": 0.25, "n": 3}
    fields |= {"n_unjudged": 0, "low": 0.25, "high": 0.25, "n_topics": 2}
    return ScoreRow(**fields | changed)


def board(tmp_path, *rows, **asked):
    path = tmp_path / "assignments.jsonl"
    path.touch()
    (board_of_path,) = leaderboards(rows, path, **asked)
    return board_of_path


def board_text(board, width=80):
    return table_text(make_leaderboard_table(board), Terminal(width))


def lines(tmp_path, *rows, **asked):
    return board_text(board(tmp_path, *rows, **asked)).splitlines()


def by_topic(run_id, *values, measure="A", n_asked=None):
    """The rows of a run: one a topic, None where it did not answer, and their mean."""
    cells = [v for v in values if v is not None]
    mean = sum(cells) / len(values)
    yield row(run_id=run_id, measure=measure, value=mean, n=len(cells), n_topics=len(values))
    for n, value in enumerate(values):
        if value is not None:
            yield row(run_id=run_id, topic_id=f"t{n}", measure=measure, value=value, n_topics=None)


def test_a_mean_of_which_no_judgement_arrived_is_a_dash_with_its_bounds(tmp_path):
    lost = row(value=0.0, n=0, n_unjudged=3, low=0.0, high=0.5)
    *_, head, line, note = lines(tmp_path, lost)
    assert head.split() == ["#", "run", "A", "judged", "unjudged"]
    assert line.split() == ["1", "r", "-", "[.000,", ".500]", "3/3"]
    assert note.startswith("3 of 3 judgements missing")
    lost = row(value=None, n=0, n_unjudged=3, low=None, high=None)
    assert lines(tmp_path, lost)[-2].split()[2:] == ["-", "-", "3/3"]


def test_a_run_that_answered_nothing_keeps_its_0(tmp_path):
    printed = lines(tmp_path, row(value=0.0, n=0, low=0.0, high=0.0))
    assert printed[-1].split() == ["1", "r", ".000"]


def three_runs():
    return [
        *by_topic("good", *[0.9, 0.8, 0.95, 0.85, 0.9, 0.8, 0.9, 1.0]),
        *by_topic("near", *[0.8, 0.9, 0.85, 0.95, 0.8, 0.9, 1.0, 0.8]),
        *by_topic("bad", *[0.1, 0.0, 0.2, 0.1, 0.0, 0.1, 0.2, 0.1]),
    ]


def test_intervals_and_significant_differences_are_those_of_compare(tmp_path):
    rows = three_runs()
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(r.model_dump_json() + "\n" for r in rows), encoding="utf-8")
    compared = compare_runs([path], Problems(), measures=["A"])["measures"]["A"]
    result = board(tmp_path, *rows)
    wanted = {r["run_id"]: (r["low"], r["high"]) for r in compared["runs"]}
    assert {line.run_id: line.intervals["A"] for line in result.lines} == wanted
    next_of = {r["run_id"]: r["is_significant"] for r in compared["pairs"] if r["are_neighbours"]}
    differs = {line.run_id: line.is_different_from_next for line in result.lines}
    assert differs == next_of | {"bad": None}
    assert next_of == {"good": False, "near": True}
    assert (result.n_significant, result.n_pairs) == (2, 3)
    assert result.leading == ["good", "near"]
    assert write_leader_sentence(result).startswith(
        "good leads; near is not significantly worse (HSD"
    )
    text = board_text(result).splitlines()
    ranks = [line.split()[0] for line in text if line[:1] in "123─"]
    assert ranks[:2] == ["1", "1="]
    assert ranks[3] == "3"  # below the rule
    assert ranks[2].startswith("──")


def test_two_runs_are_tested_as_compare_tests_two(tmp_path):
    rows = [r for r in three_runs() if r.run_id != "near"]
    result = board(tmp_path, *rows)
    assert (result.test, result.n_significant) == ("randomisation", 1)  # p = 2 / 2^8
    assert write_leader_sentence(result) == (
        "good leads; every other run is significantly worse (randomisation, p < .05)"
    )


def test_runs_with_gaps_get_tied_ranks_by_pairs(tmp_path):
    """Each run lacks another quarter of 20 topics, so that no topic has all of them."""
    rows = []
    values = {"good": (0.9, 0.8), "near": (0.8, 0.9), "poor": (0.1, 0.1), "bad": (0.1, 0.1)}
    for lacks, (run, pair) in enumerate(values.items()):
        cells = {f"t{i}": pair[i % 8 // 4] for i in range(20) if i % 4 != lacks}
        rows.append(row(run_id=run, value=sum(cells.values()) / 15, n=15, n_topics=15))
        rows += [row(run_id=run, topic_id=t, value=v, n_topics=None) for t, v in cells.items()]
        rows += [
            row(run_id=run, topic_id=f"t{i}", value=None, n=0, n_unjudged=1, low=0, high=1)
            for i in range(lacks, 20, 4)
        ]
    result = board(tmp_path, *rows)
    assert write_leader_sentence(result) == (
        "good leads; near is not significantly worse "
        "(pairs tested on the topics both have, Holm, p >= .05)"
    )
    assert (result.n_significant, result.n_pairs) == (4, 6)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_table_fits_the_window_and_never_has_two_runs_of_one_name(tmp_path, width):
    names = [f"team.{'long_' * 14}{n}_of_them_{'all' * 7}" for n in range(3)]
    measures = ["V_strict", "A_strict", "support_precision_hard", "support_recall_hard"]
    rows = [
        r for name in names for m in measures for r in by_topic(name, 0.2, 0.9, measure=m)
    ]  # fmt: skip
    path = tmp_path / "assignments.jsonl"
    path.touch()
    for each in leaderboards(rows, path):
        text = board_text(each, width).splitlines()
        assert max(map(len, text)) <= width
        start = next(n for n, line in enumerate(text) if line.startswith("#")) + 1
        assert len({line.split()[1] for line in text[start : start + 3]}) == 3


def test_the_first_row_is_the_best_by_what_is_asked_for(tmp_path):
    rows = [
        *by_topic("a", 0.9, 0.9, measure="V_strict"), *by_topic("a", 0.1, 0.1, measure="V"),
        *by_topic("b", 0.1, 0.1, measure="V_strict"), *by_topic("b", 0.9, 0.9, measure="V"),
    ]  # fmt: skip
    result = board(tmp_path, *rows, sort="V", measures=["V_strict", "V"])
    assert result.measures == ["V", "V_strict"]
    assert [line.run_id for line in result.lines] == ["b", "a"]


@pytest.fixture
def scores(judge, tmp_path):
    """Assignments of two runs: one answers both topics, the other one of them."""
    path = tmp_path / "labels.jsonl"
    vital = {"text": "x", "importance": "vital", "assignment": "support"}
    answer = {"query": "q", "answer_text": "x", "nuggets": [vital]}
    answers = [("one", "t1"), ("one", "t2"), ("two", "t1")]
    lines = (json.dumps({"qid": t, "run_id": r, **answer}) + "\n" for r, t in answers)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_csv_has_each_figure_in_a_column_of_its_own(judge, scores):
    text = judge("score", scores, "--format", "csv").out
    rows = {(r["run_id"], r["measure"]): r for r in csv.DictReader(io.StringIO(text))}
    two = rows["two", "V_strict"]
    assert (float(two["mean"]), two["n_answered"], two["n_asked"]) == (0.5, "1", "2")
    bounds = float(two["interval_low"]), float(two["interval_high"])
    assert bounds == pytest.approx((0, 1), abs=1e-9)  # two topics say nothing of others
    assert two["n_unjudged"] == "0"


def test_json_says_what_was_answered_of_what_was_asked(judge, scores):
    rows = judge("score", scores, "--json").rows
    means = {r["run_id"]: r for r in rows if (r["topic_id"], r["measure"]) == ("all", "V")}
    assert {run: (r["n_answered"], r["n_asked"], r["n_topics"]) for run, r in means.items()} == {
        "one": (2, 2, 2),
        "two": (1, 2, 2),
    }
    assert judge("score", scores, "--format", "json").rows == rows
    asked = judge("score", scores, "--json", "--measures", "A,V").rows
    assert {row["measure"] for row in asked} == {"A", "V"}


def test_an_unknown_measure_is_an_error_that_names_those_there_are(judge, scores):
    done = judge("score", scores, "--measures", "V_strct")
    assert done.code == 2
    assert "no measure 'V_strct'; there is A, A_strict, V, " in done.err
    done = judge("score", scores, "--json", "--format", "csv")
    assert (done.code, "give only one of them" in done.err) == (2, True)


# Judged data of TREC RAG 2024: another implementation's scores, people's labels, accounts.
NUGGET_MEASURES = ("V_strict", "V", "W_strict", "W", "A_strict", "A")


def test_scores_of_the_official_nugget_labels_match_the_expected_ones(judge, shared_data, rows_of):
    folder = shared_data / "rag24_nuggets"
    ran = judge("score", folder / "nugget_assignments.jsonl", "--json")
    assert ran.code == 0, ran.err
    got = {(r["run_id"], r["topic_id"], r["measure"]): r["value"] for r in ran.rows}
    cells = rows_of(folder / "expected_cell_scores.jsonl")
    assert len(cells) == 530
    for cell in cells:
        for measure in NUGGET_MEASURES:
            value = got[cell["run_id"], cell["qid"], measure]
            assert value == pytest.approx(cell[measure], abs=5e-5), (cell["run_id"], cell["qid"])
        assert got[cell["run_id"], cell["qid"], "length"] == cell["answer_words"]
    for row in rows_of(folder / "expected_run_scores.jsonl"):
        for measure in NUGGET_MEASURES:
            assert got[row["run_id"], "all", measure] == pytest.approx(row[measure], abs=5.1e-5)


def test_scores_of_the_official_support_labels_match_the_expected_ones(judge, shared_data, rows_of):
    folder = shared_data / "rag24_support"
    ran = judge("score", folder / "answers.jsonl", "--json")
    assert ran.code == 0, ran.err
    got = {(r["run_id"], r["topic_id"], r["measure"]): r["value"] for r in ran.rows}
    cells = rows_of(folder / "expected_cell_scores.jsonl")
    assert len(cells) > 500
    for cell in cells:
        key = (cell["run_id"], cell["topic_id"])
        for ours, theirs in (("precision", "weighted_precision"), ("recall", "weighted_recall")):
            wanted = cell[theirs]
            value = got[(*key, f"support_{ours}")]
            if wanted is None or value is None:
                assert not wanted, key  # nothing judged: 0 there, no value here
                assert not value, key
            else:
                assert value == pytest.approx(wanted, abs=5e-5), key


@pytest.mark.slow
def test_lexical_support_labels_agree_with_people(judge, shared_data, tmp_path, rows_of):
    folder = shared_data / "rag24_support"
    by_run, chosen, topics = defaultdict(list), [], {}
    for row in rows_of(folder / "answers.jsonl"):
        if not row["condition"].startswith("from_scratch"):
            continue
        chosen.append(row)
        topics[row["topic_id"]] = "not known"
        references, answer = [], []
        for sentence in row["sentences"]:
            indices = []
            for citation in sentence["citations"]:
                if citation["docid"] not in references:
                    references.append(citation["docid"])
                indices.append(references.index(citation["docid"]))
            answer.append({"text": sentence["text"], "citations": indices})
        by_run[row["run_id"]].append(answer_row(row["run_id"], row["topic_id"], references, answer))
    write_runs(tmp_path / "runs", by_run)
    write_rows(tmp_path / "labels.jsonl", chosen)
    (tmp_path / "topics.tsv").write_text(
        "".join(f"{t}\t{text}\n" for t, text in topics.items()), encoding="utf-8"
    )
    ran = judge(
        *("run", "support", "--topics", "topics.tsv", "--runs", "runs", "--out", "out", "-q"),
        *("--passages", folder / "passages.jsonl", "--model", "lexical"),
    )
    assert ran.code == 3, ran.err  # about half of the cited passages have no text here
    (figures,) = judge("agree", "labels.jsonl", "out", "--json").rows
    assert figures["n"] > 1500
    assert figures["one_vs_rest"]["full"] >= 0.40


@pytest.fixture
def end_to_end(judge, shared_data, tmp_path):
    folder = shared_data / "rag24_e2e"
    ran = judge(
        *("run", "nuggets,support", "--model", "lexical", "--out", "out", "--json", "-q"),
        *("--topics", folder / "topics.tsv", "--candidates", folder / "candidates.jsonl"),
        *("--passages", folder / "passages.jsonl", "--qrels", folder / "qrels_nist.txt"),
        *("--runs", folder / "runs"),
    )
    assert ran.code == 3, ran.err
    return ran, folder, tmp_path / "out"


@pytest.mark.slow
def test_45_runs_on_12_topics_are_judged_and_every_sentence_and_citation_is_accounted_for(
    end_to_end, rows_of
):
    ran, folder, out = end_to_end
    assert len({r["run_id"] for r in ran.rows}) == 45
    topics = [
        line.split("\t")[0]
        for line in (folder / "topics.tsv").read_text(encoding="utf-8").splitlines()
    ]
    assert {r["topic_id"] for r in ran.rows} == {"all", *topics}
    assert len(topics) == 12
    answers = [row for path in sorted((folder / "runs").iterdir()) for row in rows_of(path)]
    manifest = json.loads((out / "manifest.json").read_bytes())
    counts = manifest["counts"]
    assert manifest["data"]["answers"] == len(answers)

    # Nuggets: each answer has all nuggets of its topic.
    banks = {row["qid"]: row["nuggets"] for row in rows_of(out / "nuggets.jsonl")}
    assert set(banks) == set(topics)
    assert all(1 <= len(nuggets) <= 20 for nuggets in banks.values())
    assigned = rows_of(out / "assignments.jsonl")
    assert len(assigned) == len(answers)
    assert all(len(row["nuggets"]) == len(banks[row["qid"]]) for row in assigned)

    # Sentences: judged, or without text; no heading in these runs.
    sentences = [s for row in answers for s in row["answer"]]
    with_text = [s for s in sentences if s["text"].strip()]
    n_judged = counts["sentences judged for support"]
    assert manifest["data"]["sentences"] == len(sentences)
    assert n_judged == len(with_text)
    assert counts["sentences without text (make no claim)"] == len(sentences) - len(with_text) > 0
    support = rows_of(out / "support.jsonl")
    assert len({(r["run_id"], r["topic_id"], r["sentence"]) for r in support}) == n_judged

    # Citations: with a label, listed as without passage, after the first, or of no sentence.
    passages = {row["docid"] for row in rows_of(folder / "passages.jsonl") if row["text"].strip()}
    lost = rows_of(out / "unjudged.jsonl")
    assert {row["reason"] for row in lost} == {"no_passage"}
    assert all(row["citation"] not in passages for row in lost)
    labelled = [row for row in support if row["citation"] and row["label"]]
    assert all(row["citation"] in passages for row in labelled)
    first = [s["citations"] for s in with_text if s["citations"]]
    assert len(labelled) + len(lost) == len(first)
    later = counts["citations after the first 1 (not asked)"]
    textless = counts["citations of sentences without text (not asked)"]
    assert len(first) + later + textless == sum(len(s["citations"]) for s in sentences)

    # What the readers doubted is listed one by one, and counted.
    listed = Counter(row["kind"] for row in rows_of(out / "problems.jsonl"))
    assert listed == Counter(manifest["problems"])
    assert listed["empty_sentence"] == len(sentences) - len(with_text)


def answer_row(run_id, topic_id, references, answer):
    row = {"run_id": run_id, "topic_id": topic_id, "topic": "-", "references": references}
    words = sum(len(sentence["text"].split()) for sentence in answer)
    return row | {"response_length": words, "answer": answer}


def write_runs(folder, by_run):
    folder.mkdir()
    for i, rows in enumerate(by_run.values()):
        write_rows(folder / f"{i}.jsonl", rows)
