"""The 33 recorded judges of the LLMJudge challenge: what a panel is worth, and what it is not."""

from dataclasses import replace

import pytest

from nuggetjudge.calibration.ballots import read_ballots
from nuggetjudge.calibration.juries import compare_methods, measure_together
from nuggetjudge.records.reading.problems import Problems


@pytest.fixture(scope="module")
def ballots(shared_data):
    path = shared_data / "dl23_llmjudge" / "pairs.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return read_ballots([path], Problems(), labels=path, votes="llm")


def test_the_labels_of_33_judges_are_read(ballots):
    assert ballots.votes.shape == (2762, 33)
    assert ballots.scale == ("0", "1", "2", "3")
    assert ballots.n_off_scale == 1  # a published label of 5


@pytest.mark.slow
def test_33_judges_are_worth_3_votes(ballots):
    worth = measure_together(ballots)
    assert worth.worth.value == pytest.approx(2.7, abs=0.05)


def test_without_labels_of_people_the_worth_is_more_than_it_is(ballots):
    blind = replace(ballots, truth=ballots.truth * 0 - 1)
    worth = measure_together(blind)
    assert not worth.by_people
    assert worth.worth.value > 2 * 2.67 * 0.9


@pytest.mark.slow
def test_the_votes_of_all_are_no_better_than_one_judge_chosen_on_other_topics(ballots):
    by_name = {way.name: way for way in compare_methods(ballots, "quadratic", {"resamples": 200})}
    value = {name: way.value.value for name, way in by_name.items()}
    assert value["single, best of these (willia-umbrela1)"] == pytest.approx(0.551, abs=5e-4)
    assert value["single, chosen on other topics"] == pytest.approx(0.508, abs=5e-4)
    assert value["vote"] == pytest.approx(0.500, abs=0.005)
    assert value["median"] == pytest.approx(0.514, abs=0.005)
    assert value["Dawid-Skene, each topic by itself"] == pytest.approx(0.514, abs=0.005)
    assert by_name["vote"].less_chosen.low < 0 < by_name["vote"].less_chosen.high
    assert all(way.n + way.n_unlabelled == 2762 for way in by_name.values())
