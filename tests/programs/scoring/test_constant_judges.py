"""A judge, or a member of a jury, that says the same of everything is said to do so, wherever."""

import json
import warnings

import pytest
from mock_server import MockServer, input_of
from models_by_name import demo_of, models_that_say

import nuggetjudge as nj
from nuggetjudge.programs.engine.manifest import constant_judges

OWN = """\
name: tone
question: Is it kind?
inputs: {text: a text}
labels: {no: 0, yes: 1}
"""
SAID = "same label"


@pytest.fixture
def items(tmp_path):
    """`items(n)`: settings of a run over n items, and what the model is told of each."""
    (tmp_path / "tone.yaml").write_text(OWN, encoding="utf-8")

    def made(n, server):
        path = tmp_path / f"items-{n}.jsonl"
        rows = [{"topic_id": f"t{i}", "run_id": "r", "text": f"text {i}"} for i in range(n)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return {
            "program": "items",
            "items": path,
            "judge": tmp_path / "tone.yaml",
            "model": {"model": "hosted_vllm/mock", "api_base": server.base_url},
            "cache": tmp_path / "cache",
            "out": tmp_path / f"out-{n}",
        }

    return made


def said_by(ran):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ran()
    return result, [str(one.message) for one in caught if SAID in str(one.message)]


def test_a_judge_is_said_to_give_one_label_from_fifteen_items_on(items):
    with MockServer(brain=lambda body: {"label": "no"}) as server:
        result, (what,) = said_by(lambda: nj.run(**items(15, server)))
        assert what.startswith("Judge item gave all 15 items the same label (no)")
        assert result.manifest["labels"] == {"item": {"no": 15}}
        assert said_by(lambda: nj.run(**items(14, server)))[1] == []


@pytest.mark.whole
def test_the_report_says_that_a_judge_gives_one_label(items):
    with MockServer(brain=lambda body: {"label": "no"}) as server:
        result, _ = said_by(lambda: nj.run(**items(15, server)))
    page = result.report(open=False).read_text(encoding="utf-8")
    assert "Judge item gave all 15 items the same label (no)" in page


def test_one_other_label_is_enough(items):
    brain = {"label": "no"}, {"label": "yes"}
    with MockServer(brain=lambda body: brain[input_of(body)["text"] == "text 3"]) as server:
        assert said_by(lambda: nj.run(**items(15, server)))[1] == []


def test_an_evaluation_in_memory_warns_too(tmp_path, items):
    with MockServer(brain=lambda body: {"verdict": "none"}) as server:
        samples = [
            {"question": f"q {i}", "answer": f"Fact {i} [1].", "contexts": [f"text {i}"]}
            for i in range(15)
        ]
        model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        _, said = said_by(lambda: nj.evaluate(samples, "support", model=model, quiet=True))
    assert [what.split(" the same")[0] for what in said] == ["Judge support gave all 15 items"]


def test_a_dead_member_of_a_jury_is_said(tmp_path):
    """Together with a judge that tells items apart it drags every label down, without a word."""
    says = {"a": lambda asked: {"verdict": ("none", "full")[len(asked["sentence"]) % 2]}}
    says["dead"] = lambda asked: {"verdict": "none"}
    with models_that_say(says) as server:
        jury = {"members": ["a", "dead"], "how": "median"}
        config = demo_of(server, tmp_path, {"program": "support", "judges.support.jury": jury})
        result, said = said_by(lambda: nj.run(config))
    n = sum(result.manifest["labels"]["support.dead"].values())
    start = f"Member dead of judge support gave all {n} items the same label (none)"
    assert [what.startswith(start) for what in said] == [True]
    assert list(constant_judges(result.manifest)) == said  # not of the jury, whose labels differ
