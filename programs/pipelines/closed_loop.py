"""Retrieve, generate and judge with one config: make the data before judging."""

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
    """Return whether the config has a section `generate`, to write answers."""
    return config.has_pipelines and "generate" in config.model_fields_set


def run_closed_loop(
    config: Config, budget: Budget, *, quiet: bool = True, judge_set: JudgeSet | None = None
) -> Config:
    """Run the pipelines and write answers; return the config with both as its data.

    Pipelines run first, into `contexts/` of the results folder. If the config has a section
    `generate`, answers are written from their contexts into `generated/`. Both continue a stopped
    run. A topic for which a pipeline finds nothing has no answer and scores 0. If a context or
    answer could not be made, its topic is unjudged, and the files say so.

    Args:
        budget: the budget of the whole loop, including judging.
        judge_set: judges that are already open; None: open the judges of the config.

    Raises: InputError if answers are needed and there is no section for them, or if more replies
        of rerankers are missing than allowed, because the old order would be judged.
    """
    judges_answers = any(one.judges_answers for one in choose(config.program))
    if judges_answers and not (config.data.runs or makes_answers(config)):
        raise InputError("no answers: add a section generate: to write them from the contexts")
    for name in (CONTEXTS, GENERATED):
        check_no_link(config.run.out / name)
    folder = config.run.out / CONTEXTS
    manifest = retrieve(config, folder, quiet=quiet, budget=budget, judge_set=judge_set)
    if manifest["limit_reached"]:
        raise InputError(f"rerankers: stopped at {manifest['limit_reached']}; {RAISE}")
    if manifest["share_missing"] > config.run.allow_missing:
        n = sum(manifest["failed"].values())
        raise InputError(f"{folder}: {n:,} calls of rerankers failed; {AGAIN}")
    runs = tuple(about["file"] for about in manifest["runs"].values())
    config = config.change("data", retrieval=(*config.data.retrieval, *runs))
    if not makes_answers(config):
        return config
    folder = config.run.out / GENERATED
    writing = config.change("run", out=folder).change("data", retrieval=runs)
    made = generate(writing, quiet=quiet, budget=budget, judge_set=judge_set)
    answers = [str(folder / answers_file(run_id)) for run_id in made["data"]["run_ids"]]
    return config.change("data", runs=(*config.data.runs, *answers))
