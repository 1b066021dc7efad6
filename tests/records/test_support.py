import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import (
    Problems,
    ScoreRow,
    SupportCitation,
    SupportLabels,
    SupportSentence,
    read_scores,
    read_support,
    write_scores,
)
from nuggetjudge.records.support import SUPPORT_KIND, support_row

LABELS = st.sampled_from(["full", "partial", "none", None])


@st.composite
def labelled_answers(draw):
    sentences = []
    for number, labels in enumerate(draw(st.lists(st.lists(LABELS, max_size=3), min_size=1))):
        citations = tuple(
            SupportCitation(passage_id=f"s{rank}", rank=rank, label=label)
            for rank, label in enumerate(labels)
        )
        sentences.append(SupportSentence(id=number, text=f"S {number}.", citations=citations))
    return tuple(sentences)


def ragdoll(answer):
    """An answer as RAGDoll writes it; "-1" is not judged."""
    codes = {"full": "2", "partial": "1", "none": "0", None: "-1"}
    sentences = [
        {
            "sentenceID": sentence.id,
            "text": sentence.text,
            "citations": [
                {"citationID": c.rank, "reference": c.passage_id, "support": codes[c.label]}
                for c in sentence.citations
            ],
        }
        for sentence in answer.sentences
    ]
    return {"topic_id": answer.topic_id, "run_id": answer.run_id, "sentences": sentences}


def rows_of(answer):
    """Its rows as a run writes them."""
    for sentence in answer.sentences:
        key = (answer.run_id, answer.topic_id, sentence.id)
        if not sentence.citations:
            yield support_row(*key, citation=None, rank=None, label="none")
        for cited in sentence.citations:
            yield support_row(*key, citation=cited.passage_id, rank=cited.rank, label=cited.label)


@given(answers=st.lists(labelled_answers(), min_size=1, max_size=3))
def test_both_layouts_are_read_as_they_were_written(answers, tmp_path_factory):
    written = [
        SupportLabels(run_id=f"r{n}", topic_id="12", sentences=sentences)
        for n, sentences in enumerate(answers)
    ]
    folder = tmp_path_factory.mktemp("support")
    (folder / "ragdoll.jsonl").write_text(
        "\n".join(json.dumps(ragdoll(a)) for a in written), encoding="utf-8"
    )
    rows = [row for answer in written for row in rows_of(answer)]
    (folder / "ours.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    problems = Problems()
    assert list(read_support(folder / "ragdoll.jsonl", problems)) == written
    ours = list(read_support(folder / "ours.jsonl", problems))
    assert [list(rows_of(a)) for a in ours] == [list(rows_of(a)) for a in written]
    assert len(problems) == 0


def test_the_published_examples_are_read(write, problems):
    published = {
        "topic_id": "14",
        "narrative_id": "14",
        "run_id": "sys2",
        "sentences": [
            {
                "sentenceID": 0,
                "text": "Tides drive turbines.",
                "citations": [{"citationID": 0, "reference": "s1", "support": "2"}],
            }
        ],
    }
    ours = {
        "run_id": "sys2", "topic_id": "12", "sentence": 0, "citation": "s1", "rank": 0,
        "label": "partial", "weight": 0.5,
    }  # fmt: skip
    first, second = read_support(write(published, ours), problems)
    assert first.sentences[0].citations == (SupportCitation(passage_id="s1", rank=0, label="full"),)
    assert second.sentences[0].citations[0].label == "partial"
    assert list(rows_of(second)) == [ours]
    assert len(problems) == 0


@pytest.mark.parametrize(
    ("written", "label"),
    [
        (2, "full"),
        ("1", "partial"),
        (0.0, "none"),
        ("-1", None),
        ("Full support", "full"),
        (None, None),
    ],
)
def test_every_spelling_of_a_label_is_known(written, label, write, problems):
    citations = [{"docid": "s1", "label": written}]
    row = {"run_id": "r", "topic_id": "t", "sentences": [{"text": "x", "citations": citations}]}
    (support,) = read_support(write(row), problems)
    assert support.sentences[0].citations[0].label == label
    assert len(problems) == 0


def test_an_unknown_label_is_not_judged_and_listed(write, problems, kinds):
    citations = [{"docid": "s1", "label": 3}, {"docid": "s2", "label": True}, {"docid": "s3"}]
    row = {"run_id": "r", "topic_id": "t", "sentences": [{"text": "", "citations": citations}]}
    (support,) = read_support(write(row), problems)
    assert [citation.label for citation in support.sentences[0].citations] == [None, None, None]
    assert kinds() == [(1, "empty_sentence", "kept")] + [(1, "label", "kept")] * 3


def test_lines_of_one_answer_that_stand_apart_and_other_malformed_lines_are_errors(
    write, problems, kinds
):
    def line(topic, sentence, citation, rank=0, label="full"):
        key = {"run_id": "r", "topic_id": topic, "sentence": sentence}
        return {**key, "citation": citation, "rank": rank, "label": label}

    path = write(
        line("1", 0, "a"), line("1", 0, "b", rank=0), line("1", 0, None),
        line("1", 1, None, label="full"), line("1", 1, "a"), line("1", "x", "a"),
        line("2", 0, "a"), line("1", 2, "a"), {"run_id": "r", "topic_id": "2", "sentences": []},
        {"run_id": "r", "topic_id": "3"},
    )  # fmt: skip
    assert [labels.topic_id for labels in read_support(path, problems)] == ["1", "2"]
    assert kinds() == [
        (2, "bad_field", "error"),
        (3, "duplicate_sentence", "error"),
        (4, "bad_field", "error"),
        (5, "duplicate_sentence", "error"),
        (6, "bad_field", "error"),
        (8, "duplicate_support", "error"),
        (9, "duplicate_support", "error"),
        (10, "missing_field", "error"),
    ]


@pytest.mark.parametrize("field", ["sentenceID", "sentence_id"])
def test_a_sentence_id_that_is_repeated_or_no_number_is_an_error(field, write, problems, kinds):
    sentences = [{field: number, "text": text} for number, text in ((0, "a"), (2, "b"), ("0", "c"))]
    row = {"run_id": "r", "topic_id": "t", "sentences": [*sentences, {field: "x", "text": "d"}]}
    (support,) = read_support(write(row), problems)
    assert [(sentence.id, sentence.text) for sentence in support.sentences] == [(0, "a"), (2, "b")]
    assert kinds() == [(1, "duplicate_sentence", "error"), (1, "bad_field", "error")]
    assert f"sentences[2].{field} is 0, as in an earlier sentence" in str(problems.rows[0])


def test_sentences_without_ids_are_numbered_and_one_with_the_id_of_another_is_an_error(
    write, problems, kinds
):
    sentences = [{"text": "a"}, {"sentence_id": 0, "text": "b"}]
    row = {"run_id": "r", "topic_id": "t", "sentences": sentences}
    (support,) = read_support(write(row), problems)
    assert [sentence.text for sentence in support.sentences] == ["a"]
    assert kinds() == [(1, "duplicate_sentence", "error")]


def test_the_nist_labels_give_the_published_precision_and_recall(shared_data, problems):
    folder = shared_data / "rag24_support"
    expected = {
        (row["topic_id"], row["run_id"]): row
        for row in map(
            json.loads,
            (folder / "expected_cell_scores.jsonl").read_text(encoding="utf-8").splitlines(),
        )
    }
    for answer in read_support(folder / "answers.jsonl", problems):
        row = expected.pop((answer.topic_id, answer.run_id))
        firsts = [s.citations[0] for s in answer.sentences if s.citations]
        weights = [SUPPORT_KIND.gains[first.label] for first in firsts if first.label]
        n_sentences = len(answer.sentences) - (len(firsts) - len(weights))
        assert (len(weights), n_sentences) == (row["judged_citations"], row["sentences"])
        if weights:
            assert sum(weights) / len(weights) == pytest.approx(row["weighted_precision"], abs=1e-4)
            assert sum(weights) / n_sentences == pytest.approx(row["weighted_recall"], abs=1e-4)
    assert expected == {}
    assert set(problems.counts()) == {"empty_sentence"}


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)
VALUES = st.floats(allow_nan=False, allow_infinity=False)


def row(run="sys2", topic="all", measure="V_strict", value=0.5, **counts):
    return ScoreRow(run_id=run, topic_id=topic, measure=measure, value=value, **counts)


@given(cells=st.dictionaries(st.tuples(NAMES, NAMES, NAMES), st.none() | VALUES, max_size=5))
def test_scores_both_layouts_are_read_as_they_were_written(cells, tmp_path_factory):
    rows = [row(*names, value, n=3, n_unjudged=0, low=0.1) for names, value in cells.items()]
    folder = tmp_path_factory.mktemp("scores")
    write_scores(folder / "scores.jsonl", folder / "scores.eval.txt", iter(rows))
    problems = Problems()
    assert read_scores(folder / "scores.jsonl", problems, "jsonl") == rows
    columns = read_scores(folder / "scores.eval.txt", problems, "ir_measures")
    assert columns == [
        row(r.run_id, r.topic_id, r.measure, r.value) for r in rows if r.value is not None
    ]
    assert len(problems) == 0


@pytest.mark.parametrize(
    ("layout", "line"),
    [
        ("ir_measures", "sys2\tall\tV_strict\t0.5"),
        ("tot", "sys2 V_strict all 0.5"),
        ("rag4reports", "all sys2 V_strict 0.5"),
        ("ranking", "all Q0 sys2 1 0.5 V_strict"),
        ("trec_eval", "V_strict  all  0.5"),
    ],
)
def test_each_column_layout_of_other_tools_is_read_when_named(layout, line, write, problems):
    assert read_scores(write(line, name="sys2.txt"), problems, layout) == [row()]
    assert len(problems) == 0


def test_three_columns_are_trec_eval_with_the_run_named_by_the_file(write, problems, kinds):
    path = write("P_5 all 0.5", "runid all bm25", "map all 0.25", name="sys2.txt")
    assert read_scores(path, problems) == [row(measure="P_5"), row(measure="map", value=0.25)]
    assert kinds() == [(2, "header", "skipped")]


def test_a_header_is_mentioned_and_no_value_is_none(write, problems, kinds):
    path = write("run topic measure value", "sys2 1 V nan", "sys2 2 V None", name="x.txt")
    assert [score.value for score in read_scores(path, problems)] == [None, None]
    assert kinds() == [(1, "header", "skipped")]


def test_rows_that_are_no_scores_are_errors(write, problems, kinds):
    path = write("a 1 V 0.5", "a 1 V 0.6", "a 2 V inf", "a 2 V", "a 2 V high", name="x.txt")
    assert len(read_scores(path, problems)) == 1
    assert sorted(kinds()) == [
        (2, "duplicate_score", "error"),
        (3, "bad_score", "error"),
        (4, "bad_score", "error"),
        (5, "bad_score", "error"),
    ]


def test_json_rows_of_other_tools_need_four_fields(write, problems, kinds):
    good = {"run_id": "sys2", "topic_id": "all", "measure": "V_strict", "value": "0.5"}
    path = write(good, {**good, "topic_id": 1, "value": True}, {"run_id": "x", "value": 1})
    assert read_scores(path, problems)[0] == row()
    assert kinds() == [
        (2, "bad_field", "error"),
        (3, "missing_field", "error"),
        (3, "missing_field", "error"),
    ]


def test_a_name_with_a_space_leaves_neither_layout_half_written(tmp_path):
    with pytest.raises(ValueError, match="white space"):
        write_scores(tmp_path / "s.jsonl", tmp_path / "s.txt", [row(), row(run="my run")])
    assert list(tmp_path.iterdir()) == []


def test_only_mean_rows_say_over_how_many_topics(tmp_path):
    path = tmp_path / "scores.jsonl"
    write_scores(path, tmp_path / "s.txt", [row(topic="1"), row(n_topics=12)])
    assert ["n_topics" in line for line in path.read_text(encoding="utf-8").splitlines()] == [
        False,
        True,
    ]
