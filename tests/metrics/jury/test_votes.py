"""What votes become: a wrong rule for ties would move labels without anybody seeing it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics.jury.votes import HOWS, TIES, combined

VOTES = st.lists(st.integers(0, 3), min_size=1, max_size=9)


# Counted by hand on a scale of 4.
@pytest.mark.parametrize(
    ("votes", "how", "between", "worst", "unjudged"),
    [
        ([0, 1, 1, 3], "vote", 1, 1, 1),
        ([0, 0, 2, 2, 3], "vote", 2, 0, None),  # the mean is 1.4
        ([0, 0, 3, 3], "vote", 0, 0, None),  # 1.5 is as near to both
        ([0, 2, 3], "median", 2, 2, 2),
        ([0, 0, 3, 3], "median", 1, 0, None),  # all from 0 to 3 lie in the middle, the mean 1.5
        ([1, 2], "median", 1, 1, None),
        ([0, 0, 3], "mean", 1, 1, 1),
        ([1, 2], "mean", 1, 1, None),
    ],
)
def test_a_tie_becomes_what_was_asked_for(votes, how, between, worst, unjudged):
    wanted = {"between": between, "worst": worst, "unjudged": unjudged}
    assert {ties: combined(votes, 4, how, ties) for ties in TIES} == wanted


@given(VOTES, st.sampled_from(HOWS), st.sampled_from(TIES), st.randoms())
def test_who_votes_first_changes_nothing(votes, how, ties, random):
    shuffled = random.sample(votes, len(votes))
    assert combined(shuffled, 4, how, ties) == combined(votes, 4, how, ties)


@given(VOTES, st.sampled_from(HOWS), st.sampled_from(TIES))
def test_a_label_lies_between_the_lowest_and_the_highest_vote(votes, how, ties):
    label = combined(votes, 4, how, ties)
    assert label is None or min(votes) <= label <= max(votes)


def test_without_votes_there_is_no_label():
    with pytest.raises(ValueError, match="wanted a vote"):
        combined([], 4, "vote")
