"""What `python -m benchmarks.prompts` says of a judge is what its model replied."""

import pytest

pytest.importorskip("nuggetjudge.plugins", reason="benchmarks use judges of every annex")

from benchmarks.prompts.cases import Case
from benchmarks.prompts.comparing import make_comparison_view, make_ranking_view
from benchmarks.prompts.measuring import measure_case, prefix_share
from benchmarks.study.sets import Item
from mock_server import MockServer, Reply

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import NuggetAssigner, SupportJudge


def items(labels):
    return [
        Item({"topic_id": f"t{i}", "passage_id": "p"}, {"sentence": f"s{i}", "passage": "p"}, label)
        for i, label in enumerate(labels)
    ]


def measure(case, *replies, **settings):
    said = iter(replies)
    with MockServer(lambda body: next(said)) as server:
        entry = {"model": "openai/mock", "api_base": server.base_url, "reasks": 0, **settings}
        return measure_case(case, ModelConfig(**entry), 1)


def test_unreadable_replies_are_counted_by_reason_and_are_no_labels():
    people = ["full", "none", "full", "none"]
    case = Case("support", SupportJudge, items(people), scale=("none", "partial", "full"))
    found, asked = measure(
        case, {"verdict": "full"}, {"verdict": "none"}, "I cannot say.", {"verdict": "none"}
    )
    assert found["unreadable"] == {"unparseable": 1 / 4}
    assert found["labels"] == {"full": 1 / 3, "none": 2 / 3}
    assert found["kappa"][0] == 1.0
    assert [example["reply"] for example in found["unreadable_examples"]] == ["I cannot say."]
    assert len(asked) == 4


def test_a_lost_window_counts_as_all_that_it_asked_about():
    rows = [
        Item(
            {"topic_id": "t", "run_id": run, "nugget_id": str(i)},
            {"question": "q", "answer": run, "nugget": f"n{i}"},
            "support",
        )
        for run in "ab"
        for i in range(3)
    ]
    case = Case("assigner", NuggetAssigner, rows)
    found, _ = measure(case, {"verdicts": {str(i): "support" for i in (1, 2, 3)}}, "no")
    assert (found["n_calls"], found["n"]) == (2, 6)
    assert found["unreadable"] == {"unparseable": 1 / 2}
    assert found["labels"] == {"support": 1.0}


def test_probabilities_rank_where_the_label_is_always_the_same():
    """By hand: full in .9 and .4 of people's full, in .4 and .1 of the rest: 3.5 of 4 pairs."""
    people, chances = ["full", "full", "none", "partial"], [0.9, 0.4, 0.4, 0.1]
    case = Case("support", SupportJudge, items(people), scale=("none", "partial", "full"))
    replies = [
        Reply('{"verdict": "none"}', probabilities={"full": p, "partial": 0, "none": 1 - p})
        for p in chances
    ]
    found, _ = measure(case, *replies, logprobs=True)
    assert (found["accuracy"], found["kappa"][0]) == (1 / 4, 0)
    assert (found["auc"][0], found["n_scored"]) == (3.5 / 4, 4)
    view = make_ranking_view({"support": found})
    assert view.verdict == "No judge's probabilities rank better than chance (AUC .5)."
    sure = found | {"auc": [0.8, 0.6, 0.9]}
    assert make_ranking_view({"support": sure}).verdict.endswith("better than chance: support.")


def test_the_prefix_is_what_a_prompt_shares_with_the_one_before():
    assert prefix_share(["abcd", "abxy", "abxz"]) == 5 / 8
    assert prefix_share(["abcd"]) is None


def test_a_judge_with_more_unreadable_replies_than_before_is_named():
    def measured(share):
        row = {"n": 60, "unreadable": {"truncated": share}, "labels": {"yes": 1.0}, "prefix": 0.5}
        sizes = dict.fromkeys(("prompt_tokens", "reply_tokens", "without_probabilities"), 0.0)
        return {"judges": {"support": row | sizes}, "skipped": {}}

    worse = make_comparison_view(measured(0.1), measured(0.2))
    assert worse.verdict == "More unreadable replies than before: support."
    same = make_comparison_view(measured(0.2), measured(0.2))
    assert same.verdict == "No judge of 1 gives more unreadable replies than before."
