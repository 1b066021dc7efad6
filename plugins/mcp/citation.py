"""`judge_citation`: one sentence against the passage that it cites."""

from __future__ import annotations

from functools import partial

from ...backends.budget import Budget
from ...backends.errors import JudgeError
from ...judges.items import ItemJudge
from ...judges.verdicts import Verdict
from ...programs.config.names import JudgeName
from ...programs.config.sections import Config
from ...programs.engine.panel import Panel
from ...programs.engine.rehearsal import rehearse
from ...programs.engine.session import Session as Asking
from ...programs.engine.session import run_session
from ...records.judgements import Unjudged as Lost
from ...records.reading.problems import InputError
from .pieces import quotes_of
from .replies import Citation, Unjudged
from .session import Session, in_thread

JUDGE: JudgeName = "support"


async def judge_citation(session: Session, sentence: str, passage: str, title: str) -> Citation:
    """Ask the support judge.

    Raises: InputError for empty texts, OverBudget.
    """
    for name, text in (("sentence", sentence), ("passage", passage)):
        if not text.strip():
            raise InputError(f"{name}: is empty, wanted the text that is judged")
    item = {"sentence": sentence, "passage": passage, "title": title}
    config = session.alone((), {}, session.config.run.out)
    rehearsed = partial(
        rehearse, config, lambda alone, panel: _ask_support(alone, item, panel=panel)
    )
    async with session.spending(await in_thread(rehearsed)) as part:
        outcome, judge = await in_thread(lambda: _ask_support(config, item, budget=part))
    about = {**dict(await session.spent(part)), "model": session.model_of(config)}
    if isinstance(outcome, Lost):
        why = Unjudged(reason=outcome.reason, quoted_detail=outcome.detail)
        return Citation(label=None, weight=None, unjudged=why, n=0, n_unjudged=1, **about)
    return Citation(
        label=outcome.label,
        weight=judge.gains.get(outcome.label),
        score=outcome.score,
        quoted_reason=outcome.rationale or "",
        quotes=quotes_of([each.model_dump() for each in outcome.evidence or ()]),
        n=1,
        n_unjudged=0,
        **about,
    )


def _ask_support(
    config: Config,
    item: dict[str, str],
    *,
    budget: Budget | None = None,
    panel: Panel | None = None,
) -> tuple[Verdict | Lost, ItemJudge]:
    async def ask(asking: Asking) -> tuple[Verdict | Lost, ItemJudge]:
        judge: ItemJudge = asking.panel[JUDGE]
        wanted = (*judge.inputs, *judge.optional)
        try:
            verdicts, _ = await judge.judged([{n: text for n, text in item.items() if n in wanted}])
        except JudgeError as error:
            return Lost(error.reason, error.detail, error.raw), judge
        return verdicts[0], judge

    return run_session(config, [JUDGE], ask, retry=False, quiet=True, budget=budget, panel=panel)
