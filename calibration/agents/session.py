"""`judge calibrate --agent`: examples and a config in, a judge file for each judge of an agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...agents import Agent, Corpus
from ...backends.gateway import Backend
from ...programs.config.sections import Config
from ...programs.config.steps import AnyStep
from ...programs.engine.estimates import Estimate
from ...programs.engine.panel import Panel, check_prices
from ...programs.engine.rehearsal import rehearse
from ...programs.pipelines.searching import PipelineCorpus
from ...programs.protocols.table import program
from ...records.reading.problems import InputError, Problems
from ...records.writing.files import own_folder
from ..plan import SEARCH, TEST, scaled, search_checked
from ..session import check_out, opened, source_of, write_judge_file
from ..settings import Settings
from .examples import AgentExamples, read_agent_examples
from .fitting import AgentCalibration, agent_fitted_and_tested, agent_split
from .working import judges_of, worked


@dataclass(frozen=True)
class _Workplace:
    """See programs.protocols.program.Workplace."""

    config: Config
    panel: Panel

    def corpus(self, steps: Sequence[AnyStep], /) -> Corpus:
        return PipelineCorpus(self.config, steps)


def calibrate_agent(
    labels: Path,
    name: str,
    config: Config,
    settings: Settings,
    *,
    judges: Sequence[str] = (),
    out: Path | None = None,
    prompt_model: str | None = None,
    limit: int | None = None,
    problems: Problems | None = None,
) -> AgentCalibration:
    """Fit the judges of the agent of a program to items whose outcome people know.

    Args:
        labels: see `examples.read_agent_examples`.
        name: of the program. judges: those to fit, by their attributes in the agent; none: all.
        out: a folder for NAME.json, a judge file of each judge whose prompt changed, and
            NAME.log.jsonl; None: none is written.
        prompt_model: the entry of `models:` that writes instructions.

    Raises: InputError before anything is asked; JudgeError (budget) where no new prompt could be
        tried, and no judge file is written then.
    """
    with opened(config) as panel:
        agent, examples = _read(
            _Workplace(config.here(), panel), labels, name, settings, limit, problems
        )
        names = {attribute: panel.name_of(judge) for attribute, judge in judges_of(agent).items()}
        check_prices(config, names.values())
        for each in names.values() if out is not None else ():
            assert out is not None
            own_folder(out)
            check_out(out / f"{each}.json")
        writer: Backend | None = panel.backend(prompt_model) if prompt_model else None
        calibration = agent_fitted_and_tested(
            agent, names, examples, settings, wanted=judges, prompt_model=writer, logs=out
        )
    source = source_of(labels)
    files = {
        each: file.model_copy(update={"fitted": {**file.fitted, "labels": source}})
        for each, file in calibration.files.items()
    }
    for each, file in files.items() if out is not None else ():
        assert out is not None
        write_judge_file(out / f"{each}.json", file)
    return AgentCalibration(files, {**calibration.report, "labels": source}, calibration.diff)


def plan_agent(
    labels: Path,
    name: str,
    config: Config,
    settings: Settings,
    *,
    judges: Sequence[str] = (),
    limit: int | None = None,
    problems: Problems | None = None,
) -> list[Estimate]:
    """What `calibrate_agent` would ask, a search at its most; asks nothing, writes nothing."""
    often = 1.0

    def ask(alone: Config, panel: Panel) -> None:
        nonlocal often
        agent, examples = _read(_Workplace(alone, panel), labels, name, settings, limit, problems)
        try:
            chosen, split = agent_split(agent, examples, settings, judges)
            train, dev, test = (examples.of(p) for p in (split.train, split.dev, split.test))
            most = sum(
                search_checked(judge, settings, len(train), len(dev)) for judge in chosen.values()
            )
        except ValueError as error:
            raise InputError(f"{settings.method}: {error}") from None
        panel.part = TEST
        worked(agent, [*test, *test])
        panel.part = SEARCH
        worked(agent, [*train, *dev])
        often = most / (len(train) + len(dev))

    estimates = rehearse(config.here(), ask)
    return [scaled(row, often) if row.judge.endswith(SEARCH) else row for row in estimates]


def _read(
    workplace: _Workplace,
    labels: Path,
    name: str,
    settings: Settings,
    limit: int | None,
    problems: Problems | None,
) -> tuple[Agent, AgentExamples]:
    agent = program(name).agent(workplace)
    problems = problems if problems is not None else Problems()
    return agent, read_agent_examples(labels, agent, problems, limit=limit, seed=settings.seed)
