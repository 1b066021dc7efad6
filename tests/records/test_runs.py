import io
import tempfile
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nuggetjudge.records import Problems, Ranking, read_trec_run
from nuggetjudge.records.relevance import write_trec_run

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


def test_a_topic_without_passages_leaves_no_line():
    assert written(run(), run("a", topic_id="7")) == "7 Q0 a 1 1.0 x\n"


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
        ([run("a", scores=(2.0, 1.0))], "topic '12': 2 scores of 1 passages"),
        ([run("a", "b", scores=(1.0, 2.0))], "rank 2: score 2.0 is above 1.0 before it"),
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


def test_a_real_run_has_100_passages_for_each_of_its_30_topics(shared_data, problems):
    rankings = read_trec_run(shared_data / "crux_duc/runs/bm25.run", problems)
    assert len(rankings) == 30
    assert {len(ranking.passage_ids) for ranking in rankings.values()} == {100}
    assert len(problems) == 0


def test_a_ranking_that_was_not_made_says_why_in_a_run_that_other_tools_read(write, problems):
    lost = Ranking(run_id="x", topic_id="13", passage_ids=(), not_made="refused")
    text = written(run("a", "b"), lost)
    assert text.splitlines()[2] == "13 Q0 not-made:refused 1 1.0 x"
    path = write(*text.splitlines())
    rankings_read = read_trec_run(path, problems)
    assert (rankings_read["12"].not_made, rankings_read["13"].not_made) == (None, "refused")
    assert rankings_read["13"].passage_ids == ()
    assert not list(problems)
    [other] = [row for row in ir_measures.read_trec_run(str(path)) if row.query_id == "13"]
    assert other.doc_id == "not-made:refused"


@pytest.mark.parametrize(
    "lines", [("13 Q0 not-made:rain 1 1 x",), ("13 Q0 a 1 2 x", "13 Q0 not-made:error 2 1 x")]
)
def test_a_reason_that_is_none_or_beside_passages_is_an_error(lines, write, problems, kinds):
    read_trec_run(write(*lines), problems)
    assert kinds() == [(1, "bad_run", "error")]
