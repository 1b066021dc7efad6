"""A value that is none is told which there are, and which was meant."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ("figure", "leaderbord", ".", "--out", "x.svg"),
            "'leaderbord' is not one of leaderboard, tau, topics, length; did you mean",
            marks=pytest.mark.whole,
        ),
        pytest.param(
            *(("annotate", ".", "--kind", "nugget"), "bank, verify; did you mean nuggets?"),
            marks=pytest.mark.whole,
        ),
        (
            ("run", "demo/judge.yaml", "--set", "models.default.engine=litelm"),
            "or 'recorded', got 'litelm'; did you mean litellm?",
        ),
    ],
)
def test_a_mistyped_value_is_told_which_was_meant(arguments, message, judge, example):
    ran = judge(*arguments)
    assert ran.code == 2
    assert message in " ".join(ran.err.split())
    assert "Value error" not in ran.err
