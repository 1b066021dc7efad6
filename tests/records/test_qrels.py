import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import (
    Problems,
    read_qrels,
    write_diversity_qrels,
    write_qrels,
)
from nuggetjudge.records.labels.kinds import file_kind
from nuggetjudge.records.relevance import write_confident_qrels

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


def test_lines_are_sorted_by_topic_and_document(tmp_path):
    write_qrels(tmp_path / "q.txt", {"b": {"y": 1, "x": 0}, "a": {"z": 2}}, iteration="Q0")
    assert (tmp_path / "q.txt").read_text(encoding="utf-8") == "a Q0 z 2\nb Q0 x 0\nb Q0 y 1\n"


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


def test_ir_measures_reads_diversity_qrels_as_subtopics(tmp_path):
    """Two documents answer question 1, one each 2 and 3: a, c, d, b is an ideal order."""
    answers = {"1": ["a", "b"], "2": ["c"], "3": ["d"]}
    grades = {"t": {q: {p: int(p in ids) for p in "abcd"} for q, ids in answers.items()}}
    write_diversity_qrels(tmp_path / "q.txt", grades)
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "q.txt")))
    assert {(q.iteration, q.doc_id) for q in qrels if q.relevance} == {
        ("1", "a"),
        ("1", "b"),
        ("2", "c"),
        ("3", "d"),
    }


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


def test_a_retrieval_run_is_no_qrels(write):
    path = write("12 Q0 s1 1 7.5 bm25", "12 Q0 s2 2 7 bm25", "13 Q0 s1 1 7 bm25", name="r.run")
    assert file_kind(path) == "run"


def test_six_columns_come_back_as_they_were_written(tmp_path, problems):
    path = tmp_path / "q.tsv"
    rows = [("9", "b", 4, 0.5), ("9", "a", 4, 1.0)]
    assert write_confident_qrels(path, rows, "mine") == 2
    assert path.read_text() == "9 Q0 a 4 1 mine\n9 Q0 b 4 0.5 mine\n"
    assert read_qrels(path, problems) == {"9": {"a": 4, "b": 4}}
    with pytest.raises(ValueError, match="white space"):
        write_confident_qrels(path, rows, "my run")
