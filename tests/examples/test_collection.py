"""The demo is consistent in itself, and its systems are what its README says."""

import math
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
import yaml
from json_lines import read_rows

from nuggetjudge.judges import read_custom_judge

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "demo"
SMALL = Path(__file__).resolve().parents[1] / "collection"
UNANSWERED = {("thin", "demo-tides"), ("thin", "demo-satnav")}
SYSTEMS = ("complete", "factdump", "miscited", "thin")
GAIN = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
WEIGHT = {"full": 1.0, "partial": 0.5, "none": 0.0}


def rows(name):
    return read_rows(FOLDER / name)


def words(text):
    return unicodedata.normalize("NFKC", text).split()


def shingles(text, size):
    tokens = re.findall(r"\w+", text.lower())
    return {tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)}


TOPICS = dict(line.split("\t") for line in (FOLDER / "topics.tsv").read_text("utf-8").splitlines())
PASSAGES = {row["docid"]: row for row in rows("passages.jsonl")}
CANDIDATES = {row["topic_id"]: row["docids"] for row in rows("candidates.jsonl")}
QRELS = [line.split() for line in (FOLDER / "qrels.txt").read_text("utf-8").splitlines()]
NUGGETS = {row["qid"]: row for row in rows("nuggets.jsonl")}
ANSWERS = {
    (row["run_id"], row["topic_id"]): row
    for path in sorted((FOLDER / "runs").glob("*.jsonl"))
    for row in rows(f"runs/{path.name}")
}
NUGGET_LABELS = rows("labels/nuggets.jsonl")
SUPPORT_LABELS = rows("labels/support.jsonl")


def mean_over_topics(run, value):
    """Mean over all topics; one that the run did not answer counts 0."""
    return math.fsum(value(run, t) if (run, t) in ANSWERS else 0.0 for t in TOPICS) / len(TOPICS)


def labelled_nuggets(run, topic):
    (row,) = [r for r in NUGGET_LABELS if (r["run_id"], r["qid"]) == (run, topic)]
    return row["nuggets"]


def v_strict(run, topic):
    vital = [n for n in labelled_nuggets(run, topic) if n["importance"] == "vital"]
    return sum(n["assignment"] == "support" for n in vital) / len(vital)


def a(run, topic):
    labels = labelled_nuggets(run, topic)
    return sum(GAIN[n["assignment"]] for n in labels) / len(labels)


def first_citations(run, topic):
    """(weights of the first citations, number of sentences)."""
    cell = [r for r in SUPPORT_LABELS if (r["run_id"], r["topic_id"]) == (run, topic)]
    weights = [r["weight"] for r in cell if r["rank"] == 0]
    return weights, len({r["sentence"] for r in cell})


def support_precision(run, topic):
    weights, _ = first_citations(run, topic)
    return sum(weights) / len(weights) if weights else 0.0


def support_recall(run, topic):
    weights, n_sentences = first_citations(run, topic)
    return sum(weights) / n_sentences


MEASURES = {
    "V_strict": v_strict, "A": a, "support_precision": support_precision,
    "support_recall": support_recall,
}  # fmt: skip


def means(measure):
    return {run: mean_over_topics(run, MEASURES[measure]) for run in SYSTEMS}


def test_topics_have_a_bank_a_ranking_and_grades():
    assert len(TOPICS) == 12
    assert TOPICS.keys() == NUGGETS.keys() == CANDIDATES.keys() == {row[0] for row in QRELS}
    assert all(bank["query"] == TOPICS[qid] for qid, bank in NUGGETS.items())


def test_passages_are_132_of_readable_length_with_unique_ids():
    assert len(PASSAGES) == len(rows("passages.jsonl")) == 132
    for row in PASSAGES.values():
        assert set(row) == {"docid", "title", "text"}
        assert 80 <= len(words(row["text"])) <= 105, row["docid"]


def test_no_two_passages_share_eight_words_in_a_row():
    seen = {}
    for docid, row in PASSAGES.items():
        for shingle in shingles(row["text"], 8):
            assert seen.setdefault(shingle, docid) == docid, (shingle, docid)


def test_rankings_hold_ten_known_passages_and_exactly_two_off_topic_ones():
    grades = {(topic, docid): int(grade) for topic, _, docid, grade in QRELS}
    for topic, docids in CANDIDATES.items():
        assert len(docids) == len(set(docids)) == 10
        assert sum(grades[topic, docid] == 0 for docid in docids) == 2, topic


def test_qrels_grade_every_own_passage_once_on_the_scale_0_to_3():
    pairs = [(topic, docid) for topic, _, docid, _ in QRELS]
    assert len(pairs) == len(set(pairs)) == 144
    assert {grade for *_, grade in QRELS} == set("0123")
    for topic in TOPICS:
        own = {d for d in PASSAGES if d.startswith(topic.removeprefix("demo-") + "-")}
        assert len(own) == 11
        assert own <= {docid for t, docid in pairs if t == topic}
    assert {docid for _, docid in pairs} <= PASSAGES.keys()


def test_nuggets_are_10_to_14_short_texts_with_the_vital_ones_first():
    for qid, bank in NUGGETS.items():
        texts = [nugget["text"] for nugget in bank["nuggets"]]
        assert 10 <= len(texts) == len(set(texts)) <= 14, qid
        assert all(1 <= len(words(text)) <= 12 for text in texts)
        importance = [nugget["importance"] for nugget in bank["nuggets"]]
        assert set(importance) == {"vital", "okay"}
        assert importance == sorted(importance, reverse=True)


def test_every_system_answers_every_topic_but_thin_leaves_out_two():
    expected = {(run, topic) for run in SYSTEMS for topic in TOPICS} - UNANSWERED
    n_rows = sum(len(rows(f"runs/{run}.jsonl")) for run in SYSTEMS)
    assert ANSWERS.keys() == expected
    assert n_rows == len(expected)


@pytest.mark.parametrize("key", ANSWERS, ids=":".join)
def test_an_answer_obeys_the_trec_rag_2024_rules(key):
    answer = ANSWERS[key]
    assert answer["topic"] == TOPICS[key[1]]
    assert len(answer["references"]) == len(set(answer["references"])) <= 20
    assert set(answer["references"]) <= PASSAGES.keys()
    text = " ".join(sentence["text"] for sentence in answer["answer"])
    assert answer["response_length"] == len(words(text)) <= 400
    for sentence in answer["answer"]:
        assert sentence["text"].strip() == sentence["text"] != ""
        cited = sentence["citations"]
        assert len(cited) == len(set(cited))
        assert all(type(i) is int and 0 <= i < len(answer["references"]) for i in cited)


def test_answers_paraphrase_instead_of_copying_passages_or_nuggets():
    copied = set().union(*(shingles(row["text"], 12) for row in PASSAGES.values()))
    nuggets = {n["text"].lower() for bank in NUGGETS.values() for n in bank["nuggets"]}
    for key, answer in ANSWERS.items():
        for sentence in answer["answer"]:
            assert not shingles(sentence["text"], 12) & copied, (key, sentence["text"])
            assert sentence["text"].rstrip(".").lower() not in nuggets


def test_no_sentence_occurs_in_two_systems():
    texts = [s["text"] for answer in ANSWERS.values() for s in answer["answer"]]
    assert len(texts) == len(set(texts))


def test_nugget_labels_cover_every_answer_and_nugget_exactly_once():
    assert Counter((r["run_id"], r["qid"]) for r in NUGGET_LABELS) == Counter(ANSWERS.keys())
    for row in NUGGET_LABELS:
        answer = ANSWERS[row["run_id"], row["qid"]]
        assert row["query"] == TOPICS[row["qid"]]
        assert row["answer_text"] == " ".join(s["text"] for s in answer["answer"])
        assert row["response_length"] == answer["response_length"]
        judged = [{k: n[k] for k in ("text", "importance")} for n in row["nuggets"]]
        assert judged == NUGGETS[row["qid"]]["nuggets"]
        assert all(n["assignment"] in GAIN for n in row["nuggets"])
    assert sum(len(row["nuggets"]) for row in NUGGET_LABELS) == 632


def test_support_labels_cover_every_citation_and_uncited_sentence_exactly_once():
    expected = Counter()
    for (run, topic), answer in ANSWERS.items():
        for i, sentence in enumerate(answer["answer"]):
            docids = [answer["references"][c] for c in sentence["citations"]]
            ranked = list(enumerate(docids)) or [(None, None)]
            expected.update((run, topic, i, docid, rank) for rank, docid in ranked)
    fields = ("run_id", "topic_id", "sentence", "citation", "rank")
    assert Counter(tuple(r[f] for f in fields) for r in SUPPORT_LABELS) == expected
    for row in SUPPORT_LABELS:
        assert row["weight"] == WEIGHT[row["label"]]
        assert row["citation"] is not None or row["label"] == "none"
    assert len(SUPPORT_LABELS) == 505


def test_all_labels_occur_so_that_a_confusion_matrix_has_no_empty_row():
    assert {n["assignment"] for row in NUGGET_LABELS for n in row["nuggets"]} == set(GAIN)
    assert {row["label"] for row in SUPPORT_LABELS if row["citation"]} == set(WEIGHT)


@pytest.mark.parametrize("measure", ["V_strict", "A"])
def test_nugget_order_by_hand_is_complete_miscited_factdump_thin(measure):
    score = means(measure)
    assert score["complete"] > score["miscited"] > score["factdump"] > score["thin"] + 0.4


def test_miscited_is_by_far_the_lowest_on_support_precision():
    score = means("support_precision")
    assert score["miscited"] < min(score[run] for run in SYSTEMS if run != "miscited") - 0.5


def test_support_recall_order_by_hand_is_complete_thin_miscited_factdump():
    score = means("support_recall")
    assert score["complete"] > score["thin"] > score["miscited"] > score["factdump"]


def test_factdump_is_the_longest_on_every_topic_and_thin_the_shortest():
    for topic in TOPICS:
        length = {r: ANSWERS[r, topic]["response_length"] for r in SYSTEMS if (r, topic) in ANSWERS}
        assert max(length, key=length.get) == "factdump"
        if ("thin", topic) in ANSWERS:
            assert min(length, key=length.get) == "thin"


def test_uncited_and_doubly_cited_sentences_are_where_the_readme_says():
    uncited = Counter(row["run_id"] for row in SUPPORT_LABELS if row["citation"] is None)
    assert uncited.keys() == {"complete", "factdump"}
    assert uncited["complete"] == 1
    assert ANSWERS["complete", "demo-lighthouses"]["answer"][-1]["citations"] == []
    assert sum(row["rank"] == 1 for row in SUPPORT_LABELS) == 2
    assert first_citations("factdump", "demo-bees")[0] == []


def test_readme_states_the_means_of_the_labels():
    lines = (FOLDER / "README.md").read_text("utf-8").splitlines()
    start = lines.index("| run | " + " | ".join(MEASURES) + " |")
    table = [[c.strip() for c in line.strip("|").split("|")] for line in lines[start + 2 :][:4]]
    assert {row[0] for row in table} == set(SYSTEMS)
    for run, *cells in table:
        expected = [mean_over_topics(run, value) for value in MEASURES.values()]
        assert [float(cell) for cell in cells] == pytest.approx(expected, abs=5e-4)


def test_the_configuration_names_files_that_exist_and_the_bank():
    config = yaml.safe_load((FOLDER / "judge.yaml").read_text("utf-8"))
    assert config["program"] == ["nuggets", "support"]
    assert config["models"]["default"] == {"model": "lexical"}
    assert config["data"]["nuggets"] == "nuggets.jsonl"
    assert all(list(FOLDER.glob(pattern)) for pattern in config["data"].values())


@pytest.mark.parametrize(
    "name", ["nuggets.jsonl", "passages.jsonl", "runs/thin.jsonl", "topics.tsv"]
)
def test_the_demo_has_the_topics_of_the_tests_collection_first(name):
    small = (SMALL / name).read_text("utf-8")
    assert (FOLDER / name).read_text("utf-8").startswith(small)


def test_a_sentence_that_its_passage_supports_in_full_shares_words_with_it():
    """A docid that slipped by one line would be seen here; whether the label is right is read."""
    for row in SUPPORT_LABELS:
        if row["label"] == "full":
            answer = ANSWERS[row["run_id"], row["topic_id"]]
            claim = shingles(answer["answer"][row["sentence"]]["text"], 1)
            shared = {w for (w,) in claim & shingles(PASSAGES[row["citation"]]["text"], 1)}
            assert sum(len(word) > 3 for word in shared) >= 1, row


# The demo's items for a judge of one's own are its cited sentences, under their human labels.
LABELS = {"full": "yes", "partial": "partly", "none": "no"}


def test_the_items_are_the_citations_with_their_texts_and_labels():
    passages = {row["docid"]: row["text"] for row in rows("passages.jsonl")}
    sentences = {
        (row["run_id"], row["topic_id"], i): sentence["text"]
        for path in (FOLDER / "runs").glob("*.jsonl")
        for row in rows(f"runs/{path.name}")
        for i, sentence in enumerate(row["answer"])
    }
    assert rows("labels/grounded.jsonl") == [
        {
            "topic_id": row["topic_id"], "run_id": row["run_id"], "sentence_id": row["sentence"],
            "passage_id": row["citation"],
            "claim": sentences[row["run_id"], row["topic_id"], row["sentence"]],
            "source": passages[row["citation"]], "label": LABELS[row["label"]],
        }
        for row in rows("labels/support.jsonl")
        if row["citation"] is not None
    ]  # fmt: skip


def test_the_judge_takes_twelve_lines_at_most_and_gives_the_labels_of_the_items():
    definition = read_custom_judge(FOLDER / "grounded.yaml")
    assert len((FOLDER / "grounded.yaml").read_text(encoding="utf-8").splitlines()) <= 12
    assert set(definition.scale) == {row["label"] for row in rows("labels/grounded.jsonl")}
    assert set(definition.inputs) < set(rows("labels/grounded.jsonl")[0])
