import io
import tempfile
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nuggetjudge.records import (
    Problems,
    Ranking,
    RelevanceLabel,
    read_qrels,
    read_relevance,
    read_trec_run,
    relevance_row,
    write_diversity_qrels,
    write_qrels,
)
from nuggetjudge.records.kinds import file_kind
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.relevance import write_trec_run

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)


@given(
    qrels=st.dictionaries(
        NAMES, st.dictionaries(NAMES, st.integers(-2, 4), min_size=1, max_size=4), max_size=4
    )
)
def test_qrels_are_read_as_they_were_written(qrels, tmp_path_factory):
    path = tmp_path_factory.mktemp("qrels") / "qrels.txt"
    write_qrels(path, qrels)
    problems = Problems()
    assert read_qrels(path, problems) == qrels
    assert len(problems) == 0


def test_grades_as_auto_judge_tools_write_them(write, problems):
    path = write("12 0 s1 3", "12 Q0 s2 2.0", "12\t0\ts3\tTrue", "9 0 s1 False", name="q.txt")
    assert read_qrels(path, problems) == {"12": {"s1": 3, "s2": 2, "s3": 1}, "9": {"s1": 0}}
    assert len(problems) == 0


def test_half_grades_and_contradictions_are_errors(write, problems, kinds):
    path = write("1 0 a 1.5", "1 0 b 1", "1 0 b 2", "1 0 b 1", "1 0 c", name="q.txt")
    assert read_qrels(path, problems) == {"1": {"b": 1}}
    assert kinds() == [
        (1, "bad_grade", "error"),
        (3, "duplicate_grade", "error"),
        (4, "duplicate_grade", "kept"),
        (5, "bad_qrels", "error"),
    ]


def test_an_id_with_a_space_cannot_be_written(tmp_path):
    for name in ("a b", "", " a"):
        with pytest.raises(ValueError, match="white space"):
            write_qrels(tmp_path / "q.txt", {"1": {name: 1}})


@given(
    qrels=st.dictionaries(
        NAMES,
        st.dictionaries(
            NAMES, st.dictionaries(NAMES, st.integers(0, 1), min_size=1, max_size=3), min_size=1
        ),
        max_size=3,
    )
)
def test_ir_measures_reads_diversity_qrels_as_they_were_written(qrels, tmp_path_factory):
    path = tmp_path_factory.mktemp("qrels") / "qrels.txt"
    write_diversity_qrels(path, qrels)
    with path.open(encoding="utf-8") as lines:
        read = {
            (line.query_id, line.iteration, line.doc_id): line.relevance
            for line in ir_measures.read_trec_qrels(lines)
        }
    assert read == {
        (topic, question, passage): grade
        for topic, questions in qrels.items()
        for question, passages in questions.items()
        for passage, grade in passages.items()
    }


def test_diversity_qrels_name_the_question_second_and_count_digits_as_numbers(tmp_path):
    grades = {"t": {"10": {"t:0#0": 1}, "2": {"t:10#1": 0, "t:2#10": 1, "t:2#9": 1}}}
    write_diversity_qrels(tmp_path / "q.txt", grades)
    assert (tmp_path / "q.txt").read_text(encoding="utf-8") == (
        "t 2 t:2#9 1\nt 2 t:2#10 1\nt 2 t:10#1 0\nt 10 t:0#0 1\n"
    )


def test_a_diversity_grade_is_0_or_1(tmp_path):
    with pytest.raises(ValueError, match="topic 't': grade 3 of 'a', question '0', wanted 0 or 1"):
        write_diversity_qrels(tmp_path / "q.txt", {"t": {"0": {"a": 3}}})
    with pytest.raises(ValueError, match="white space"):
        write_diversity_qrels(tmp_path / "q.txt", {"t": {"0 1": {"a": 1}}})


def test_real_qrels_have_the_published_number_of_pairs_in_both_files(shared_data, problems):
    folder = shared_data / "rag25_relevance_labels"
    human, model = (
        read_qrels(folder / name, problems) for name in ("qrels_nist.txt", "qrels_umbrela2.txt")
    )
    assert {topic: set(grades) for topic, grades in human.items()} == {
        topic: set(grades) for topic, grades in model.items()
    }
    assert len(human) == 13
    assert sum(map(len, human.values())) == 6055
    assert len(problems) == 0


CONFIDENT = ("12 Q0 s1 3 1 mine", "12 Q0 s2 3 0.25 mine", "12 Q0 s3 0 1e-1 mine")


def test_six_columns_of_the_rag_track_are_read_as_grades(write, problems):
    path = write(*CONFIDENT, name="q.tsv")
    assert read_qrels(path, problems) == {"12": {"s1": 3, "s2": 3, "s3": 0}}
    assert file_kind(path) == "qrels"
    assert len(problems) == 0


def test_a_confidence_that_is_no_number_and_five_columns_are_errors(write, problems, kinds):
    read_qrels(write("1 Q0 a 3 high r", "1 Q0 a 3 1", "1 Q0 a 3 nan r", name="q.tsv"), problems)
    assert [kind for _, kind, _ in kinds()] == ["bad_confidence", "bad_qrels", "bad_confidence"]


ids = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=4)
scores = st.floats(-1e30, 1e30) | st.floats(-1, 1) | st.sampled_from([0.0, 1e-45, 16777217.0])


@st.composite
def rankings(draw):
    """A ranking of up to 9 passages, with scores that fall or stay, or without."""
    names = draw(st.lists(ids, min_size=1, max_size=9, unique=True))
    n = len(names) if draw(st.booleans()) else 0
    descending = sorted(draw(st.lists(scores, min_size=n, max_size=n)), reverse=True)
    return Ranking(
        run_id=draw(ids), topic_id=draw(ids), passage_ids=tuple(names), scores=tuple(descending)
    )


def run(*names, scores=(), topic_id="12", run_id="x"):
    return Ranking(run_id=run_id, topic_id=topic_id, passage_ids=names, scores=scores)


def written(*given_rankings):
    to = io.StringIO()
    write_trec_run(to, given_rankings)
    return to.getvalue()


def test_the_best_score_is_first_and_ties_go_by_rank(write, problems, kinds):
    path = write(
        "12 Q0 b 2 7.5 bm25", "12 Q0 a 1 7.5 bm25", "12\tQ0\tc\t3\t9\tbm25", "7 Q0 a 1 1 bm25"
    )
    rankings = read_trec_run(path, problems)
    assert rankings["12"].passage_ids == ("c", "a", "b")
    assert rankings["12"].scores == (9.0, 7.5, 7.5)
    assert rankings["7"].run_id == "bm25"
    assert kinds() == [(1, "rank_order", "kept")]


def test_what_is_no_run_line_is_an_error(write, problems, kinds):
    path = write("1 Q0 a 1 2.0 x", "1 Q0 a 2 1.0 x", "1 Q0 b 2 nan x", "1 Q0 b 2 x", "1 Q0 b 2 1 y")
    assert read_trec_run(path, problems)["1"].passage_ids == ("a",)
    assert kinds() == [
        (2, "duplicate_candidate", "error"),
        (3, "bad_run", "error"),
        (4, "bad_run", "error"),
        (5, "mixed_runs", "error"),
    ]


def test_a_run_is_written_with_ranks_from_one_and_scores_as_they_are():
    text = written(run("b", "a", scores=(7.5, 0.1)), run("a", topic_id="7"))
    assert text == "12 Q0 b 1 7.5 x\n12 Q0 a 2 0.1 x\n7 Q0 a 1 1.0 x\n"


# The 32-bit float next to 3 is 2 ** -22 below it, the one next to 2, 2 ** -23.
def test_equal_scores_are_written_as_the_next_32_bit_floats_below():
    lines = written(run("a", "b", "c", "d", scores=(3.0, 3.0, 2.0, 2.0))).splitlines()
    values = [float(np.float32(line.split()[4])) for line in lines]
    assert values == [3, 3 - 2**-22, 2, 2 - 2**-23]


def test_scores_that_only_64_bits_tell_apart_keep_their_order_in_32():
    assert np.float32(16777217.0) == np.float32(16777216.0)
    lines = written(run("a", "b", scores=(16777217.0, 16777216.0))).splitlines()
    first, second = (np.float32(line.split()[4]) for line in lines)
    assert first > second


@given(rankings())
@example(run("a", "b", "c", "d", scores=(1e-40, 0.0, 0.0, -1e-45)))
def test_what_is_written_is_read_back_in_the_same_order_by_us_and_by_ir_measures(ranking):
    problems = Problems()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.run"
        write_trec_run(path, [ranking])
        reread = read_trec_run(path, problems)[ranking.topic_id]
        with path.open(encoding="utf-8") as lines:
            theirs = list(ir_measures.read_trec_run(lines))
    assert not len(problems)
    assert (reread.run_id, reread.passage_ids) == (ranking.run_id, ranking.passage_ids)
    single = np.array(reread.scores, dtype=np.float32)
    assert (np.diff(single) < 0).all()
    assert (np.abs(single[single != 0]) >= np.finfo(np.float32).tiny).all()
    assert [row.doc_id for row in sorted(theirs, key=lambda row: -row.score)] == list(
        ranking.passage_ids
    )
    if len(set(np.array(ranking.scores, dtype=np.float32))) == len(ranking.passage_ids):
        assert reread.scores == pytest.approx(ranking.scores, rel=1e-6, abs=1e-37)


@pytest.mark.parametrize(
    ("given_rankings", "message"),
    [
        ([run("a b")], "topic '12', rank 1: 'a b' is empty or has white space"),
        ([run("a", topic_id="")], "topic '', rank 1: '' is empty"),
        ([run("a", run_id="my run")], "topic '12', rank 1: 'my run' is empty or has white space"),
        ([run("a\u00a0b")], "has white space"),
        ([run("a"), run("a", topic_id="7", run_id="y")], "topic '7': tag 'y' in a run of 'x'"),
        ([run("a"), run("b")], "topic '12' occurs twice"),
        ([run("a", "a")], "topic '12', rank 2: passage 'a' occurs twice"),
        ([run("a", scores=(2.0, 1.0))], "topic '12': 2 scores for 1 passages"),
        ([run("a", "b", scores=(1.0, 2.0))], "rank 2: score 2.0 is above the previous 1.0"),
        ([run("a", scores=(float("nan"),))], "rank 1: score nan, wanted a number within"),
        ([run("a", scores=(1e39,))], "rank 1: score 1e.39, wanted a number within"),
    ],
)
def test_what_the_layout_cannot_carry_is_refused_before_anything_is_written(
    tmp_path, given_rankings, message
):
    with pytest.raises(ValueError, match=message):
        write_trec_run(tmp_path / "a.run", given_rankings)
    assert not (tmp_path / "a.run").exists()


def test_a_topic_that_is_to_have_no_passages_says_so_alone(write, problems):
    found = read_trec_run(write("12 Q0 no-passages 1 1.0 x\n"), problems)
    assert found["12"].passage_ids == ()
    read_trec_run(write("12 Q0 no-passages 1 1.0 x\n12 Q0 a 2 0.5 x\n"), problems)
    with pytest.raises(InputError, match="'no-passages' in topic '12', wanted it alone"):
        problems.raise_errors()


def test_a_ranking_that_was_not_made_says_why_in_a_run_that_other_tools_read(write, problems):
    lost = Ranking(run_id="x", topic_id="13", passage_ids=(), failed="refused")
    text = written(run("a", "b"), lost)
    assert text.splitlines()[2] == "13 Q0 failed:refused 1 1.0 x"
    path = write(*text.splitlines())
    rankings_read = read_trec_run(path, problems)
    assert (rankings_read["12"].failed, rankings_read["13"].failed) == (None, "refused")
    assert rankings_read["13"].passage_ids == ()
    assert not list(problems)
    [other] = [row for row in ir_measures.read_trec_run(str(path)) if row.query_id == "13"]
    assert other.doc_id == "failed:refused"
    old = write(*(line.replace("failed:", "not-made:") for line in text.splitlines()))
    assert read_trec_run(old, problems) == rankings_read


@pytest.mark.parametrize(
    "lines", [("13 Q0 failed:rain 1 1 x",), ("13 Q0 a 1 2 x", "13 Q0 failed:error 2 1 x")]
)
def test_a_reason_that_is_none_or_beside_passages_is_an_error(lines, write, problems, kinds):
    read_trec_run(write(*lines), problems)
    assert kinds() == [(1, "bad_run", "error")]


UMBRELA = {
    "model": "m", "query": "tidal power", "passage": "Turbines turn.",
    "prediction": "final score: 2", "judgment": 2, "result_status": 1, "qid": "12", "docid": "s1",
}  # fmt: skip


def test_a_reply_that_umbrela_could_not_parse_is_not_judged(write, problems, kinds):
    path = write(UMBRELA, {**UMBRELA, "docid": "s2", "judgment": 0, "result_status": 0})
    assert list(read_relevance(path, problems)) == [
        RelevanceLabel(topic_id="12", passage_id="s1", grade=2),
        RelevanceLabel(topic_id="12", passage_id="s2", grade=None),
    ]
    assert kinds() == [(2, "unparsed", "kept")]


def test_our_own_rows_are_read_as_they_were_written(write, problems):
    labels = [RelevanceLabel(topic_id="1", passage_id=str(g), grade=g) for g in (0, 3, None)]
    assert list(read_relevance(write(*map(relevance_row, labels)), problems)) == labels
    assert len(problems) == 0


def test_judgements_that_no_passage_can_be_found_for_are_errors(write, problems, kinds):
    path = write(
        {key: UMBRELA[key] for key in UMBRELA if key not in ("qid", "docid")}, UMBRELA,
        {**UMBRELA, "judgment": 1}, UMBRELA, {**UMBRELA, "docid": "s9", "judgment": 1.5},
    )  # fmt: skip
    assert [label.grade for label in read_relevance(path, problems)] == [2, None]
    assert kinds() == [
        (1, "missing_field", "error"),
        (1, "missing_field", "error"),
        (3, "duplicate_grade", "error"),
        (4, "duplicate_grade", "kept"),
        (5, "grade", "kept"),
    ]
