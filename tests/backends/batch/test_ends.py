"""However a batch ends, each request has its reply or a reason, and what to do is told."""

import time

import pytest
from batch_replies import kinds
from mock_api import Denied
from mock_batches import Lost

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.batch import api as batch_api
from nuggetjudge.backends.batch.calls import BatchCalls
from nuggetjudge.backends.batch.ledger import Batches, find_running_batches
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.config import BatchConfig, ModelConfig
from nuggetjudge.backends.errors import EndpointError, EndpointUnusable, JudgeError
from nuggetjudge.records.reading.problems import InputError


def test_an_expired_batch_keeps_what_was_done_and_the_rest_is_asked_again(
    server, open_batches, ask_all
):
    server.ends.append("expired")
    assert kinds(ask_all(open_batches(quiet_s=0.4), 10)) == {"Reply"}
    assert [len(batch.lines) for batch in server.batches.values()] == [10, 5]
    assert len(server.requests) == 10


@pytest.mark.slow
def test_batches_that_always_expire_end_as_unjudged(server, open_batches, ask_all):
    server.ends.extend(["expired"] * 9)
    server.share_done = 0.0
    errors = ask_all(open_batches(retries=2, quiet_s=0.4), 2)
    assert kinds(errors) == {"EndpointLost"}
    assert "could not be executed" in errors["S0."].detail
    assert len(server.batches) == 3


def test_what_a_cancelled_batch_lacks_is_unjudged_and_not_sent_again(server, open_batches, ask_all):
    server.ends.append("cancelled")
    outcomes = ask_all(open_batches(), 10)
    lost = [error for error in outcomes.values() if isinstance(error, JudgeError)]
    assert len(lost) == 5
    assert len(server.batches) == 1


@pytest.mark.parametrize("end", [("model_not_found", "No such model."), ("mismatched_model", "")])
def test_a_file_that_is_not_taken_ends_the_run(end, server, open_batches, ask_all, tmp_path):
    server.ends.append(end)
    errors = ask_all(open_batches(), 3)
    assert kinds(errors) == {"EndpointUnusable"}
    assert end[0] in str(errors["S0."])
    assert kinds(ask_all(open_batches(), 3)) == {"Reply"}  # nothing was judged: asked anew
    assert list(find_running_batches(tmp_path / "journal")) == []


def test_a_batch_that_failed_for_no_reason_is_sent_again(server, open_batches, ask_all):
    server.ends.append(("", ""))
    assert kinds(ask_all(open_batches(quiet_s=0.4), 3)) == {"Reply"}
    assert [batch.status for batch in server.batches.values()] == ["failed", "completed"]


def test_where_too_much_is_enqueued_a_batch_waits_for_another(server, open_batches, ask_all):
    server.ends.extend(["completed", ("token_limit_exceeded", "Enqueued token limit reached.")])
    assert kinds(ask_all(open_batches(requests=3), 6)) == {"Reply"}
    ends = [batch.status for batch in server.batches.values()]
    assert ends == ["completed", "failed", "completed"]
    assert len(server.requests) == 6


def test_where_one_batch_alone_is_too_much_the_run_ends_with_what_to_do(
    server, open_batches, ask_all
):
    server.ends.append(("token_limit_exceeded", "Enqueued token limit reached."))
    error = ask_all(open_batches(), 2)["S0."]
    assert isinstance(error, EndpointUnusable)
    assert "run.batch.requests" in str(error)


def test_where_no_batch_has_room_the_run_ends_instead_of_each_waiting_for_the_others(
    server, open_batches, ask_all
):
    server.ends.extend([("token_limit_exceeded", "Enqueued token limit reached.")] * 3)
    outcomes = ask_all(open_batches(requests=2), 6)
    assert "EndpointUnusable" in kinds(outcomes)
    message = next(str(each) for each in outcomes.values() if isinstance(each, EndpointUnusable))
    assert "or wait until other batches of this account end" in message


def test_room_that_another_batch_left_before_the_failure_was_seen_is_used(
    server, open_batches, ask_all, monkeypatch
):
    server.ends.extend(["completed", ("token_limit_exceeded", "Enqueued token limit reached.")])
    looks = []

    async def see_the_first_one_end(self, sent):
        if sent.batch_id == "batch_1" and ("download" not in server.calls or len(looks) < 4):
            looks.append(sent)
            return {"id": "batch_1", "status": "validating"}
        return await look(self, sent)

    look = BatchCalls.look
    monkeypatch.setattr(BatchCalls, "look", see_the_first_one_end)
    assert kinds(ask_all(open_batches(requests=3), 6)) == {"Reply"}
    ends = [batch.status for batch in server.batches.values()]
    assert ends == ["completed", "failed", "completed"]


@pytest.mark.parametrize(
    "errors", [[{"code": "x", "message": "boom"}], {"data": ["boom"]}, ["boom"], "boom"]
)
def test_a_reason_in_another_shape_is_told(errors, server, open_batches, ask_all, shown):
    shown(lambda row: row.update(status="failed", errors=errors))
    error = ask_all(open_batches(), 1)["S0."]
    assert isinstance(error, EndpointUnusable)
    assert "boom" in str(error)


@pytest.mark.parametrize("status", [None, "rejected"])
def test_a_status_that_is_none_ends_the_run(status, server, open_batches, ask_all, shown):
    shown(lambda row: row.update(status=status))
    error = ask_all(open_batches(), 1)["S0."]
    assert isinstance(error, EndpointUnusable)
    assert f"unknown status: {status!r}" in str(error)


def test_results_that_are_named_a_moment_after_the_end_are_waited_for(
    server, open_batches, ask_all, shown
):
    early = [{"output_file_id": None}] * 2

    def hide(row):
        if row["status"] == "completed" and early:
            row.update(early.pop())

    shown(hide)
    assert kinds(ask_all(open_batches(), 3)) == {"Reply"}
    assert not early
    assert len(server.requests) == 3


def test_the_batch_of_somebody_else_under_an_id_of_ours_is_not_collected(
    server, open_batches, ask_all, abandon, tmp_path
):
    server.held.set()
    abandon(open_batches(), 2, lambda: "look" in server.calls)
    server.held.clear()
    server.batches["batch_0"].metadata = {"nuggetjudge": "another"}
    error = ask_all(open_batches(), 2)["S0."]
    assert isinstance(error, EndpointUnusable)
    assert "batches-x.jsonl to send its requests anew" in str(error)


@pytest.mark.parametrize("call", ["upload", "make", "look", "download"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("fault", [Lost(), Denied(503, "Overloaded.")])
def test_a_call_that_fails_is_made_again_and_nothing_is_sent_twice(
    call, moment, fault, server, open_batches, ask_all
):
    left = [fault, fault]

    def hook(name, when):
        if (name, when) == (call, moment) and left:
            raise left.pop()

    server.hook = hook
    assert kinds(ask_all(open_batches(), 4)) == {"Reply"}
    assert len(left) == ((call, moment) == ("make", "after"))  # found, so not asked twice
    assert len(server.batches) == 1
    assert len(server.requests) == 4


@pytest.mark.parametrize("call", ["look", "download"])
def test_a_batch_that_was_made_is_not_given_up_and_counts_once(
    call, server, open_batches, ask_all, monkeypatch
):
    monkeypatch.setattr(batch_api, "TRIES", 2)
    left = [Lost()] * 8

    def hook(name, when):
        if (name, when) == (call, "before") and left:
            raise left.pop()

    server.hook = hook
    budget = Budget(max_calls=4)
    assert kinds(ask_all(open_batches(budget=budget, retries=1), 4)) == {"Reply"}
    assert not left
    assert budget.usage.requests == len(server.requests) == 4


@pytest.mark.slow
def test_a_wait_that_the_endpoint_asks_for_is_kept_up_to_a_limit(
    open_batches, ask_all, monkeypatch
):
    asked, at = [0.5, 1000.0], []

    async def busy(self, sent):
        at.append(time.monotonic())
        if asked:
            raise EndpointError("busy", retryable=True, retry_after_s=asked.pop(0))
        return await look(self, sent)

    look = BatchCalls.look
    monkeypatch.setattr(BatchCalls, "look", busy)
    monkeypatch.setattr(batch_api, "MAX_RETRY_AFTER_S", 1.0)
    assert kinds(ask_all(open_batches(), 1)) == {"Reply"}
    assert at[1] - at[0] >= 0.5
    assert 1 <= at[2] - at[1] < 10


def test_a_judgement_that_came_too_late_says_what_kept_it(server, open_batches, ask_all):
    def hook(name, when):
        if name == "look":
            raise Denied(503, "Overloaded.")

    server.hook = hook
    error = ask_all(open_batches(hours=0.5 / 3600), 1)["S0."]
    assert "batch batch_0 is still running (HTTP 503" in error.detail


def test_an_endpoint_without_batches_is_named(server, open_batches, ask_all):
    def hook(name, when):
        raise Denied(404, "Not Found")

    server.hook = hook
    error = ask_all(open_batches(), 1)["S0."]
    assert isinstance(error, EndpointUnusable)
    assert "run.executor: local" in str(error)


def test_no_batches_without_a_cache_to_replay_rounds_from(server, tmp_path):
    entry = ModelConfig(model="openai/mock", api_base=server.base_url)
    batches = Batches(BatchConfig(), tmp_path / "batches-x.jsonl")
    with pytest.raises(InputError, match=r"Remove run\.cache: false"):
        open_backend(entry, batches=batches)


def test_no_batches_by_way_of_litellm(open_batches):
    with pytest.raises(InputError, match="LiteLLM"):
        open_batches(model="anthropic/some-model", api_base=None)


def test_a_judgement_that_takes_too_long_is_unjudged_and_its_batch_is_collected_later(
    server, open_batches, ask_all
):
    server.held.set()
    errors = ask_all(open_batches(hours=0.5 / 3600), 3)
    assert kinds(errors) == {"EndpointLost"}
    assert "is still running" in errors["S0."].detail
    server.held.clear()
    assert kinds(ask_all(open_batches(), 3)) == {"Reply"}
    assert len(server.batches) == 1
    assert len(server.requests) == 3
