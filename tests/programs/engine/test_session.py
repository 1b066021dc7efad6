"""A session judges what is missing of a stage and hands the outcomes out in its order, counted."""

import asyncio
from importlib.metadata import EntryPoint

import pytest

from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.programs.config import base
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine import session as sessions
from nuggetjudge.programs.engine.judge_set import JudgeSet
from nuggetjudge.programs.engine.results import Results
from nuggetjudge.programs.engine.session import Session
from nuggetjudge.programs.engine.stage import Item, Stage
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
                async with session.judged(stage, results) as outcome:
                    return [outcome(item) for item in items], results

        return asyncio.run(go())

    return run


def labels(outcomes):
    return [o.values["label"] if isinstance(o, Judged) else o.reason for o in outcomes]


def test_outcomes_come_in_the_order_of_the_items_whichever_was_ready_first(judged):
    outcomes, results = judged(Judge(by_topic={"t0": "a", "t1": "b", "t2": "c"}))
    assert labels(outcomes) == ["a", "b", "c"]
    assert results.n_judged == {"some": 6}  # each item stands for two
    assert results.tokens == {"prompt": 30, "cached": 12, "completion": 6}
    assert dict(results.tokens_by) == {"m": results.tokens}


def test_what_is_in_the_journal_is_not_asked_again(judged):
    judged(Judge("old"), ITEMS[:2])
    judge = Judge("new")
    assert labels(judged(judge)[0]) == ["old", "old", "new"]
    assert judge.asked == ["t2"]


def test_offline_judges_anew_and_takes_nothing_from_an_offline_run_before_it(judged):
    judged(Judge("online"))
    first, second = Judge("old"), Judge("new")
    assert labels(judged(first, offline=True)[0]) == ["old"] * 3
    assert labels(judged(second, offline=True)[0]) == ["new"] * 3
    assert first.asked == second.asked == ["t0", "t1", "t2"]
    assert labels(judged(Judge("later"))[0]) == ["online"] * 3  # whose journal stays


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
            made = await session.made(Stage("some", (), lambda: iter(ITEMS), ask), results)
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
    assert labels(judged(Judge("new"), settings={"keep": 2})[0]) == ["new"] * 3
    assert labels(judged(Judge("newer"), settings={"keep": 1})[0]) == ["old"] * 3


def test_what_a_model_failed_at_is_asked_again_on_retry(judged):
    failed = Unjudged(Reason.UNPARSEABLE, "prose", "Well...")
    judged(Judge(by_topic={"t1": failed}))
    assert labels(judged(Judge("new"))[0]) == ["old", Reason.UNPARSEABLE, "old"]
    assert labels(judged(Judge("new"), retry=True)[0]) == ["old", "new", "old"]


def test_an_item_without_its_text_is_unjudged_and_moves_no_other(judged, tmp_path):
    items = [ITEMS[0], Item({"topic_id": "t1"}, None, 3, "p9 has no text"), ITEMS[2]]
    judge = Judge(by_topic={"t0": "a", "t2": "c"})
    outcomes, results = judged(judge, items)
    assert judge.asked == ["t0", "t2"]
    assert labels(outcomes) == ["a", Reason.NO_PASSAGE, "c"]
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
    assert labels(judged(judge)[0]) == ["old", "old", "new"]


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
    assert labels(judged(down, judges=("support",))[0]) == ["error", "unparseable", "error"]
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
