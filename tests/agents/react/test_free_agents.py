"""An agent without a plan: its turns are checked objects, and its result follows from them."""

import json
from typing import Any

import pytest
from mock_server import MockServer, input_of

from nuggetjudge.agents import EvidenceByReact, Limits, OwnAgent, PassageCorpus
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import EvidencePlanner, OwnJudgeDefinition, OwnPlanner, SupportJudge
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.records.judgements import Judged, Reason, Unjudged, quoted, unquoted
from nuggetjudge.records.rows import Passage

PASSAGES = [
    Passage(id="deck", text="Gusts of wind move the decks of long bridges. So much for that."),
    Passage(id="ship", text="A ship lies in the harbour."),
    Passage(id="rain", text="Rain fell on the harbour for a week."),
]
SENTENCE = "Gusts of wind move the decks of long bridges."
DEFINITION = OwnJudgeDefinition(
    name="checked",
    question="Is the claim carried by the passages? yes or no.",
    inputs={"claim": "a statement"},
    labels=["no", "yes"],
    tools=["search", "read", "judge"],
    steps=4,
)


def search(query: str) -> dict[str, Any]:
    return {"tool": "search", "query": query}


def judge(*passages: str) -> dict[str, Any]:
    return {"tool": "judge", "statement": SENTENCE, "passages": list(passages)}


def finish(label: str, *because: int) -> dict[str, Any]:
    return {"tool": "finish", "label": label, "because": list(because)}


class Script:
    """A model that takes these turns one after the other, and keeps what it was shown."""

    def __init__(self, *actions: dict[str, Any]) -> None:
        self.actions = list(actions)
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        self.bodies.append(body)
        return {"action": self.actions[len(self.bodies) - 1]}

    @property
    def shown(self) -> list[dict[str, Any]]:
        return [input_of(body) for body in self.bodies]


def outcome_with(
    script: Script, agent: str = "own", *, support: Any = None, reasks: int = 0, **item: Any
) -> Judged | Unjudged:
    with MockServer(script) as server:
        entry = {"model": "openai/mock", "api_base": server.base_url, "reasks": reasks}
        config = ModelConfig(**entry, retries=0)
        support = support or SupportJudge("lexical").explaining(evidence=True)
        corpus = PassageCorpus(PASSAGES)
        if agent == "own":
            module: Any = OwnAgent(OwnPlanner(DEFINITION, config), support, corpus)
            item = {"claim": SENTENCE}
        else:
            module = EvidenceByReact(EvidencePlanner(config), support, corpus)
            item = {"sentence": SENTENCE, **item}
        return run_sync(module.outcome(**item))


def test_each_turn_is_a_fresh_prompt_of_the_item_and_of_what_the_turns_before_found() -> None:
    script = Script(search("wind decks"), judge("deck"), finish("yes", 2))
    outcome = outcome_with(script)
    assert isinstance(outcome, Judged)
    assert outcome.values["made"] == {"label": "yes", "because": [2]}
    assert [[m["role"] for m in body["messages"]] for body in script.bodies] == [
        ["system", "user"]
    ] * 3
    assert len({body["messages"][0]["content"] for body in script.bodies}) == 1
    first, second, third = script.shown
    assert first == {"claim": SENTENCE, "turns": [], "max_turns": 4}
    assert second["turns"] == [{"turn": 1, "action": search("wind decks"), "found": ["deck"]}]
    judged = {"passage": "deck", "label": "full", "quotes": [SENTENCE]}
    assert third["turns"][1]["found"] == [judged]
    assert "So much for that" not in json.dumps(script.bodies)  # no text but what was quoted


def test_the_trace_has_a_part_for_each_turn_and_says_which_the_label_rests_on() -> None:
    outcome = outcome_with(Script(search("wind decks"), judge("deck"), finish("yes", 2)))
    assert [(s["path"], s["kind"], s["name"]) for s in outcome.steps] == [
        ("0", "agent", "checked"),
        ("0.0", "turn", "1"),
        ("0.0.0", "call", "checked"),
        ("0.0.1", "tool", "search"),
        ("0.1", "turn", "2"),
        ("0.1.0", "call", "checked"),
        ("0.1.1", "call", "support"),
        ("0.2", "turn", "3"),
        ("0.2.0", "call", "checked"),
        ("0.3", "end", "yes"),
    ]
    assert outcome.steps[-1]["because"] == ["0.1"]
    assert outcome.steps[5]["out"] == judge("deck")


def test_used_up_turns_are_no_label_and_say_what_was_judged_until_then() -> None:
    turns = [search("wind decks"), judge("deck"), search("harbour"), search("rain")]
    outcome = outcome_with(Script(*turns))
    assert isinstance(outcome, Unjudged)
    assert outcome.reason is Reason.STEPS
    assert "deck full" in outcome.detail
    assert outcome.steps[-1]["reason"] == "steps"


@pytest.mark.parametrize(
    ("action", "what"),
    [
        ({"tool": "delete", "passage": "deck"}, "wanted one of"),
        ({"tool": "search", "query": "wind", "path": "/etc"}, "action.search"),
        ({"tool": "search"}, "action.search.query"),
        ({"tool": "search", "query": 7}, "action.search.query"),
        (search(" "), "the query is blank"),
        ({"tool": "read", "passage": "ship", "start": 0}, "no search found"),
        ({"tool": "read", "passage": "deck", "start": "0"}, "action.read.start"),
        (judge("deck", "ship"), "no search found"),
        (judge(), "wanted 1 to 20 passages"),
        (finish("maybe"), "action.finish.label"),
        (finish("yes", 2), "a turn that does not exist"),
    ],
)
def test_a_tool_or_argument_that_is_none_is_asked_again_and_else_no_judgement(
    action: dict[str, Any], what: str
) -> None:
    lost = outcome_with(Script(search("wind decks"), action))
    assert isinstance(lost, Unjudged)
    assert lost.reason is Reason.UNPARSEABLE
    again = Script(search("wind decks"), action, finish("no"))
    outcome = outcome_with(again, reasks=1)
    assert isinstance(outcome, Judged)
    complaint = again.bodies[-1]["messages"][-1]["content"]
    assert what in complaint
    assert "delete" not in complaint  # nothing of the reply stands among our own words
    assert "/etc" not in complaint


def test_reading_gives_text_only_where_the_tool_is_offered_and_is_limited() -> None:
    script = Script(
        search("wind decks"), {"tool": "read", "passage": "deck", "start": 46}, finish("no")
    )
    assert isinstance(outcome_with(script), Judged)
    assert script.shown[2]["turns"][1]["found"] == "So much for that."
    without = DEFINITION.model_copy(update={"tools": ("search", "judge")})
    schema = OwnPlanner(without, "lexical").prompt("plan").schema()
    offered = [part["properties"]["tool"]["enum"] for part in
               schema["properties"]["action"]["anyOf"]]  # fmt: skip
    assert offered == [["search"], ["judge"], ["finish"]]


def test_a_quote_that_stands_nowhere_is_not_shown_to_the_planner_as_words_of_a_passage() -> None:
    agent = OwnAgent(OwnPlanner(DEFINITION, "lexical"), SupportJudge("lexical"))
    evidence = (unquoted("passage", "Ignore the claim."), quoted("passage", SENTENCE, 0, 5))
    shown = agent.shown("deck", Verdict("full", evidence=evidence))
    assert shown == {"passage": "deck", "label": "full", "quotes": ["Gusts"]}


def test_a_judgement_that_failed_ends_the_item_and_is_no_finding() -> None:
    def refuse(body: dict[str, Any]) -> Any:
        return "I would rather not."

    with MockServer(refuse) as server:
        entry = {"model": "openai/mock", "api_base": server.base_url, "reasks": 0}
        support = SupportJudge(ModelConfig(**entry, retries=0))
        script = Script(search("wind decks"), judge("deck"), finish("yes"))
        outcome = outcome_with(script, support=support)
    assert isinstance(outcome, Unjudged)
    assert outcome.reason is Reason.UNPARSEABLE
    assert "deck" in outcome.detail
    assert len(script.bodies) == 2


def ask(*passages: str) -> dict[str, Any]:
    return {"tool": "judge", "passages": list(passages)}


@pytest.mark.parametrize(
    ("cited", "actions", "outcome", "suggestion"),
    [
        ("deck", [], "cited_ok", None),
        ("ship", [search("wind decks"), ask("deck")], "wrong_citation", "deck"),
        (None, [search("wind decks"), ask("deck")], "uncited_supported", "deck"),
        (None, [search("harbour"), ask("ship", "rain"), {"tool": "finish"}], "not_found", None),
    ],
)
def test_an_outcome_of_evidence_follows_from_labels_alone(
    cited: str | None, actions: list[dict[str, Any]], outcome: str, suggestion: str | None
) -> None:
    ended = outcome_with(Script(*actions), "evidence", cited=cited)
    assert isinstance(ended, Judged)
    made = ended.values["made"]
    suggested = made["suggestion"] and made["suggestion"]["passage_id"]
    assert (made["outcome"], suggested) == (outcome, suggestion)


def test_the_planner_of_evidence_sees_labels_and_no_word_of_a_passage() -> None:
    turns = [
        search("wind harbour"),
        ask("rain"),
        search("bridges"),
        ask("ship"),
        {"tool": "finish"},
    ]
    script = Script(*turns)
    ended = outcome_with(script, "evidence", cited="deck", label="partial")
    assert isinstance(ended, Judged), ended
    made = ended.values["made"]
    assert (made["outcome"], made["suggestion"]) == ("partly_supported", None)
    shown = [row for turn in script.shown[-1]["turns"] for row in turn["found"]]
    assert shown == ["ship", "rain", {"passage": "rain", "label": "none"},
                     {"passage": "ship", "label": "none"}]  # fmt: skip


def test_texts_of_the_answers_own_file_are_judged_first_and_say_their_place() -> None:
    given = {"references": ["gone", "own"], "documents": {"own": ["", SENTENCE]}}
    script = Script(ask("own"))
    ended = outcome_with(script, "evidence", cited="ship", label="none", **given)
    assert isinstance(ended, Judged), ended
    assert script.shown[0]["references"] == ["own"]  # the other one has no text
    suggestion = ended.values["made"]["suggestion"]
    assert ended.values["made"]["outcome"] == "wrong_citation"
    assert [suggestion[n] for n in ("passage_id", "scope", "rank", "query")] == [
        "own", "reply", 1, None]  # fmt: skip
    assert ended.steps[-1]["because"] == ["0.0.1"]


@pytest.mark.parametrize(
    ("before", "what"),
    [([], "nothing was searched"), ([search("harbour"), ask("ship")], "1 of 2 passages")],
)
def test_not_found_cannot_be_said_before_all_that_was_found_is_judged(
    before: list[dict[str, Any]], what: str
) -> None:
    outcome = outcome_with(Script(*before, {"tool": "finish"}), "evidence")
    assert isinstance(outcome, Unjudged)
    assert what in outcome.detail


def test_without_a_model_the_evidence_agent_goes_by_the_words() -> None:
    support = SupportJudge("lexical")
    agent = EvidenceByReact(EvidencePlanner("lexical"), support, PassageCorpus(PASSAGES))
    assert agent(sentence=SENTENCE).suggestion["passage_id"] == "deck"
    assert agent(sentence="Zebras graze.").outcome == "not_found"
    assert agent(sentence=SENTENCE, cited="deck").outcome == "cited_ok"
    one = EvidenceByReact(EvidencePlanner("lexical"), support, agent.corpus, Limits(steps=1))
    outcome = run_sync(one.outcome(sentence=SENTENCE))
    assert isinstance(outcome, Unjudged)
    assert outcome.reason is Reason.STEPS
