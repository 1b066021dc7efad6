"""Concurrency, rates and budget are the run's, not each worker's."""

import pytest
from mock_server import MockServer, Reply

pytest.importorskip("ray.cloudpickle", reason="Ray is not installed here (extra: ray)")
pytestmark = pytest.mark.usefixtures("kept_workers")

PRICE = ("models.default.price={input: 1.0, output: 2.0}",)


@pytest.fixture
def server():
    with MockServer() as up:
        yield up


@pytest.mark.parametrize("most", [1, 7, 40])
def test_no_more_calls_are_made_than_allowed(most, demo, server):
    result = demo(server, "ray", "support", **{"run.max_calls": most})
    assert len(server.requests) == most
    assert result.manifest["limit_reached"] == f"max_calls {most}"
    assert result.manifest["this_time"]["requests"] == most
    assert result.n_judged == most
    details = {row["detail"] for row in result.unjudged if row["reason"] == "budget"}
    assert details == {f"max_calls {most} reached, not asked"}


def test_a_limit_that_just_does_refuses_nothing(demo, server):
    n_calls = demo(server, "local", "support").manifest["this_time"]["requests"]
    server.clear()
    result = demo(server, "ray", "support", **{"run.max_calls": n_calls})
    assert result.is_complete
    assert result.manifest["limit_reached"] is None
    assert len(server.requests) == n_calls


@pytest.mark.parametrize("limit", ["max_cost", "max_tokens"])
def test_tokens_and_dollars_are_bounded(limit, demo, server):
    whole = demo(server, "local", "support", sets=PRICE).manifest["this_time"]
    most = whole["tokens"] // 3 if limit == "max_tokens" else whole["cost"] / 3
    ran = demo(server, "ray", "support", sets=PRICE, **{f"run.{limit}": most})
    assert 0.7 * most < ran.manifest["this_time"][limit.removeprefix("max_")] <= most


@pytest.mark.parametrize("size", [10, 3_000, 50_000])
@pytest.mark.parametrize("at_once", [1, 64])
@pytest.mark.parametrize("limit", ["max_cost", "max_tokens"])
def test_workers_pass_no_limit_together_though_nobody_said_how_long_replies_are(
    limit, at_once, size, demo, server
):
    server.brain = lambda body: Reply('{"verdict": "full"}', n_tokens=size, n_prompt=300)
    most = 30 * (300 + size) if limit == "max_tokens" else 30 * (300 + 2 * size) / 1e6
    ran = demo(
        server, "ray", "support", sets=PRICE, **{f"run.{limit}": most, "run.concurrency": at_once}
    )
    spent = ran.manifest["this_time"]
    assert len(server.requests) == spent["requests"]
    assert 0.7 * most < spent[limit.removeprefix("max_")] <= most * (1 + 1e-9)  # a sum of floats
    assert str(ran.manifest["limit_reached"]).startswith(limit)
    started = [request.started_s for request in server.requests]
    ended = [request.finished_s for request in server.requests]
    assert all(ended[i] <= started[i + 1] for i in range(3))  # by themselves, in all the cluster


def test_usage_is_that_of_a_local_run(demo, server):
    ways = ("local", "ray")
    local, ray = (demo(server, way, "support", sets=PRICE).manifest for way in ways)
    of_both = [{**m["this_time"], "seconds": 0} for m in (local, ray)]
    of_both = [{**spent, "cost": pytest.approx(spent["cost"])} for spent in of_both]
    assert of_both[0] == of_both[1]
    assert ray["tokens"] == local["tokens"]


@pytest.mark.parametrize("most", [1, 5])
def test_workers_share_the_concurrency(most, demo, server):
    server.latency_s = 0.02
    sets = [f"models.default.concurrency={most}"]
    demo(server, "ray", "support", sets=sets, **{"run.concurrency": 64})
    assert server.max_in_flight <= max(2, most)  # one for each worker at least
    server.clear()
    demo(server, "ray", "support", out="other", **{"run.concurrency": most})
    assert server.max_in_flight == most
