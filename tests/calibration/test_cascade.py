"""What a stage of a cascade costs, saves and can promise."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from nuggetjudge.calibration import stored
from nuggetjudge.calibration.cascades import (
    Wanted,
    fit_logistic,
    get_confidences,
    make_curve_report,
    make_fit_report,
)
from nuggetjudge.calibration.stored import read_stored
from nuggetjudge.judges.combined.confidence import Guarantee
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.records.reading.problems import Problems

# What a stage of a cascade cost is known by the prices of all who answered, or not at all.
PRICES = {
    "default": {"input": 2.0, "output": 8.0, "cached_input": 1.0},
    "dear": {"input": 20.0, "output": 80.0},
    "unpriced": None,
}
TOLD = {"prompt": 1_000_000, "cached": 500_000, "completion": 100_000}
ONE = 0.5 * 2 + 0.5 * 1 + 0.1 * 8  # dollars for TOLD by the default model


@pytest.fixture
def dollars(tmp_path, monkeypatch):
    def of(judge, tokens_by, first="openai/x"):
        models = {
            name: {
                "model": first if name == "default" else "openai/x",
                "api_base": "http://127.0.0.1:9/v1",
                "price": price,
            }
            for name, price in PRICES.items()
        }
        if first == "lexical":
            models["default"] = {"model": first}
        config = Config.model_validate({"models": models, "judges": {"support": judge}})
        manifest = {"judges": {"support": {}}, "judged": {"support": 4}, "tokens_by": tokens_by}
        monkeypatch.setattr(stored, "read_manifest", lambda path: manifest)
        monkeypatch.setattr(stored, "read_folder_config", lambda path: config)
        return stored.dollars(tmp_path)

    return of


def test_each_kind_of_tokens_has_its_price_and_each_member_of_a_jury_its_own(dollars):
    assert dollars({}, {"x": TOLD}) == pytest.approx(ONE / 4)
    jury = {"jury": {"members": ["default", "dear"]}}
    said = {"default: x": TOLD, "dear: x": TOLD}
    assert dollars(jury, said) == pytest.approx((ONE + 20 + 8) / 4)


def test_without_the_price_of_one_of_them_nothing_is_known(dollars):
    jury = {"jury": {"members": ["default", "unpriced"]}}
    assert dollars(jury, {"default: x": TOLD, "unpriced: x": TOLD}) is None


@pytest.mark.parametrize("first", ["openai/x", "lexical"])
def test_what_a_verifier_took_is_not_taken_for_the_first_judges(first, dollars):
    verify = {"verify": {"model": "dear", "when": {"labels": ["partial"]}}}
    assert dollars(verify, {"x": TOLD}, first) is None


# 33 recorded judges of the LLMJudge challenge: what a cascade saves, and what can be promised.
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


def dl23_stored(pairs, members, **more):
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
    cheap = dl23_stored(pairs, (*CHEAP, "willia-umbrela1"))
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
    cheap = dl23_stored(pairs, (*CHEAP, "willia-umbrela1"), cut="2")
    report = make_curve_report(cheap, "calibrated", {"resamples": 0}, (0.5,))
    assert report["auroc"] >= 0.74
    assert report["has_texts"]
    points = figures(report)
    assert points["confidence", 0.5][1] >= 0.777
    assert points["random RMITIR-llama38b", 0.5][1] == pytest.approx(0.754, abs=0.003)
    blind = dl23_stored(pairs, (*CHEAP, "willia-umbrela1"), cut="2")
    assert (get_confidences(blind, "agreement") >= 0).all()


def test_a_promise_by_topic_holds_where_one_by_item_does_not(pairs):
    seven = dl23_stored(pairs, SEVEN, cut="2", to_people=True)
    wanted = Wanted(guarantee=Guarantee.model_validate({"agree": 0.8}))
    state, report = make_fit_report(seven, "agreement", wanted, splits=300)
    tried = report["guarantee"]["tried"]
    assert tried["topic"]["share"] <= 0.19
    assert tried["topic"]["kept"] >= 0.45
    assert 0.30 <= tried["item"]["share"] <= 0.40
    assert report["guarantee"]["design_effect"] > 10
    assert state.guarantee == wanted.guarantee
    assert report["kept_right"] >= 0.8


# The weights of features that say whether a label is right, against scikit-learn.
@pytest.mark.parametrize("n", [50, 2000])
def test_weights_are_those_of_scikit_learn_on_standardised_features(n):
    rng = np.random.default_rng(n)
    table = rng.normal(3, [0.1, 1, 40], (n, 3))
    right = rng.random(n) < 1 / (1 + np.exp(-(8 * (table[:, 0] - 3) + table[:, 1] - 2)))
    scaled = (table - table.mean(0)) / table.std(0)
    expected = LogisticRegression(C=1.0, tol=1e-12, solver="newton-cholesky").fit(scaled, right)
    weights, intercept = fit_logistic(table, right)
    assert weights * table.std(0) == pytest.approx(expected.coef_[0], abs=1e-6)
    assert table @ weights + intercept == pytest.approx(
        expected.decision_function(scaled), abs=1e-6
    )


def test_features_that_tell_right_from_wrong_exactly_have_an_end():
    table = np.repeat([[0.0, 5.0], [1.0, 5.0]], 30, axis=0)
    weights, intercept = fit_logistic(table, table[:, 0] == 1)
    assert weights[1] == 0, "a feature that is the same for all weighs nothing"
    assert np.isfinite([*weights, intercept]).all()
    assert weights[0] > 2
