"""Retrieve, generate, judge by one config: the data that pipelines make before judges read it."""

from __future__ import annotations

from ...backends.budget import Budget
from ...records.reading.problems import InputError
from ...records.writing import check_no_link
from ..config.sections import Config
from ..engine.judge_set import JudgeSet
from ..protocols.table import choose
from .generate import answers_file, generate
from .retrieve import retrieve

AGAIN = (
    "run it again to ask for them; add --set run.cache=false to ask anew for what is in the "
    "reply cache, or raise run.allow_missing"
)
RAISE = "what was made is kept, the same command with a higher limit goes on"
CONTEXTS, GENERATED = "contexts", "generated"  # folders in the results folder


def makes_answers(config: Config) -> bool:
    """Whether answers are to be written from them: there is a section `generate`."""
    return config.has_pipelines and "generate" in config.model_fields_set


def run_closed_loop(
    config: Config, budget: Budget, *, quiet: bool = True, judge_set: JudgeSet | None = None
) -> Config:
    """The config with the runs of its pipelines, and answers written from them, as its data.

    The pipelines run first, into `contexts/` of the results folder; where the config has a
    section `generate`, answers are written from their contexts, into `generated/`. Both go on
    where they were, as the judging after them does. A topic for which a pipeline finds nothing
    has no answer of it, and scores 0. One whose context or answer could not be made is unjudged:
    the files say so where it would stand.

    Args:
        budget: of the whole loop, the judging included.
        judge_set: judges that are open already; None: those of the config.

    Raises: InputError if answers are wanted and there is no section for them; if more replies of
        rerankers are missing than may be, since judges would take the order that was kept for
        theirs.
    """
    judges_answers = any(one.judges_answers for one in choose(config.program))
    if judges_answers and not (config.data.runs or makes_answers(config)):
        raise InputError("no answers: a section generate: has them written from the contexts")
    for name in (CONTEXTS, GENERATED):
        check_no_link(config.run.out / name)
    folder = config.run.out / CONTEXTS
    manifest = retrieve(config, folder, quiet=quiet, budget=budget, judge_set=judge_set)
    if manifest["limit_reached"]:
        raise InputError(f"rerankers: stopped at {manifest['limit_reached']}; {RAISE}")
    if manifest["share_missing"] > config.run.allow_missing:
        n = sum(manifest["failed"].values())
        raise InputError(f"{folder}: {n:,} calls of rerankers gave nothing; {AGAIN}")
    runs = tuple(about["file"] for about in manifest["runs"].values())
    config = config.change("data", retrieval=(*config.data.retrieval, *runs))
    if not makes_answers(config):
        return config
    folder = config.run.out / GENERATED
    writing = config.change("run", out=folder).change("data", retrieval=runs)
    made = generate(writing, quiet=quiet, budget=budget, judge_set=judge_set)
    answers = [str(folder / answers_file(run_id)) for run_id in made["data"]["run_ids"]]
    return config.change("data", runs=(*config.data.runs, *answers))
