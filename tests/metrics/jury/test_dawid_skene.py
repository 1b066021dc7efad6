"""Dawid and Skene's model, by hand and by another implementation."""

from itertools import pairwise

import numpy as np
import pytest

from nuggetjudge.metrics.jury.dawid_skene import dawid_skene

VOTES = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, -1]])


# By hand. The shares of the votes are (1/3, 2/3), (2/3, 1/3), (1/3, 2/3), (1, 0): their means 7/12
# and 5/12. Judge 1 says 0 where 0 is true with (2/3 + 1) / (7/3) = 5/7, where 1 is true with
# (1/3) / (5/3) = 1/5; judge 2 with 6/7 and 3/5; judge 3 with (1/3) / (4/3) = 1/4 and 2/5.
def test_one_step_is_what_a_hand_computes():
    fit = dawid_skene(VOTES, 2, most_steps=1)
    assert fit.shares == pytest.approx([7 / 12, 5 / 12])
    assert fit.confusions[:, :, 0] == pytest.approx(
        np.array([[5 / 7, 1 / 5], [6 / 7, 3 / 5], [1 / 4, 2 / 5]])
    )
    low = 7 / 12 * (2 / 7) * (1 / 7) * (1 / 4)
    high = 5 / 12 * (4 / 5) * (2 / 5) * (2 / 5)
    assert fit.probabilities[0] == pytest.approx([low / (low + high), high / (low + high)])
    assert not fit.converged


# crowd-kit 1.4.2, DawidSkene(n_iter=3, tol=0).fit_predict_proba, on these votes of four judges.
TABLE = (
    "0001 0010 0000 0102 00-0 0000 1000 0020 0010 0-00 0100 0000 2001 0000 0010 "
    "1110 1121 0111 1110 1-11 1211 1110 1101 1111 1012 2221 2202 1222 222- 2122"
)
AFTER_3_STEPS = {
    0: (0.985224992, 0.014295172, 0.000479836),
    3: (0.836339051, 0.143833106, 0.019827843),
    15: (0.021128226, 0.978871691, 0.000000083),
    23: (0.001644654, 0.998071280, 0.000284066),
    26: (0.000000271, 0.000156036, 0.999843693),
    28: (0.000000110, 0.000227110, 0.999772780),
}


def test_the_probabilities_are_those_of_another_implementation():
    votes = np.array([[-1 if c == "-" else int(c) for c in row] for row in TABLE.split()])
    probabilities = dawid_skene(votes, 3, most_steps=3).probabilities
    for item, wanted in AFTER_3_STEPS.items():
        assert probabilities[item] == pytest.approx(wanted, abs=1e-9)


def test_more_steps_never_make_the_votes_less_likely():
    rng = np.random.default_rng(3)
    votes = rng.integers(-1, 3, (60, 4))
    votes[:, 0] = np.where((votes < 0).all(1), 0, votes[:, 0])
    likelihoods = [dawid_skene(votes, 3, most_steps=n).log_likelihood for n in range(1, 20)]
    assert all(after >= before - 1e-9 for before, after in pairwise(likelihoods))


def test_skill_is_found_without_the_truth():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 3000)
    skill = (0.9, 0.8, 0.7, 0.4, 0.34)
    votes = np.stack(
        [
            np.where(rng.random(3000) < p, truth, (truth + rng.integers(1, 3, 3000)) % 3)
            for p in skill
        ],
        axis=1,
    )
    fit = dawid_skene(votes, 3)
    assert fit.converged
    right = np.einsum("mcc->m", fit.confusions) / 3
    assert right == pytest.approx(skill, abs=0.03)
    majority = np.array([np.bincount(row, minlength=3).argmax() for row in votes])
    assert (fit.codes == truth).mean() > (majority == truth).mean() + 0.02


@pytest.mark.parametrize(
    ("votes", "what"),
    [([[0, 2], [1, 1]], r"votes\[0, 1\] is 2"), ([[0, 1], [-1, -1]], r"votes\[1\] is empty")],
)
def test_what_is_no_vote_is_named(votes, what):
    with pytest.raises(ValueError, match=what):
        dawid_skene(np.array(votes), 2)
