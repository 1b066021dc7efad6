"""Judged data of TREC RAG 2024: another implementation's scores, people's labels, accounts."""

import json
from collections import Counter, defaultdict

import pytest

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
    write(tmp_path / "labels.jsonl", chosen)
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


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_runs(folder, by_run):
    folder.mkdir()
    for i, rows in enumerate(by_run.values()):
        write(folder / f"{i}.jsonl", rows)
