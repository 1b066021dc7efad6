"""The evidence agent: outcomes follow from labels, and none rests on what was not looked at."""

from typing import Any

import pytest

from nuggetjudge.agents import EvidenceAgent, PassageCorpus
from nuggetjudge.agents.evidence import Plan
from nuggetjudge.agents.researcher import Researcher
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import (
    AnswerabilityGrader,
    ClaimExtractor,
    ContradictionJudge,
    QueryWriter,
    SupportJudge,
)
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.records.judgements import Judged, Reason, Unjudged
from nuggetjudge.records.rows import Passage

SENTENCE = "The bridge over the river opened in 1932 with 4 lanes for cars."
PASSAGES = [
    Passage(id="right", text=f"A town grew. {SENTENCE} Then came the trains."),
    Passage(id="wrong", text="Bees fill their combs with honey before the winter comes."),
    Passage(id="half", text="The bridge over the river is old, they say."),
    Passage(id="other", text="The bridge over the river opened in 1932 with 6 lanes for cars."),
]


def agent_over(*names: str, plan: Plan | None = None, **judges: Any) -> EvidenceAgent:
    passages = [passage for passage in PASSAGES if passage.id in names]
    return EvidenceAgent(
        PassageCorpus(passages),
        support=judges.get("support", SupportJudge("lexical").explaining(evidence=True)),
        recheck=judges.get("recheck"), query_writer=QueryWriter("lexical"),
        contradiction=ContradictionJudge("lexical"), claim_extractor=ClaimExtractor("lexical"),
        plan=plan,
    )  # fmt: skip


def sought(agent: EvidenceAgent, cited: str | None = "wrong", **more: Any) -> Any:
    label = None if cited is None else "none"
    return run_sync(
        agent.outcome(
            **{
                "topic_id": "t", "question": "", "sentence": SENTENCE, "cited": cited,
                "label": label, "references": [], "documents": {}, **more,
            }
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("names", "cited", "outcome", "passage"),
    [
        (("right", "wrong"), "wrong", "wrong_citation", "right"),
        (("right", "wrong"), None, "uncited_supported", "right"),
        (("half", "wrong"), "wrong", "partly_supported", "half"),
        (("wrong",), "wrong", "not_found", None),
        (("wrong", "right", "other"), "wrong", "conflict", "right"),
    ],
)
def test_the_outcome_follows_from_the_labels(names, cited, outcome, passage):
    plan = Plan(contradictions=3) if outcome == "conflict" else Plan(contradictions=0)
    agent = agent_over(*names, plan=plan, support=Carries() if outcome == "conflict" else LEXICAL)
    ended = sought(agent, cited)
    assert isinstance(ended, Judged)
    made = ended.values["made"]
    assert made["outcome"] == outcome
    assert (made["suggestion"] or {}).get("passage_id") == passage
    assert ended.steps[-1]["name"] == outcome


LEXICAL = SupportJudge("lexical").explaining(evidence=True)


class Carries(SupportJudge):
    """Says `full` of the right passage alone; of some it gives no label."""

    def __init__(self, lost: tuple[str, ...] = (), full: str = SENTENCE) -> None:
        super().__init__("lexical")
        self.lost, self.full = lost, full

    async def judge_items(self, items: Any, topic_id: str | None = None) -> Any:
        text = items[0]["passage"]
        if any(text == p.text for p in PASSAGES if p.id in self.lost):
            raise JudgeError(Reason.REFUSED, "no")
        return [Verdict("full" if self.full in text else "none")], ()


def test_a_contradiction_is_quoted_from_both_texts():
    ended = sought(agent_over("wrong", "other", support=Carries()))
    made = ended.values["made"]
    assert made["outcome"] == "contradicted"
    against = made["contradiction"]
    assert against["passage_id"] == "other"
    assert {part["of"] for part in against["evidence"]} == {"passage", "sentence"}


def test_nothing_is_not_found_where_a_passage_was_not_judged():
    lost = sought(agent_over("right", "wrong", "half", support=Carries(lost=("right",))))
    assert isinstance(lost, Unjudged)
    assert lost.reason is Reason.REFUSED
    ended = sought(agent_over("right", "wrong", "half", support=Carries(lost=("half",))))
    assert ended.values["made"]["outcome"] == "wrong_citation"  # which that could not change


def test_nothing_is_not_found_where_a_search_failed():
    class Broken(PassageCorpus):
        async def search(self, query: str) -> Any:
            raise OSError("gone")

    agent = agent_over("wrong")
    agent.corpus = Broken(PASSAGES[1:2])
    assert sought(agent).reason is Reason.TOOL


def test_a_full_label_without_a_quote_is_no_suggestion():
    class Quoteless(Carries):
        async def judge_items(self, items: Any, topic_id: str | None = None) -> Any:
            [verdict], calls = await super().judge_items(items)
            return [verdict._replace(evidence=())], calls

    assert sought(agent_over("right", "wrong", support=Quoteless())).reason is Reason.UNGROUNDED


def test_the_answers_own_references_come_first_and_a_second_judge_may_overturn():
    plan = Plan(contradictions=0)
    ended = sought(agent_over("right", "wrong", plan=plan), references=["wrong", "right"])
    assert ended.values["made"]["suggestion"]["scope"] == "reply"
    assert not [step for step in ended.steps if step["name"] == "search"]
    kind = Carries(full="Bees")
    again = sought(agent_over("right", "wrong", recheck=kind))
    assert again.values["made"]["outcome"] == "cited_ok"


def test_documents_of_the_answer_are_its_own():
    own = {"mine": ["", f"{SENTENCE} Later it fell."]}
    ended = sought(agent_over("wrong"), references=["mine"], documents=own)
    assert ended.values["made"]["suggestion"]["passage_id"] == "mine"


def test_a_passage_that_the_answer_names_and_a_search_finds_is_judged_once():
    ended = sought(agent_over("half", "wrong"), references=["half"])
    judged = [step["in"]["passage"] for step in ended.steps if step["name"] == "support"]
    assert judged == ["half"]
    assert ended.values["made"]["suggestion"]["scope"] == "reply"


class InPart(Carries):
    """Says `partial` of a whole sentence; of what is shorter it gives no label, or `none`."""

    async def judge_items(self, items: Any, topic_id: str | None = None) -> Any:
        if items[0]["sentence"] == TWO_CLAIMS:
            return [Verdict("partial")], ()
        return await super().judge_items(items)


TWO_CLAIMS = f"{SENTENCE[:-1]}, and it was painted red in 1950."


def test_a_claim_that_was_not_judged_is_not_one_that_nothing_carries():
    def claims(*lost: str) -> Any:
        agent = agent_over("half", "wrong", plan=Plan(contradictions=0), support=InPart(lost))
        return sought(agent, sentence=TWO_CLAIMS)

    made = claims().values["made"]
    assert [row["passage_id"] for row in made["claims"]] == [None, None]
    assert claims("half").reason is Reason.REFUSED


def test_another_plan_is_another_agent():
    assert agent_over("wrong").identity() != agent_over("wrong", plan=Plan(queries=0)).identity()


# A question counts as unanswerable only where every passage found for it was graded.
RESEARCHER_PASSAGES = {
    "deck": "Gusts of wind make long bridges sway.",
    "damp": "Engineers keep bridges steady by heavy dampers.",
    "gust": "Gusts of wind make bridges sway.",
    "wind": "The wind turned.",
}
CORPUS = PassageCorpus([Passage(id=name, text=text) for name, text in RESEARCHER_PASSAGES.items()])
QUESTION = "why do bridges sway and how do engineers keep bridges steady and who painted the wind"


class Fails(AnswerabilityGrader):
    """Gives no grade to a passage."""

    passage = ""

    async def judge_items(self, items: Any, topic_id: str | None = None) -> Any:
        if items[0]["context"] == RESEARCHER_PASSAGES[self.passage]:
            raise JudgeError(Reason.REFUSED, "no")
        return await super().judge_items(items, topic_id)


def outcome_of(failing: str = "", **given: Any) -> Judged | Unjudged:
    judges: dict[str, Any] = {}
    if failing:
        judges["answerability"] = Fails("lexical")
        judges["answerability"].passage = failing
    researcher = Researcher(CORPUS, model="lexical", judges=judges, **given)
    return run_sync(researcher.outcome(topic_id="t", question=QUESTION, questions=[]))


def test_each_part_has_the_passage_that_answers_it_or_none() -> None:
    outcome = outcome_of()
    assert isinstance(outcome, Judged)
    answered = [each["answered_by"] for each in outcome.values["made"]["questions"]]
    assert answered == ["gust", "damp", None]
    *_, last = outcome.values["made"]["questions"]
    assert "wind" in last["grades"]  # it was looked into
    assert outcome.steps[-1]["name"] == "2 of 3 answered"
    assert outcome_of() == outcome


@pytest.mark.parametrize("failing", ["wind", "damp"])
def test_a_grade_that_is_missing_is_no_unanswerable_question(failing: str) -> None:
    outcome = outcome_of(failing)
    assert isinstance(outcome, Unjudged)
    assert outcome.reason is Reason.REFUSED


def test_a_grade_that_is_missing_does_not_matter_where_another_passage_answers() -> None:
    judge = Fails("lexical")
    judge.passage = "gust"
    researcher = Researcher(CORPUS, judges={"answerability": judge}, model="lexical")
    [question] = researcher(question="", questions=["Why do bridges sway?"]).questions
    assert question["answered_by"] == "deck"
    assert "gust" not in question["grades"]


def test_questions_that_are_given_are_looked_into_as_they_are() -> None:
    researcher = Researcher(CORPUS, model="lexical")
    prediction = researcher(question="", questions=["Who keeps bridges steady?"])
    assert [each["answered_by"] for each in prediction.questions] == ["damp"]
    strict = Researcher(CORPUS, model="lexical", eta=5)
    assert strict.identity() != researcher.identity()
