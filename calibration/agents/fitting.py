"""Fit the judges of an agent, one after the other, by what it comes to, and test it on others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...agents import Agent
from ...backends.errors import JudgeError
from ...backends.gateway import Backend
from ...judges import JudgeFile
from ...judges.base import Judge
from ...metrics.bootstrap import resampling
from ...records.judgements import Judged, Outcome, Reason, Unjudged
from ...records.reading.problems import InputError
from ..described import described, judge_file
from ..fitting import refusals_of
from ..lists.report import mean_figure
from ..settings import Settings
from ..split import Split, check_unseen, split_topics
from .examples import OUTCOME, AgentExample, AgentExamples
from .working import asking, judges_of, seen, with_judge, worked

METHOD = "gepa"  # the one that takes feedback on each judge's step


class AgentCalibration(NamedTuple):
    """The fitted judges of an agent by their names in a config, what was measured, their diffs."""

    files: dict[str, JudgeFile]
    report: dict[str, Any]
    diff: str = ""


def agent_split(
    agent: Agent, examples: AgentExamples, settings: Settings, wanted: Sequence[str]
) -> tuple[dict[str, Judge], Split]:
    """The judges to fit, by attribute, and the topics; all that can be refused is refused.

    Raises: InputError, ValueError.
    """
    if settings.method != METHOD:
        raise InputError(f"method {settings.method!r}: an agent is fitted by {METHOD}")
    if settings.folds is not None or settings.objective is not None:
        raise InputError("an agent is fitted once, by its outcomes; wanted no folds or objective")
    judges = judges_of(agent)
    if unknown := [name for name in wanted if name not in judges]:
        choices = ", ".join(judges) or "none, as none has a language model and a prompt of ours"
        raise InputError(f"--judge {unknown[0]}: of {agent.name} can be fitted {choices}")
    chosen = {name: judges[name] for name in judges if not wanted or name in wanted}
    if not chosen:
        raise InputError(f"no judge of {agent.name} has a language model whose prompt could change")
    resampling(None, **settings.draws)
    split = split_topics(examples.topics, shares=settings.shares, seed=settings.seed)
    check_unseen({topic for judge in chosen.values() for topic in judge.fitted_on}, [split])
    return chosen, split


def agent_fitted_and_tested(
    agent: Agent,
    names: Mapping[str, str],
    examples: AgentExamples,
    settings: Settings,
    *,
    wanted: Sequence[str] = (),
    prompt_model: Backend | None = None,
    logs: Path | None = None,
) -> AgentCalibration:
    """Look for better prompts of an agent's judges, in turn, each in the agent as it is by then.

    Args:
        names: of judges in a config, by attribute. wanted: attributes; none: all.
        prompt_model: see `optimise`. logs: a folder for NAME.log.jsonl of each judge.

    Raises: InputError for what cannot be fitted; JudgeError (budget) where no new prompt could be
        scored on all of dev.
    """
    with refusals_of(settings.method):
        judges, split = agent_split(agent, examples, settings, wanted)
        return _fitted(agent, judges, names, examples, settings, split, prompt_model, logs)


def _fitted(
    agent: Agent,
    judges: Mapping[str, Judge],
    names: Mapping[str, str],
    examples: AgentExamples,
    settings: Settings,
    split: Split,
    prompt_model: Backend | None,
    logs: Path | None,
) -> AgentCalibration:
    from ..prompts.optimisers import Search, check_parts
    from ..prompts.prompt_diff import prompt_diff
    from ..prompts.student import prompt_of
    from .marking import AgentMarks, agent_tasks
    from .working import Working

    train, dev, test = (examples.of(part) for part in (split.train, split.dev, split.test))
    check_parts(train, dev, "items", settings.concurrency)
    before = _tested(agent, test)
    reserved = sum(len(outcome.provenance) for outcome in before)
    fitted, files, searches, diffs = agent, {}, {}, []
    for name, judge in judges.items():
        learnt = asking(fitted, name, train)
        if not learnt:
            searches[names[name]] = {"n_train": 0}
            continue
        marks = AgentMarks(fitted, name, [*learnt, *dev], settings.call_price)
        search = Search(
            judge,
            agent_tasks(learnt),
            agent_tasks(dev),
            marks,
            n_dev=len(dev),
            way=Working(fitted, name),
        )
        optimised = search.run(
            method=settings.method,
            seed=settings.seed,
            options=settings.options,
            prompt_model=prompt_model,
            log=None if logs is None else logs / f"{names[name]}.log.jsonl",
            threads=settings.concurrency,
            keep_calls=reserved,
        )
        if not searches:  # the first: nothing at all was tried
            optimised.check_tried(reserved)
        about = {key: value for key, value in asdict(optimised).items() if key != "prompts"}
        searches[names[name]] = {"n_train": len(learnt), **about}
        if any(p != prompt_of(judge.question(n)) for n, p in optimised.prompts.items()):
            files[names[name]] = judge_file(judge, prompts=optimised.prompts)
            fitted = with_judge(fitted, name, judge.fitted(files[names[name]]))
            diffs.append(prompt_diff(judge, optimised.prompts))
        if optimised.stopped_by:
            break
    after = before if fitted is agent else _tested(fitted, test)
    report = _report(agent, examples, settings, split, test, before, after) | {"judges": searches}
    by_name = {names[attribute]: judge for attribute, judge in judges.items()}
    lasting = {
        key: {n: v for n, v in of.items() if n != "calls"}  # fewer where a search goes on
        for key, of in searches.items()
    }
    described_report = report | {"judges": lasting}
    described_files = {
        key: described(file, described_report, by_name[key], settings)
        for key, file in files.items()
    }
    return AgentCalibration(described_files, report, "".join(diffs))


def _tested(agent: Agent, examples: Sequence[AgentExample]) -> list[Outcome]:
    """Raises: JudgeError (budget) where that did not suffice."""
    outcomes = worked(agent, examples)
    for each in outcomes:
        if isinstance(each, Unjudged) and each.reason is Reason.BUDGET:
            raise JudgeError(Reason.BUDGET, each.detail)
    return outcomes


def _report(
    agent: Agent,
    examples: AgentExamples,
    settings: Settings,
    split: Split,
    test: Sequence[AgentExample],
    before: Sequence[Outcome],
    after: Sequence[Outcome],
) -> dict[str, Any]:
    """Right outcomes and calls before and after, on the items that both times had an outcome.

    Raises: InputError if there is none.
    """
    both = [
        (example, seen(old), seen(new))
        for example, old, new in zip(test, before, after, strict=True)
        if isinstance(old, Judged) and isinstance(new, Judged)
    ]
    if not both:
        raise InputError("no item of the test topics had an outcome both before and after")
    topics = [example.topic_id for example, *_ in both]
    right = [[side[OUTCOME] == each.outcome for side in sides] for each, *sides in both]
    calls = [[side["n_calls"] for side in sides] for _, *sides in both]
    figures = {}
    for name, values in (("accuracy", right), ("calls", calls)):
        figure = mean_figure(np.array(values, np.float64), topics, settings.draws)
        figures[name] = {**asdict(figure), "verdict": figure.verdict, "n": len(both)}
    unjudged = {
        side: dict(
            sorted(Counter(str(f.reason) for f in outcomes if isinstance(f, Unjudged)).items())
        )
        for side, outcomes in (("before", before), ("after", after))
    }
    return {
        "agent": agent.name,
        "method": settings.method,
        "call_price": settings.call_price,
        "n_examples": len(examples.items),
        "n_unjudged": sum(isinstance(each, Unjudged) for each in after),
        "unjudged": unjudged,
        "n_test": len(both),
        "n_test_topics": len(set(topics)),
        "topics": [{"train": list(split.train), "dev": list(split.dev), "test": list(split.test)}],
        "seed": settings.seed,
        "figures": figures,
        "verdict": figures["accuracy"]["verdict"],
        "main_figure": "accuracy",
    }
