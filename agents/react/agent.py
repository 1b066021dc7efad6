"""An agent that chooses its tools itself, turn by turn, until it finishes or has no turn left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...backends.errors import JudgeError
from ...judges.items import ItemJudge
from ...judges.items import judged as verdict_of
from ...judges.planning.actions import Action, Turn, labels_in
from ...judges.planning.planner import Planner
from ...judges.verdicts import Verdict
from ...records.judgements import Reason
from ...records.rows import Passage
from ...retrieval.scored import Ranked
from ..agent import Agent
from ..corpus import Corpus
from ..limits import Limits
from ..tools import Question, Tools
from .turns import Done

if TYPE_CHECKING:
    from .in_dspy import ReactInDspy

READ = 1_500  # characters of a passage that one turn gives
QUOTED = 300  # of each quote that is shown


class FreeAgent(Agent):
    """What agents without a plan share: the loop, and what a planner is told of each tool.

    Each turn asks `planner` anew, in two messages: the item's texts and the turns so far are its
    data, so that nothing that was found is ever sent to it as part of a conversation. It sees of a
    passage its id, the support judge's label, and that judge's quotes where it is asked for quotes
    and they stand in the passage; its text only by `read`.

    Args:
        planner: chooses. support: the judge behind the tool `judge`.

    A subclass has `statement`, what that judge is asked about, and `result`. A search or a
    judgement that fails ends the item by its reason; so do used-up turns (`steps`), with what was
    judged until then in the detail.
    """

    def __init__(
        self,
        planner: Planner,
        support: ItemJudge,
        corpus: Corpus | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(corpus, limits)
        self.planner = planner
        self.support = support

    def statement(self, action: Action, item: Mapping[str, Any]) -> str:
        """What passages are judged about."""
        raise TypeError(f"{type(self).__name__} must define statement()")

    def is_settled(self, turns: Sequence[Turn]) -> bool:
        """Whether the result follows from these turns, whatever the planner would do next."""
        return False

    def result(self, tools: Tools, item: Mapping[str, Any], done: Done) -> dict[str, Any]:
        """What was made, after the last turn."""
        raise TypeError(f"{type(self).__name__} must define result()")

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        """See Agent."""
        return await self.go_on(tools, item, self.begun())

    @staticmethod
    def begun() -> Done:
        """No turn yet."""
        return Done([], [], {})

    def as_dspy(self) -> ReactInDspy:
        """The same tools and signature as a dspy.ReAct, for notebooks and optimisers.

        No trace, no fence around what tools found, no replay: see docs/agents.md.
        """
        from .in_dspy import ReactInDspy

        return ReactInDspy(self)

    async def go_on(self, tools: Tools, item: Mapping[str, Any], done: Done) -> dict[str, Any]:
        """Take turns, after those that were taken, until it finishes."""
        texts = {name: item[name] for name in self.planner.inputs}
        limit = self.limits.steps
        for number in range(1, limit + 1):
            tools.turn()
            part = tools.part("turn", str(number))
            call = self.planner.next_action(texts, done.turns, limit + 1 - number)
            action, _ = await part.ask(self.planner.name, call, {"turn": number}, dict)
            if action["tool"] == "finish":
                return self.result(tools, item, done._replace(finish=action))
            await self.take(part, action, item, done)
            if self.is_settled(done.turns):
                return self.result(tools, item, done)
        judged = ", ".join(f"{name} {label}" for name, label in labels_in(done.turns).items())
        what = f"its {limit} turns ended before it was done"
        raise JudgeError(Reason.STEPS, f"{what}; judged until then: {judged or 'nothing'}")

    async def take(self, tools: Tools, action: Action, item: Mapping[str, Any], done: Done) -> None:
        """Take one turn. Raises: JudgeError where the tool failed."""
        observation = await self.use(tools, action, item, done)
        done.turns.append(
            {"turn": len(done.turns) + 1, "action": dict(action), "found": observation}
        )
        done.paths.append(tools.trace.path)

    def hits(self, ranked: Ranked, item: Mapping[str, Any]) -> list[str]:
        """Of what a search found the ids that count."""
        return [name for name, _ in ranked]

    def passage(self, tools: Tools, name: str, item: Mapping[str, Any]) -> Passage:
        """The text that is judged under an id. Raises: JudgeError(no_passage)."""
        return tools.passage(name)

    def shown(self, name: str, verdict: Verdict) -> dict[str, Any]:
        """What the planner sees of a judged passage: of its text the quotes that stand in it.

        Raises: JudgeError where the verdict does not count.
        """
        quotes = [
            each.quote[:QUOTED]
            for each in verdict.evidence or ()
            if each.of == "passage" and each.is_quoted
        ]
        row: dict[str, Any] = {"passage": name, "label": verdict.label}
        return row | ({"quotes": quotes} if quotes else {})

    async def use(self, tools: Tools, action: Action, item: Mapping[str, Any], done: Done) -> Any:
        """What one action finds, as the planner is shown it.

        Raises: JudgeError where the tool, or one of the judgements, failed.
        """
        match action["tool"]:
            case "search":
                return self.hits(await tools.search(action["query"]), item)
            case "read":
                return tools.read(action["passage"], action["start"], READ)
        statement = self.statement(action, item)
        names: list[str] = action["passages"]
        texts = [self.passage(tools, name, item) for name in names]
        questions = [question_of(self.support, statement, text) for text in texts]
        outcomes = await tools.judge_each(self.support, questions)
        rows = []
        for name, (outcome, path) in zip(names, outcomes, strict=True):
            verdict = verdict_of(outcome, f"passage {name}: ")
            rows.append(self.shown(name, verdict))
            done.verdicts[name] = (verdict, path)
        return rows


def question_of(judge: ItemJudge, statement: str, passage: Passage) -> Question:
    """How a judge of support is asked of a passage."""
    inputs = {"sentence": statement, "passage": passage.text}
    title = judge.optional_inputs({"title": passage.title or ""})
    return Question(inputs | title, {"passage": passage.id})
