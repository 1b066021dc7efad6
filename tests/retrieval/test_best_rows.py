import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.retrieval.dense import BestRows

SCORES = [[1, 3, 3, 0, 2], [0, 0, 5, 0, 0]]


def ranked_ids(scores, sizes, hits, **options):
    """What is found when scores come in blocks of these sizes."""
    scores = np.array(scores, np.float32)
    best, row = BestRows(len(scores), hits), 0
    for size in [*sizes, scores.shape[1]]:
        best.add(row, scores[:, row : row + size])
        row += size
    names = [f"p{i}" for i in range(scores.shape[1])]
    return [[one.passage_id for one in ranked] for ranked in best.ranked(names, **options)]


def test_the_best_rows_come_first_and_equal_ones_in_their_order():
    assert ranked_ids(SCORES, [], 3) == [["p1", "p2", "p4"], ["p2", "p0", "p1"]]


def test_rows_at_or_below_a_score_can_be_left_out():
    assert ranked_ids(SCORES, [2], 4, above=0) == [["p1", "p2", "p4", "p0"], ["p2"]]


def test_more_hits_than_rows_finds_all():
    assert ranked_ids([[1, 2]], [], 9) == [["p1", "p0"]]


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.lists(st.integers(0, 4), max_size=5),
    st.integers(1, 6),
)
def test_blocks_change_nothing(scores, sizes, hits):
    by_hand = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:hits]
    assert ranked_ids([scores], sizes, hits) == [[f"p{row}" for row in by_hand]]
