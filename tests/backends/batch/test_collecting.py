"""A later run collects the batches of an earlier one, whatever disk, clock and list do."""

import asyncio
import json
import tempfile
import time
from types import SimpleNamespace

import pytest
from batch_replies import kinds, label_by_sentence, verdicts, wait_until
from mock_api import Denied
from mock_server import Status

from nuggetjudge.backends.batch import api as batch_api
from nuggetjudge.backends.batch.calls import BatchCalls
from nuggetjudge.backends.batch.ledger import Ledger, Sent, find_running_batches
from nuggetjudge.backends.budget import Budget, get_batch_price
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.records.judgements import Reason
from nuggetjudge.records.reading.problems import InputError


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
