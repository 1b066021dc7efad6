"""What a stage of a cascade cost is known by the prices of all who answered, or not at all."""

import pytest

from nuggetjudge.calibration import stored
from nuggetjudge.programs.config.sections import Config

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
        monkeypatch.setattr(stored, "read_config_of", lambda path: config)
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
