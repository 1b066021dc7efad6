"""What a leaderboard shows of values that rest on nothing, and of names that steer terminals."""

from nuggetjudge.cli.tables import leaderboard
from nuggetjudge.records.rows import ScoreRow


def mean(**changed):
    row = {"run_id": "r", "topic_id": "all", "measure": "A", "value": 0.25, "n": 3}
    row |= {"n_unjudged": 0, "low": 0.25, "high": 0.25, "n_topics": 2}
    return ScoreRow(**row | changed)


def cells(row):
    return leaderboard([row]).splitlines()[1].split()


def test_a_mean_of_which_no_judgement_arrived_is_a_dash_with_its_bounds():
    row = mean(value=0.0, n=0, n_unjudged=3, low=0.0, high=0.5)
    assert cells(row) == ["r", "-", "[0.000", "0.500]", "2", "0", "3"]
    assert cells(mean(value=None, n=0, n_unjudged=3, low=0.0, high=1.0))[1:2] == ["-"]


def test_a_run_that_answered_nothing_keeps_its_0():
    assert cells(mean(value=0.0, n=0, low=0.0, high=0.0)) == ["r", "0.0000", "2", "0", "0"]


def test_a_name_cannot_steer_the_terminal_or_break_its_line():
    shown = leaderboard([mean(run_id="a\x1b[2J\nb\x9b\ud800")])
    assert len(shown.splitlines()) == 2
    assert "a\\x1b[2J\\nb\\x9b\\ud800 " in shown


def test_letters_of_every_script_stay():
    assert "Gezeiten-潮汐-é " in leaderboard([mean(run_id="Gezeiten-潮汐-é")])
