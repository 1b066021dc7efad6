"""Topics drawn into train, dev and test: no topic in two, none left out, the same each time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.calibration.settings import split_folds, split_topics

TOPICS = [f"t{i}" for i in range(10)]
NAMES = st.lists(st.text(min_size=1), min_size=2, max_size=30, unique=True)


@given(NAMES, st.sampled_from([(0.4, 0.2, 0.4), (0.8, 0, 0.2), (0.05, 0.9, 0.05)]), st.integers(0))
def test_each_topic_is_in_one_part_and_train_and_test_have_some(topics, shares, seed):
    split = split_topics(topics, shares=shares, seed=seed)
    assert sorted([*split.train, *split.dev, *split.test]) == sorted(topics)
    assert split.train
    assert split.test
    assert bool(split.dev) == (shares[1] > 0 and len(topics) > 2)


def test_neither_order_nor_repetition_changes_the_split_and_the_seed_does():
    split = split_topics(TOPICS, seed=3)
    assert split_topics(TOPICS[::-1] * 2, seed=3) == split
    assert any(split_topics(TOPICS, seed=seed) != split for seed in range(3))


@given(NAMES, st.integers(2, 40), st.integers(0))
def test_folds_test_each_topic_once_by_all_others(topics, n_folds, seed):
    if n_folds > len(topics):
        with pytest.raises(ValueError, match=f"wanted 2 to {len(topics)} folds"):
            split_folds(topics, n_folds, seed=seed)
        return
    folds = split_folds(topics, n_folds, seed=seed)
    assert len(folds) == n_folds
    assert sorted(topic for fold in folds for topic in fold.test) == sorted(topics)
    assert all(sorted([*fold.train, *fold.test]) == sorted(topics) for fold in folds)
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    "shares", [(0.5, 0.5, 0), (0, 0.5, 0.5), (0.5, 0.1, 0.1), (1.2, -0.4, 0.2)]
)
def test_shares_that_leave_nothing_or_do_not_sum_to_one_are_refused(shares):
    with pytest.raises(ValueError, match="wanted shares"):
        split_topics(TOPICS, shares=shares)
