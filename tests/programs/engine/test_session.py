"""A session judges what is missing of a stage and hands the outcomes out in its order, counted."""

import asyncio
import hashlib
import io
import itertools
import re
import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest
from mock_server import MockServer, Status

import nuggetjudge as nj
from nuggetjudge.backends.budget import Budget, Usage
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.judges import Verdict
from nuggetjudge.programs.config import base
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine import session as progress
from nuggetjudge.programs.engine import session as sessions
from nuggetjudge.programs.engine.journal import Journal
from nuggetjudge.programs.engine.judge_set import JudgeSet
from nuggetjudge.programs.engine.results import Results
from nuggetjudge.programs.engine.session import Session
from nuggetjudge.programs.engine.stage import (
    Item,
    Stage,
    Work,
    find_unjudged,
    labels,
    make_rows,
    run_here,
)
from nuggetjudge.records.judgements import Judged, Provenance, Reason, Unjudged
from nuggetjudge.records.reading.problems import InputError

ITEMS = [Item({"topic_id": f"t{i}"}, (f"text {i}",), n=2) for i in range(3)]


class Judge:
    """Gives its answer to each item, or whatever `by_topic` has; notes what it was asked."""

    def __init__(self, answer="old", by_topic=None):
        self.answer, self.by_topic, self.asked = answer, by_topic or {}, []

    async def ask(self, item):
        topic = item.ids["topic_id"]
        self.asked.append(topic)
        await asyncio.sleep(0.01 / len(self.asked))  # the last one is ready first
        label = self.by_topic.get(topic, self.answer)
        return Judged({"label": label}, (CALL,)) if isinstance(label, str) else label


CALL = Provenance(model="m", prompt_tokens=10, cached_tokens=4, completion_tokens=2)
LOST = Unjudged(Reason.UNPARSEABLE, "no JSON")
DOWN = Unjudged(Reason.ERROR, "502")


@pytest.fixture
def judged(tmp_path):
    """Judges the items in one folder; returns the outcomes and what the results counted."""

    def run(judge, items=ITEMS, retry=False, settings=None, judges=(), **run_settings):
        flags = {f"run.{name}": value for name, value in run_settings.items()}
        config = load_config(None, {"run.out": tmp_path / "out", **flags})
        budget = Budget()
        judge_set = JudgeSet(config, cache=None, budget=budget)
        for name in judges:
            _ = judge_set[name]  # built, as a program does before it judges
        session = Session(config, judge_set, budget, retry=retry, quiet=True)
        stage = Stage("some", judges, lambda: iter(items), judge.ask, settings)

        async def go():
            with Results(tmp_path / "out", []) as results:
                async with session.judge_stage(stage, results) as outcome:
                    return [outcome(item) for item in items], results

        return asyncio.run(go())

    return run


def session_labels(outcomes):
    return [o.values["label"] if isinstance(o, Judged) else o.reason for o in outcomes]


def test_outcomes_come_in_the_order_of_the_items_whichever_was_ready_first(judged):
    outcomes, results = judged(Judge(by_topic={"t0": "a", "t1": "b", "t2": "c"}))
    assert session_labels(outcomes) == ["a", "b", "c"]
    assert results.n_judged == {"some": 6}  # each item stands for two
    assert results.tokens == {"prompt": 30, "cached": 12, "completion": 6}
    assert dict(results.tokens_by) == {"m": results.tokens}


def test_what_is_in_the_journal_is_not_asked_again(judged):
    judged(Judge("old"), ITEMS[:2])
    judge = Judge("new")
    assert session_labels(judged(judge)[0]) == ["old", "old", "new"]
    assert judge.asked == ["t2"]


def test_offline_judges_anew_and_takes_nothing_from_an_offline_run_before_it(judged):
    judged(Judge("online"))
    first, second = Judge("old"), Judge("new")
    assert session_labels(judged(first, offline=True)[0]) == ["old"] * 3
    assert session_labels(judged(second, offline=True)[0]) == ["new"] * 3
    assert first.asked == second.asked == ["t0", "t1", "t2"]
    assert session_labels(judged(Judge("later"))[0]) == ["online"] * 3  # whose journal stays


def test_what_was_made_comes_in_order_by_its_ids_and_none_where_it_was_not(tmp_path):
    async def ask(item):
        topic = item.ids["topic_id"]
        await asyncio.sleep(0.01 if topic == "t0" else 0)
        return LOST if topic == "t1" else Judged({"made": topic.upper()}, (CALL,))

    config, budget = load_config(None, {"run.out": tmp_path / "out"}), Budget()
    judge_set = JudgeSet(config, cache=None, budget=budget)
    session = Session(config, judge_set, budget, retry=False, quiet=True)

    async def go():
        with Results(tmp_path / "out", []) as results:
            made = await session.make_stage(Stage("some", (), lambda: iter(ITEMS), ask), results)
            return made, results

    made, results = asyncio.run(go())
    assert made == [
        ({"topic_id": "t0"}, "T0"),
        ({"topic_id": "t1"}, None),
        ({"topic_id": "t2"}, "T2"),
    ]
    assert (results.n_judged, results.n_unjudged) == ({"some": 4}, {"some": 2})


def test_other_settings_are_other_judgements(judged):
    judged(Judge("old"), settings={"keep": 1})
    assert session_labels(judged(Judge("new"), settings={"keep": 2})[0]) == ["new"] * 3
    assert session_labels(judged(Judge("newer"), settings={"keep": 1})[0]) == ["old"] * 3


def test_what_a_model_failed_at_is_asked_again_on_retry(judged):
    failed = Unjudged(Reason.UNPARSEABLE, "prose", "Well...")
    judged(Judge(by_topic={"t1": failed}))
    assert session_labels(judged(Judge("new"))[0]) == ["old", Reason.UNPARSEABLE, "old"]
    assert session_labels(judged(Judge("new"), retry=True)[0]) == ["old", "new", "old"]


def test_an_item_without_its_text_is_unjudged_and_moves_no_other(judged, tmp_path):
    items = [ITEMS[0], Item({"topic_id": "t1"}, None, 3, "p9 has no text"), ITEMS[2]]
    judge = Judge(by_topic={"t0": "a", "t2": "c"})
    outcomes, results = judged(judge, items)
    assert judge.asked == ["t0", "t2"]
    assert session_labels(outcomes) == ["a", Reason.NO_PASSAGE, "c"]
    assert outcomes[1].detail == "p9 has no text"
    assert (results.n_judged["some"], results.n_unjudged["some"]) == (4, 3)
    assert results.missing == {"t1": ("some", Reason.NO_PASSAGE)}
    assert results.share_missing == 3 / 7


def test_an_error_closes_the_journal_and_keeps_what_was_judged(judged, tmp_path):
    class Broken(Judge):
        async def ask(self, item):
            if item.ids["topic_id"] == "t2":
                raise ZeroDivisionError
            return await super().ask(item)

    with pytest.raises(ZeroDivisionError):
        judged(Broken("old"), concurrency=1)
    judge = Judge("new")
    assert session_labels(judged(judge)[0]) == ["old", "old", "new"]


def test_of_a_window_what_was_not_judged_is_counted_and_listed_by_itself(judged):
    rows = [{"label": "yes"}, {"unjudged": ["ungrounded", "no quote", "raw"]}]
    items = [Item({"topic_id": "t0", "nuggets": ["n1", "n2"]}, (["a", "b"],), n=2)]
    _, results = judged(Judge(Judged({"verdicts": rows}, (CALL,))), items)
    assert (results.n_judged, results.n_unjudged) == ({"some": 1}, {"some": 1})
    assert results.reasons == {"ungrounded": 1}


def test_an_endpoint_that_fails_at_all_of_a_stage_ends_the_run_and_one_that_replies_does_not(
    judged,
):
    down = Judge(by_topic={"t0": DOWN, "t1": LOST, "t2": DOWN})
    assert session_labels(judged(down, judges=("support",))[0]) == ["error", "unparseable", "error"]
    with pytest.raises(EndpointUnusable, match="none of 3 judgements could be made; the last: 502"):
        judged(Judge(DOWN), judges=("support",), settings="others")


class Elsewhere:
    """An executor of another package: gives the same answer to all."""

    def __init__(self, config, judge_set, budget):
        assert config.run.workers == 3

    async def run(self, work):
        for pending in filter(None, work.left()):
            work.finish(pending, Judged({"label": "from afar"}, (CALL,)))

    def describe_in_flight(self):
        return "nothing"

    async def aclose(self):
        """Nothing to end."""


def test_an_executor_of_another_package_judges(judged, monkeypatch):
    found = [EntryPoint("afar", f"{__name__}:Elsewhere", base.EXECUTORS)]
    monkeypatch.setattr(EntryPoint, "load", lambda self: Elsewhere)
    for module in (base, sessions):
        monkeypatch.setattr(module, "entry_points", lambda group, name="": found)
    judge = Judge()
    outcomes, results = judged(judge, executor="afar", workers=3)
    assert [outcome.values["label"] for outcome in outcomes] == ["from afar"] * 3
    assert (judge.asked, results.n_judged["some"]) == ([], 6)
    monkeypatch.setattr(EntryPoint, "load", lambda self: 1 / 0)
    with pytest.raises(InputError, match=r"^run\.executor: .*:Elsewhere cannot be loaded"):
        judged(judge, executor="afar", workers=3)
    with pytest.raises(InputError, match=r"wanted one of local, batch, afar"):
        judged(judge, executor="nowhere")


# The engine holds few items at once, reads them lazily, and keeps what is finished.
class Counted:
    """n items; it notes how many are held at once, and judges them as it is asked to."""

    def __init__(self, n, judging=None):
        self.n, self.judging = n, judging
        self.taken = self.judged = self.in_flight = self.most_in_flight = 0

    def items(self):
        for i in range(self.n):
            self.taken += 1
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            yield Item({"number": str(i)}, (f"text {i}",))

    async def ask(self, item):
        try:
            await (self.judging(int(item.ids["number"])) if self.judging else asyncio.sleep(0))
            self.judged += 1
            return Judged({"label": item.ids["number"]})
        finally:
            self.in_flight -= 1


@pytest.fixture
def journal(tmp_path):
    kept = Journal(tmp_path / "journal.jsonl")
    yield kept
    kept.close()


async def stage_judged(counted, journal, concurrency=4):
    work = Work(Stage("counted", (), counted.items, counted.ask), journal)
    await run_here(work, concurrency)
    return work.tally


def run(counted, journal, concurrency=4):
    return asyncio.run(stage_judged(counted, journal, concurrency))


@pytest.mark.parametrize("concurrency", [1, 3, 64])
def test_no_more_items_than_workers_are_held(concurrency, journal):
    stage = Counted(500)
    tally = run(stage, journal, concurrency)
    assert (tally.items, tally.judged, tally.resumed) == (500, 500, 0)
    assert stage.most_in_flight <= concurrency


def test_items_are_taken_as_they_are_needed(journal):
    async def stop_at_ten(i):
        await asyncio.sleep(0)
        if i == 10:
            raise EndpointUnusable("wrong key")

    stage = Counted(10**9, stop_at_ten)
    with pytest.raises(EndpointUnusable, match="wrong key"):
        run(stage, journal)
    assert stage.taken <= 10 + 2 * 4


def test_an_unusable_endpoint_ends_the_run_and_keeps_what_is_finished(journal):
    async def late(i):
        if i == 7:
            raise EndpointUnusable("wrong key")
        await asyncio.sleep(0 if i < 7 else 60)

    with pytest.raises(EndpointUnusable):
        run(Counted(20, late), journal)
    assert [journal.outcome(i) for i in range(7)] == [Judged({"label": str(i)}) for i in range(7)]
    assert all(isinstance(journal.outcome(i), Unjudged) for i in range(7, 20))


def test_a_judge_error_is_an_outcome_and_the_others_go_on(journal):
    async def odd(i):
        if i % 2:
            raise JudgeError(Reason.REFUSED, f"not {i}", "raw reply")

    tally = run(Counted(10, odd), journal)
    assert (tally.judged, tally.unjudged) == (5, {"refused": 5})
    assert journal.outcome(3) == Unjudged(Reason.REFUSED, "not 3", "raw reply")


def test_a_bug_in_a_stage_is_raised_and_not_counted_as_unjudged(journal):
    async def broken(i):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(Counted(10, broken), journal)


def test_a_second_run_judges_only_what_is_missing(tmp_path, journal):
    async def some(i):
        if i % 3 == 0:
            raise JudgeError(Reason.ERROR, "no reply")

    run(Counted(30, some), journal)
    again = Journal(tmp_path / "journal.jsonl")
    stage = Counted(30)
    tally = run(stage, again)
    assert (tally.resumed, tally.judged, stage.judged) == (20, 10, 10)
    assert [again.outcome(i) for i in range(30)] == [Judged({"label": str(i)}) for i in range(30)]
    again.close()


def test_cancelling_keeps_what_is_finished(journal):
    async def main():
        async def slow(i):
            await asyncio.sleep(0 if i < 5 else 60)

        task = asyncio.create_task(stage_judged(Counted(50, slow), journal, concurrency=2))
        while isinstance(journal.outcome(4), Unjudged):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(main(), 10))
    assert all(isinstance(journal.outcome(i), Judged) for i in range(5))


def test_judgements_without_waiting_leave_room_for_cancelling(journal):
    async def main():
        async def at_once(i):
            return

        endless = Counted(10**9, at_once)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stage_judged(endless, journal, concurrency=8), 0.2)
        return endless.judged

    assert asyncio.run(main()) > 0


def test_the_digest_of_an_item_tells_ids_and_texts_apart():
    several = itertools.product(("", "x", "x, x"), repeat=4)
    items = [Item({"topic_id": a, "run_id": b}, (c, d)) for a, b, c, d in several]
    assert len({item.digest() for item in items}) == len(items)
    odd = Item({"topic_id": "\ud800"}, ())
    assert odd.digest() == Item({"topic_id": "\ud800"}, ()).digest()
    # The same in every process, or journals would not be found again: SHA-256, by hand.
    text = b'[{"topic_id":"t"},["text"]]'
    digest = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
    assert Item({"topic_id": "t"}, ("text",)).digest() == digest < 2**64


def test_an_item_without_its_text_is_not_asked_about(journal):
    counted = Counted(3)
    items = [Item({"number": "0"}, None, missing="passage p"), *counted.items()]
    work = Work(Stage("counted", (), lambda: iter(items), counted.ask), journal)
    asyncio.run(run_here(work, 2))
    assert (work.tally.items, counted.judged) == (3, 3)
    assert isinstance(journal.outcome(0), Unjudged)
    assert journal.outcome(1) == Judged({"label": "0"})


@pytest.mark.parametrize("n_lost", [1, 2])
def test_a_window_of_which_one_label_lacks_its_evidence_keeps_the_others(n_lost):
    lost = Unjudged(Reason.UNGROUNDED, "no quote", "raw")

    async def judged(items, topic_id):
        return ([lost] * 2 + [Verdict("yes")])[2 - n_lost :][:2], ()

    judge = SimpleNamespace(
        judge_items=judged, inputs=("text",), optional=(), correction=None, scale=("no", "yes")
    )
    stage = labels("some", {"support": judge}, "support", lambda: iter(()))
    outcome = asyncio.run(stage.ask(Item({"n": ["1", "2"]}, (["a", "b"],), 2)))
    if n_lost == 2:
        assert outcome == lost
    else:
        assert [row["label"] for row in make_rows(outcome, 2)] == [None, "yes"]
        assert find_unjudged(outcome) == {0: lost}


# A run that waits for long says what for, also where nobody draws a bar.
SAMPLES = [
    {"question": f"q{i}", "answer": "Tides turn [1].", "contexts": [f"Tides turn {i}."]}
    for i in range(3)
]


def evaluate(server, **model):
    entry = {"model": "hosted_vllm/mock", "api_base": server.base_url, **model}
    return nj.evaluate(SAMPLES, "support", model=entry, cache=False)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "STALL_S", 0.2)


def test_a_run_in_python_says_what_is_in_flight_where_nothing_ends(impatient, caplog):
    with MockServer(latency_s=1.0) as server:
        assert evaluate(server).is_complete
        url = server.base_url
    said = [record.getMessage() for record in caplog.records if record.name == "nuggetjudge"]
    assert re.match(
        rf"support: nothing finished for \d+ s\. In flight: 3 requests to {url}", said[0]
    )
    assert len(said) <= 4  # the next wait is twice as long


def test_a_server_that_keeps_failing_is_told_from_one_that_is_slow(impatient, caplog):
    with MockServer(faults=[Status(503)] * 3) as server:
        assert evaluate(server).is_complete  # half a second later, by a retry
    first = next(record.getMessage() for record in caplog.records if record.name == "nuggetjudge")
    assert first.endswith("In flight: no request; 3 of 3 requests failed")


def test_a_run_that_goes_on_says_nothing(monkeypatch, caplog):
    monkeypatch.setattr(progress, "STALL_S", 5.0)
    with MockServer() as server:
        evaluate(server)
    assert [record for record in caplog.records if record.name == "nuggetjudge"] == []


class Window(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Seconds, to be set by a test."""
    seconds = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[0])
    return seconds


def test_progress_is_one_line_with_total_failed_cost_and_time_left(clock):
    usage = Usage(requests=30, cost=0.024)
    bar = progress.ProgressBar("nuggets", 120, usage, quiet=True)
    clock[0] = 60.0  # 10 were kept; 20 took a minute, so that 90 take four and a half
    for _ in range(10):
        bar.advance(None)
    for _ in range(20):
        bar.step()
    bar.unjudged = 2
    assert bar.line() == "nuggets  30 / 120, 2 failed, $0.02, 4 min 30 s left"


def test_a_terminal_rewrites_the_line_and_nothing_of_it_stays(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", window := Window())
    monkeypatch.setenv("COLUMNS", "60")

    def judge_some():
        with progress.ProgressBar("support", 9, Usage()) as bar:
            for n in range(3):
                clock[0] = float(n + 1)
                bar.step()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_some()
    text = window.getvalue()
    assert "support  3 / 9, 0 failed, 6.0 s left" in text
    assert text.endswith("\x1b[2K")  # the line is erased
    assert text.index("\x1b[?25l") < text.index("\x1b[?25h")  # and the cursor is shown again
    assert text.count("\n") == 1  # below the last state of it, and the cursor goes up again


def test_a_pipe_gets_a_line_now_and_then(capsys, clock):
    with progress.ProgressBar("support", 9, Usage()) as bar:
        for n in range(3):
            clock[0] = 20.0 * n
            bar.step()
    assert capsys.readouterr().err == "support  3 / 9, 0 failed, 1 min 20 s left\n"
