"""33 recorded judges of the LLMJudge challenge: what a cascade saves, and what can be promised."""

import pytest

from nuggetjudge.calibration.cascades import (
    Wanted,
    get_confidences,
    make_curve_report,
    make_fit_report,
)
from nuggetjudge.calibration.stored import read_stored
from nuggetjudge.judges.combined.confidence import Guarantee
from nuggetjudge.records.reading.problems import Problems

CHEAP = ("RMITIR-llama38b", "TREMA-4prompts", "prophet-setting1")
# The judge of each team that agrees best with people, by kappa.
SEVEN = (
    *("willia-umbrela1", "h2oloo-zeroshot1", "Olz-gpt4o", "RMITIR-llama70B"),
    *("NISTRetrieval-reason0", "TREMA-sumdecompose", "prophet-setting1"),
)


@pytest.fixture(scope="module")
def pairs(shared_data):
    path = shared_data / "dl23_llmjudge" / "pairs.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return path


def stored(pairs, members, **more):
    return read_stored(pairs, [pairs], Problems(), votes="llm", members=members, **more)


def figures(report):
    """(way, share) -> quadratic kappa, and accuracy on two sides of the cut."""
    return {
        (point["way"], point["share"]): (
            point["quadratic"]["value"],
            point["accuracy"] and point["accuracy"]["value"],
        )
        for point in report["points"]
    }


def test_at_half_the_dear_calls_disagreement_is_better_than_chance(pairs):
    cheap = stored(pairs, (*CHEAP, "willia-umbrela1"))
    points = figures(make_curve_report(cheap, "agreement", {"resamples": 0}, (0.0, 0.5, 1.0)))
    assert points["confidence", 0.5][0] >= 0.509
    assert points["random RMITIR-llama38b", 0.5][0] == pytest.approx(0.472, abs=5e-4)
    assert points["random", 0.5][0] == pytest.approx(0.501, abs=5e-4)
    assert points["panel", 0.0][0] == pytest.approx(0.453, abs=5e-4)
    assert (
        points["confidence", 1.0][0]
        == points["expensive", 1.0][0]
        == pytest.approx(0.551, abs=5e-4)
    )


@pytest.mark.slow
def test_calibrated_confidence_tells_right_from_wrong_on_other_topics(pairs):
    cheap = stored(pairs, (*CHEAP, "willia-umbrela1"), cut="2")
    report = make_curve_report(cheap, "calibrated", {"resamples": 0}, (0.5,))
    assert report["auroc"] >= 0.74
    assert report["has_texts"]
    points = figures(report)
    assert points["confidence", 0.5][1] >= 0.777
    assert points["random RMITIR-llama38b", 0.5][1] == pytest.approx(0.754, abs=0.003)
    blind = stored(pairs, (*CHEAP, "willia-umbrela1"), cut="2")
    assert (get_confidences(blind, "agreement") >= 0).all()


def test_a_promise_by_topic_holds_where_one_by_item_does_not(pairs):
    seven = stored(pairs, SEVEN, cut="2", to_people=True)
    wanted = Wanted(guarantee=Guarantee.model_validate({"agree": 0.8}))
    state, report = make_fit_report(seven, "agreement", wanted, splits=300)
    tried = report["guarantee"]["tried"]
    assert tried["topic"]["share"] <= 0.19
    assert tried["topic"]["kept"] >= 0.45
    assert 0.30 <= tried["item"]["share"] <= 0.40
    assert report["guarantee"]["design_effect"] > 10
    assert state.guarantee == wanted.guarantee
    assert report["kept_right"] >= 0.8
