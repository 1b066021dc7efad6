"""Requests that go through a provider's batch API, and what comes back of them."""

import asyncio
import errno
import json
import os
import tempfile
import time
from types import SimpleNamespace

import pytest
from mock_api import Denied
from mock_batches import Lost, MockBatches
from mock_server import Says, Status, input_of

from nuggetjudge.backends import http, open_backend
from nuggetjudge.backends.batch import api as batch_api
from nuggetjudge.backends.batch.calls import BatchCalls
from nuggetjudge.backends.batch.ledger import Batches, Ledger, Sent, find_running_batches
from nuggetjudge.backends.budget import Budget, get_batch_price
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import BatchConfig, ModelConfig
from nuggetjudge.backends.errors import EndpointError, EndpointUnusable, JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.records.judgements import Reason
from nuggetjudge.records.reading.problems import InputError


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(batch_api, "FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(batch_api, "SHOWS_UP_S", 0.2)


@pytest.fixture
def server():
    with MockBatches() as up:
        yield up


@pytest.fixture
def open_batches(server, tmp_path):
    """Opens a gateway that asks in batches; its settings are BatchConfig's, then ModelConfig's.

    Without a cache given, each has an empty one.
    """
    caches = []

    def make(cache=None, budget=None, **settings):
        if cache is None:
            caches.append(cache := ReplyCache(tmp_path / f"replies-{len(caches)}"))
        names = BatchConfig.model_fields
        batch = {"quiet_s": 0.1, "poll_s": 0.05}
        batch |= {name: settings.pop(name) for name in list(settings) if name in names}
        given = {"model": "openai/mock", "api_base": server.base_url, "timeout_s": 5.0} | settings
        batches = Batches(BatchConfig(**batch), tmp_path / "journal" / "batches-x.jsonl")
        entry = ModelConfig(**given)
        return open_backend(entry, cache=cache, budget=budget, batches=batches)

    yield make
    for each in caches:
        each.close()


@pytest.fixture
def ask_all(support):
    """Asks a gateway about so many sentences at once; replies and errors by sentence."""

    def ask(gateway, sentences, *, close=True, replicate=0):
        names = sentences if isinstance(sentences, list) else [f"S{n}." for n in range(sentences)]

        async def go():
            inputs = ({"passage": "It rained.", "sentence": name} for name in names)
            asking = (gateway.ask(support, each, replicate) for each in inputs)
            async with asyncio.timeout(20):
                outcomes = await asyncio.gather(*asking, return_exceptions=True)
            if close:
                await gateway.aclose()
            return dict(zip(names, outcomes, strict=True))

        return run_sync(go())

    return ask


def sentence_of(body):
    return input_of(body)["sentence"]


def label_by_sentence(body):
    return {"verdict": ("full", "partial", "none")[int(sentence_of(body)[1:-1]) % 3]}


def verdicts(replies):
    return {name: str(reply.values["verdict"].value) for name, reply in replies.items()}


def kinds(outcomes):
    return {type(reply).__name__ for reply in outcomes.values()}


@pytest.fixture
def shown(server, monkeypatch):
    """Changes what a look at a batch shows: `shown(lambda row: row.update(status="odd"))`."""

    def use(change):
        def changed(stored, request):
            it = find(stored, request)
            if stored is not server.batches:
                return it
            row = it.shown()
            change(row)
            return SimpleNamespace(shown=lambda: row)

        find = server._by_id
        monkeypatch.setattr(server, "_by_id", changed)

    return use


def wait_until(is_so):
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_one_batch_answers_all_and_each_gets_its_own_reply(server, open_batches, ask_all):
    server.brain = label_by_sentence
    labels = verdicts(ask_all(open_batches(), 30))
    assert labels == {f"S{n}.": ("full", "partial", "none")[n % 3] for n in range(30)}
    assert server.calls.count("make") == 1
    assert len(server.requests) == 30
    [batch] = server.batches.values()
    bodies = [json.loads(line)["body"] for line in server.files["file-0"].content.splitlines()]
    assert bodies == [line["body"] for line in batch.lines]
    assert bodies[0]["response_format"]["type"] == "json_schema"  # what a request alone would say


def test_a_reply_is_the_one_that_a_request_alone_would_get(server, open_batches, support, ask_all):
    alone = open_backend(ModelConfig(model="openai/mock", api_base=server.base_url))
    assert ask_all(open_batches(logprobs=False), 5) == ask_all(alone, 5)


def test_log_probabilities_come_in_batches_too(server, open_batches, ask_all):
    replies = ask_all(open_batches(logprobs=True), 3)
    assert all(sum(r.probabilities["verdict"].values()) > 0.9 for r in replies.values())


def test_text_with_line_separators_comes_whole(server, open_batches, ask_all):
    name = "a\u2028b\u0085c \U0001f30a"
    server.brain = lambda body: {"verdict": "full", "said": sentence_of(body)}
    server.faults = lambda index, body: Says(json.dumps(name, ensure_ascii=False))
    error = ask_all(open_batches(reasks=0), [name])[name]
    assert error.raw == json.dumps(name, ensure_ascii=False)


@pytest.mark.parametrize(("limit", "sizes"), [("requests", [4, 4, 2]), ("megabytes", [3, 3, 3, 1])])
def test_a_full_file_is_sent_at_once(limit, sizes, server, open_batches, ask_all, monkeypatch):
    ask_all(open_batches(), 1)
    line = len(server.files["file-0"].content)
    server.batches.clear()
    if limit == "megabytes":
        monkeypatch.setattr(batch_api, "MAX_BATCH_BYTES", 3.9 * line)
    settings = {"requests": 4} if limit == "requests" else {}
    ask_all(open_batches(**settings), [f"T{n}." for n in range(10)])
    assert [len(batch.lines) for batch in server.batches.values()] == sizes
    if limit == "megabytes":
        uploads = [f for f in server.files.values() if f.purpose == "batch"]
        assert max(len(f.content) for f in uploads) <= 3.9 * line


def test_the_key_goes_with_every_call_and_is_kept_nowhere(
    monkeypatch, server, open_batches, ask_all, tmp_path
):
    monkeypatch.setenv("TIDE_KEY", "sk-tide-1234567890")
    server.api_key = "sk-tide-1234567890"
    assert kinds(ask_all(open_batches(api_key_env="TIDE_KEY"), 2)) == {"Reply"}
    assert b"sk-tide" not in b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    server.api_key = "another"
    error = ask_all(open_batches(api_key_env="TIDE_KEY"), ["A."])["A."]
    assert isinstance(error, EndpointUnusable)
    assert "api_key_env" in str(error)


def test_lines_that_failed_are_asked_again_and_the_others_are_not(server, open_batches, ask_all):
    server.brain = label_by_sentence
    failed = set()

    def fault(index, body):
        name = sentence_of(body)
        if int(name[1:-1]) % 4 or name in failed:
            return None
        failed.add(name)
        return Status(500)

    server.faults = fault
    replies = ask_all(open_batches(quiet_s=0.4), 12)
    assert verdicts(replies) == {f"S{n}.": ("full", "partial", "none")[n % 3] for n in range(12)}
    assert [len(batch.lines) for batch in server.batches.values()] == [12, 3]
    assert sorted({reply.provenance.attempts for reply in replies.values()}) == [1, 2]


def test_a_line_that_goes_on_failing_is_unjudged_alone(server, open_batches, ask_all, monkeypatch):
    server.faults = lambda i, body: Status(500) if sentence_of(body) < "S25" else None
    outcomes = ask_all(open_batches(retries=1, quiet_s=0.4), 40)
    lost = {name: error for name, error in outcomes.items() if isinstance(error, Exception)}
    assert len(lost) == 18  # more in a row than a dead endpoint is given
    assert {error.reason for error in lost.values()} == {Reason.ERROR}
    assert all("HTTP 500" in error.detail for error in lost.values())
    assert len(server.requests) == 40 + 18


def test_a_reply_that_is_no_judgement_is_asked_for_again(server, open_batches, ask_all):
    server.brain = label_by_sentence
    server.faults = [Says("I cannot say."), None, None]
    assert kinds(ask_all(open_batches(), 3)) == {"Reply"}
    assert [len(batch.lines) for batch in server.batches.values()] == [3, 1]


@pytest.mark.parametrize("position", ["first", "last"])
def test_a_line_over_the_bound_is_cut_off_and_the_others_are_read(
    position, server, open_batches, ask_all, monkeypatch
):
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 20_000)
    long, others = (
        ("S1.", ["S0.", "S2.", "S3."]) if position == "first" else ("S3.", ["S0.", "S1."])
    )
    server.brain = lambda body: '{"verdict": "full"}' + " " * 50_000 * (sentence_of(body) == long)
    outcomes = ask_all(open_batches(), sorted([long, *others]))
    error = outcomes.pop(long)
    assert error.reason is Reason.TRUNCATED
    assert "more than 20,000 bytes" in error.detail
    assert set(verdicts(outcomes).values()) == {"full"}
    assert len(server.requests) == len(others) + 1  # none is asked again


@pytest.mark.parametrize("other", ["label", "failure", "none"])
def test_lines_for_one_request_that_contradict_each_other_leave_it_unjudged(
    other, server, open_batches, ask_all
):
    server.brain = lambda body: {"verdict": "full"}

    def add_line(call, moment):
        if (call, moment) == ("download", "before"):
            [output] = (f for f in server.files.values() if f.purpose == "batch_output")
            row = json.loads(output.content.splitlines()[0]) | {"id": "another"}
            body = row["response"]["body"] | {"created": 7}
            if other == "label":
                body["choices"][0]["message"]["content"] = '{"verdict": "none"}'
            row["response"] |= {"body": body}
            if other == "failure":
                row |= {"response": None, "error": {"code": "batch_expired", "message": "late"}}
            output.content += b"\n" + json.dumps(row).encode()
            server.hook = lambda call, moment: None

    server.hook = add_line
    outcomes = ask_all(open_batches(), 3)
    lost = [error for error in outcomes.values() if isinstance(error, Exception)]
    assert len(lost) == (other != "none")
    assert all("2 results for one request, which differ" in error.detail for error in lost)
    assert len(server.requests) == 3  # which of the two is right, asking again would not say


def test_an_expired_batch_keeps_what_was_done_and_the_rest_is_asked_again(
    server, open_batches, ask_all
):
    server.ends.append("expired")
    assert kinds(ask_all(open_batches(quiet_s=0.4), 10)) == {"Reply"}
    assert [len(batch.lines) for batch in server.batches.values()] == [10, 5]
    assert len(server.requests) == 10


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
    assert "batches-x.jsonl can be deleted" in str(error)


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
    assert "batch batch_0 goes on (HTTP 503" in error.detail


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
    with pytest.raises(InputError, match=r"leave out run\.cache: false"):
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
    assert "goes on" in errors["S0."].detail
    server.held.clear()
    assert kinds(ask_all(open_batches(), 3)) == {"Reply"}
    assert len(server.batches) == 1
    assert len(server.requests) == 3


@pytest.fixture
def abandon(server, support):
    """Asks, and lets go of everything as a process does that ends, once so much has happened."""

    def go(gateway, sentences, is_so):
        async def run():
            inputs = ({"passage": "It rained.", "sentence": f"S{n}."} for n in range(sentences))
            tasks = [asyncio.create_task(gateway.ask(support, each)) for each in inputs]
            await asyncio.sleep(0)
            await asyncio.to_thread(wait_until, is_so)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await gateway.aclose()

        run_sync(run())

    return go


def test_a_batch_under_way_is_collected_by_the_next_who_asks(
    server, open_batches, ask_all, abandon, tmp_path
):
    server.brain = label_by_sentence
    server.held.set()
    abandon(open_batches(), 4, lambda: "look" in server.calls)
    assert list(find_running_batches(tmp_path / "journal")) == [("batch_0", 4)]
    server.held.clear()
    replies = ask_all(open_batches(), 6)  # two are new
    assert verdicts(replies) == {f"S{n}.": ("full", "partial", "none")[n % 3] for n in range(6)}
    assert [len(batch.lines) for batch in server.batches.values()] == [4, 2]


def test_a_batch_whose_id_was_never_heard_is_found_again(server, open_batches, ask_all, abandon):
    server.hook = lambda call, when: time.sleep(0.3 if (call, when) == ("make", "after") else 0)
    for n in range(120):  # it stands on the second page
        server.batches[f"old_{n}"] = type(
            "Old", (), {"id": f"old_{n}", "shown": lambda s: {"id": s.id}}
        )()
    server.batches, old = {}, server.batches
    abandon(open_batches(), 4, lambda: server.batches)
    server.batches |= old
    assert kinds(ask_all(open_batches(), 4)) == {"Reply"}
    assert server.calls.count("make") == 1
    assert server.calls.count("list") == 2


def test_a_file_without_a_batch_is_not_sent_up_again(server, open_batches, ask_all, abandon):
    def hook(call, when):
        if (call, when) == ("make", "before") and server.calls.count("make") == 1:
            raise Denied(503, "Overloaded.")

    server.hook = hook
    abandon(open_batches(), 4, lambda: "make" in server.calls)
    assert kinds(ask_all(open_batches(), 4)) == {"Reply"}
    assert server.calls.count("upload") == 1


@pytest.mark.parametrize("is_ahead", [True, False])
def test_a_clock_that_was_set_does_not_keep_a_batch_from_being_made(
    is_ahead, server, open_batches, ask_all, abandon, monkeypatch
):
    def hook(call, when):
        if (call, when) == ("make", "before") and server.calls.count("make") == 1:
            raise Denied(503, "Overloaded.")

    server.hook = hook
    then = time.time() + (3600 if is_ahead else -3600)
    clock = SimpleNamespace(time=lambda: then, monotonic=time.monotonic)
    with monkeypatch.context() as patch:
        patch.setattr(batch_api, "time", clock)
        abandon(open_batches(), 2, lambda: "make" in server.calls)
    assert kinds(ask_all(open_batches(), 2)) == {"Reply"}
    assert server.calls.count("upload") == 1


def test_a_list_that_repeats_its_pages_comes_to_an_end(
    server, open_batches, ask_all, abandon, monkeypatch
):
    def hook(call, when):
        if (call, when) == ("make", "before") and server.calls.count("make") == 1:
            raise Denied(503, "Overloaded.")

    async def same_pages(self, method, path, **options):
        if (method, path) != ("GET", "/batches"):
            return await ask(self, method, path, **options)
        assert len(pages) < 50
        pages.append("b" if options["params"].get("after") == "a" else "a")
        return {"data": [{"id": pages[-1]}], "has_more": True}

    ask, pages = BatchCalls._ask, []
    server.hook = hook
    abandon(open_batches(), 2, lambda: "make" in server.calls)
    monkeypatch.setattr(BatchCalls, "_ask", same_pages)
    monkeypatch.setattr(batch_api, "SHOWS_UP_S", 0.0)
    assert kinds(ask_all(open_batches(), 2)) == {"Reply"}
    assert pages[:3] == ["a", "b", "a"]


def test_replies_about_a_key_that_was_mended_are_asked_for_anew(
    server, open_batches, ask_all, abandon
):
    def left_by_another_run():
        server.held.set()
        n_looks = server.calls.count("look")
        abandon(open_batches(), 4, lambda: server.calls.count("look") > n_looks)
        server.held.clear()
        wait_until(lambda: all(batch.status == "completed" for batch in server.batches.values()))

    server.faults = lambda index, body: Status(401)
    left_by_another_run()
    assert kinds(ask_all(open_batches(), 4)) == {"EndpointUnusable"}
    assert [len(batch.lines) for batch in server.batches.values()] == [4, 4]
    left_by_another_run()
    server.faults = None
    assert kinds(ask_all(open_batches(), 4)) == {"Reply"}
    assert len(server.batches) == 4


def test_log_probabilities_that_are_no_json_keep_their_reply(
    server, open_batches, ask_all, monkeypatch
):
    def answer(line):
        row = known(line)
        token = {"token": "half a pair", "logprob": float("-inf")}
        content = [{**token, "top_logprobs": [token]}]
        row["response"]["body"]["choices"][0]["logprobs"] = {"content": content}
        return row

    def store(prefix, purpose, content):
        return keep(prefix, purpose, content.replace(b"half a pair", rb"\ud800"))

    known, keep = server._answer, server._store
    monkeypatch.setattr(server, "_answer", answer)
    monkeypatch.setattr(server, "_store", store)
    assert kinds(ask_all(open_batches(logprobs=True, retries=0), 3)) == {"Reply"}
    [content] = [f.content for f in server.files.values() if f.purpose == "batch_output"]
    assert b"-Infinity" in content
    assert rb"\ud800" in content


@pytest.fixture
def disk(monkeypatch, tmp_path):
    """`disk["room"] = 100`: the ledger grows by so many bytes and no further; None: by any."""
    ledger, room = tmp_path / "journal" / "batches-x.jsonl", {"room": None}

    def limited(to, data):
        left = room["room"]
        if left is None or os.fstat(to).st_ino != ledger.stat().st_ino:
            return write(to, data)
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        n_written = write(to, data[:left])
        room["room"] -= n_written
        return n_written

    write = os.write
    monkeypatch.setattr(os, "write", limited)
    return room


@pytest.mark.parametrize("room", [0, 100, 250, 350, 400, 450])
def test_a_full_disk_reaches_all_who_wait_and_the_ledger_stays_whole(
    room, open_batches, ask_all, disk, tmp_path
):
    disk["room"] = room
    assert "InputError" in kinds(ask_all(open_batches(), 6))
    for line in (tmp_path / "journal" / "batches-x.jsonl").read_bytes().splitlines():
        json.loads(line)
    disk["room"] = None
    assert kinds(ask_all(open_batches(), 6)) == {"Reply"}


@pytest.mark.parametrize("module", ["api", "calls"])
def test_a_full_folder_of_temporary_files_ends_all_who_wait_and_is_named(
    module, open_batches, ask_all, monkeypatch
):
    """Requests on their way up, and replies on their way down, wait in such a file."""
    full = SimpleNamespace(TemporaryFile=lambda: open("/dev/full", "w+b", buffering=0))  # noqa: SIM115
    monkeypatch.setattr(f"nuggetjudge.backends.batch.{module}.tempfile", full)
    outcomes = ask_all(open_batches(), 3)
    assert kinds(outcomes) == {"InputError"}
    what = f"{tempfile.gettempdir()}: cannot be written (No space left on device)"
    assert {str(error) for error in outcomes.values()} == {what}


def test_a_line_after_one_that_was_cut_short_is_read_again(disk, tmp_path):
    path = tmp_path / "journal" / "batches-x.jsonl"
    ledger = Ledger(path)
    disk["room"] = 50
    with pytest.raises(InputError, match=r"batches-x\.jsonl: cannot be written \(No space left"):
        ledger.plan(Sent("long", ["x" * 32] * 9))
    ledger.drop(Sent("long", []))  # never noted, so there is nothing to drop
    disk["room"] = None
    ledger.plan(Sent("short", ["y"]))
    ledger.close()
    assert list(Ledger(path).batches) == ["short"]


def test_a_reply_serves_once(server, open_batches, ask_all):
    """Another sample of the same question is another request, also in a later run."""
    gateway = open_batches(temperature=1.0)
    ask_all(gateway, 2, close=False)
    ask_all(gateway, 2, replicate=1)
    ask_all(open_batches(temperature=1.0), 2, replicate=2)
    assert len(server.requests) == 6


def test_equal_questions_are_one_request_and_replicates_are_two(server, open_batches, support):
    inputs = {"passage": "It rained.", "sentence": "S1."}
    gateway = open_batches(temperature=1.0)

    async def go():
        await asyncio.gather(*(gateway.ask(support, inputs, n) for n in (0, 0, 1)))
        await gateway.aclose()

    run_sync(go())
    [batch] = server.batches.values()
    assert len(batch.lines) == 2


def test_a_torn_line_is_dropped_and_a_broken_one_named(
    server, open_batches, ask_all, abandon, tmp_path
):
    server.held.set()
    abandon(open_batches(), 2, lambda: "look" in server.calls)
    server.held.clear()
    path = tmp_path / "journal" / "batches-x.jsonl"
    path.write_bytes(path.read_bytes() + b'{"batch":"12')
    assert kinds(ask_all(open_batches(), 2)) == {"Reply"}
    assert len(server.batches) == 1
    path.write_bytes(b'{"batch":"none","file":"file-0"}\n')
    with pytest.raises(InputError, match=r"batches-x.jsonl:1: not a line about a batch"):
        open_batches()


def test_the_cache_answers_before_a_batch_is_made(server, open_batches, ask_all, cache):
    ask_all(open_batches(cache=cache), 3)
    replies = ask_all(open_batches(cache=cache), 3)
    assert all(reply.provenance.cache_hit for reply in replies.values())
    assert len(server.batches) == 1


def test_a_batch_costs_half(server, open_batches, ask_all):
    price = {"input": 2.0, "output": 8.0, "cached_input": 1.0}
    entry = ModelConfig(model="openai/mock", api_base="http://127.0.0.1:1/v1", price=price)
    half = get_batch_price(entry)
    assert (half.input, half.output, half.cached_input) == (1.0, 4.0, 0.5)
    assert get_batch_price(ModelConfig(model="lexical")).input == 0
    assert get_batch_price(entry.model_copy(update={"price": None})) is None


def test_the_budget_holds_for_requests_in_one_batch(server, open_batches, ask_all):
    outcomes = ask_all(open_batches(budget=Budget(max_calls=3)), 5)
    assert len(server.requests) == 3
    refused = [error for error in outcomes.values() if isinstance(error, JudgeError)]
    assert [error.reason for error in refused] == [Reason.BUDGET] * 2
