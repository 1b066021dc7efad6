"""A found nugget stands in a passage, which carries it; and a search says why it ended."""

from typing import Any

import pytest

from nuggetjudge.agents import Limits, PassageCorpus
from nuggetjudge.agents.nugget_searcher import NuggetSearcher, SearchSettings
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import SupportJudge
from nuggetjudge.judges.nuggets import ProposedNugget
from nuggetjudge.records.judgements import Judged, Reason, Unjudged
from nuggetjudge.records.rows import Passage

QUESTION = "why do bridges sway"
PASSAGES = {
    "deck": "Gusts of wind make bridges sway. Long bridges bend more than short ones.",
    "damp": "Heavy dampers calm the bridges. Gusts of wind make bridges sway at night.",
    "ship": "A ship lies in the harbour.",
}
CORPUS = PassageCorpus([Passage(id=name, text=text) for name, text in PASSAGES.items()])


class Says:
    """Proposes what it is told, as if a model had said so: (nugget, passage id, quote)."""

    def __init__(self, *proposed: tuple[str, str, str]) -> None:
        self.proposed = proposed
        self.asked: list[list[str]] = []

    async def propose(self, question: str, facet: str, passages: Any, known: Any) -> Any:
        self.asked.append(list(passages))
        nuggets = []
        for text, docid, quote in self.proposed:
            if (whole := PASSAGES[docid]) in passages:
                start = whole.find(quote)
                span = (start, start + len(quote)) if start >= 0 else None
                nuggets.append(ProposedNugget(text, list(passages).index(whole), span))
        return nuggets, []


def found(
    *proposed: tuple[str, str, str], limits: Limits | None = None, start: Any = (), **settings: Any
) -> Judged | Unjudged:
    judges = {"nugget_proposer": Says(*proposed)} if proposed else {}
    chosen = SearchSettings(**settings)
    searcher = NuggetSearcher(CORPUS, limits, model="lexical", judges=judges, settings=chosen)
    return run_sync(searcher.outcome(topic_id="t", question=QUESTION, start=start))


def made(outcome: Judged | Unjudged) -> dict[str, Any]:
    assert isinstance(outcome, Judged)
    return dict(outcome.values["made"])


def test_each_nugget_has_a_passage_and_the_words_of_it_that_state_it() -> None:
    outcome = found()
    nuggets = made(outcome)["nuggets"]
    assert len(nuggets) >= 3
    for nugget in nuggets:
        for source in nugget["sources"]:
            words = PASSAGES[source["docid"]][source["start"] : source["end"]]
            assert nugget["text"] in words
            assert (source["round"], source["query"]) == (1, "Why do bridges sway?")
    assert made(outcome)["stop"] == "nothing_new"
    assert made(outcome)["new"] == [len(nuggets), 0, 0]
    assert found() == outcome  # the same trace too
    end = outcome.steps[-1]
    assert (end["kind"], end["name"]) == ("end", "nothing_new")
    assert {step["name"] for step in outcome.steps if step["path"] in end["because"]} == {"support"}


def test_what_no_passage_states_or_carries_is_counted_and_is_no_nugget() -> None:
    search = made(
        found(
            ("Gusts of wind make bridges sway", "deck", "Gusts of wind make bridges sway"),
            ("Bridges sway", "deck", "Bridges never sway"),  # a quote that stands nowhere
            ("Trams and lorries shake old piers", "deck", "Gusts of wind"),  # not carried
        )
    )
    assert [nugget["text"] for nugget in search["nuggets"]] == ["Gusts of wind make bridges sway"]
    assert search["ungrounded"] == 2


@pytest.mark.parametrize("dedupe", ["entailment", "words"])
def test_two_that_say_the_same_are_one_with_both_sources(dedupe: str) -> None:
    one = "Gusts of wind make bridges sway"
    proposed = [(one, "deck", one), ("Wind gusts make bridges sway", "damp", one)]
    outcome = found(*proposed, dedupe=dedupe)
    search = made(outcome)
    assert [nugget["text"] for nugget in search["nuggets"]] == [one]
    assert [source["docid"] for source in search["nuggets"][0]["sources"]] == ["deck", "damp"]
    assert (search["merged"], search["new"][0]) == (1, 1)
    asked = [step["name"] for step in outcome.steps].count("entailment")
    assert asked == (2 if dedupe == "entailment" else 0)  # both ways


def test_one_that_only_follows_from_another_stays_a_nugget_of_its_own() -> None:
    whole = "Gusts of wind make bridges sway. Long bridges bend more than short ones"
    proposed = [(whole, "deck", whole), ("Long bridges bend", "deck", "Long bridges bend")]
    assert len(made(found(*proposed))["nuggets"]) == 2


def test_a_span_that_two_nuggets_rest_on_is_one_source_of_the_one_that_they_are() -> None:
    one = "Gusts of wind make bridges sway"
    search = made(found((one, "deck", one), ("Wind gusts make bridges sway", "deck", one)))
    assert [len(nugget["sources"]) for nugget in search["nuggets"]] == [1]


def test_the_next_round_looks_into_what_has_no_nugget_and_what_has_fewest() -> None:
    facets = ["Why do bridges sway?", "What calms the bridges?", "What lies in the harbour?"]
    stated = {
        "Gusts of wind make bridges sway": "deck",
        "Long bridges bend more than short ones": "deck",
        "A ship lies in the harbour": "ship",
    }
    says = Says(*((words, docid, words) for words, docid in stated.items()))
    searcher = NuggetSearcher(CORPUS, model="lexical", judges={"nugget_proposer": says})
    outcome = run_sync(searcher.outcome(topic_id="t", question=" ".join(facets), start=[]))
    assert [facet["nuggets"] for facet in made(outcome)["facets"]] == [2, 0, 1]
    written = next(step for step in outcome.steps if step["name"] == "gap_writer")
    assert written["in"]["facets"] == facets[1:]


def test_a_passage_is_read_once() -> None:
    says = Says(("Heavy dampers calm the bridges", "damp", "Heavy dampers calm the bridges"))
    searcher = NuggetSearcher(CORPUS, model="lexical", judges={"nugget_proposer": says})
    searcher(topic_id="t", question=QUESTION, start=[])
    assert len(says.asked) == 1
    assert sorted(says.asked[0]) == sorted([PASSAGES["deck"], PASSAGES["damp"]])


def test_used_up_calls_end_the_search_and_what_was_verified_stands() -> None:
    search = made(found(limits=Limits(calls=3)))
    assert search["stop"] == "calls"
    assert search["calls"] == 3
    assert len(search["nuggets"]) == 1
    assert made(found(limits=Limits(calls=3), rounds=1))["stop"] == "calls"  # not by its rounds
    assert made(found(most=2))["stop"] == "most"
    assert len(made(found(most=2))["nuggets"]) == 2
    assert made(found(rounds=1))["stop"] == "rounds"


def test_a_judgement_that_fails_ends_the_item_and_is_no_missing_nugget() -> None:
    class Refuses(SupportJudge):
        async def judge_items(self, items: Any, topic_id: str | None = None) -> Any:
            if "dampers" in items[0]["sentence"]:
                raise JudgeError(Reason.REFUSED, "no")
            return await super().judge_items(items, topic_id)

    searcher = NuggetSearcher(CORPUS, model="lexical", judges={"support": Refuses("lexical")})
    outcome = run_sync(searcher.outcome(topic_id="t", question=QUESTION, start=[]))
    assert isinstance(outcome, Unjudged)
    assert outcome.reason is Reason.REFUSED
    assert outcome.steps[-1]["name"] == "unjudged"


def test_nuggets_to_start_with_are_kept_where_a_passage_carries_them() -> None:
    start = ["Dampers calm the bridges", "Trams shake old piers"]
    search = made(found(start=start, rounds=1))
    first = search["nuggets"][0]
    assert first["text"] == start[0]
    [source] = [each for each in first["sources"] if each["round"] == 0]
    assert "dampers calm" in PASSAGES["damp"][source["start"] : source["end"]]
    assert (search["started"], search["ungrounded"]) == (1, 1)


def test_what_changes_a_search_is_in_its_identity() -> None:
    one = NuggetSearcher(CORPUS, model="lexical").identity()
    assert (
        NuggetSearcher(CORPUS, model="lexical", settings=SearchSettings(facets=2)).identity() != one
    )
    assert NuggetSearcher(CORPUS, Limits(calls=9), model="lexical").identity() != one
    with pytest.raises(ValueError, match="writer"):
        NuggetSearcher(CORPUS, judges={"writer": None})
