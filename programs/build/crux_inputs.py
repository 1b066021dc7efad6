"""What a collection for coverage is built from: summaries and a config that are fit for it."""

from __future__ import annotations

from pathlib import Path

from ...records.documents import Summary, read_summaries
from ...records.reading.problems import Problems
from ..config.names import JudgeName
from ..config.sections import Config, DataConfig
from ..engine.making import check_build_folder
from ..inputs.hostile import looks_like_an_instruction
from ..protocols.coverage.texts import token_counter_of
from .built import BUILT_FILES, PROGRAM

JUDGES: tuple[JudgeName, ...] = ("request", "subquestions", "decontextualizer", "answerability")


def build_config(path: Path, config: Config) -> Config:
    """The config with the summaries, which are reference reports, as its only data.

    Raises: InputError for an unknown tokenizer, or a folder that is not for this build.
    """
    token_counter_of(config.coverage)
    config = config.model_copy(update={"program": (), "data": DataConfig(reference=path)})
    check_build_folder(config, PROGRAM, BUILT_FILES)
    return config


def load_summaries(path: Path, limit: int | None, problems: Problems) -> list[Summary]:
    """The summaries up to the limit. Raises: InputError with all that is wrong with them."""
    summaries = read_summaries(path, problems)
    problems.raise_errors()
    for summary in summaries[:limit]:
        if any(map(looks_like_an_instruction, (*summary.documents, summary.summary))):
            what = f"topic {summary.id} has text that looks like an instruction to a judge"
            problems.keep(path, 0, "instruction_like", what)
    return summaries[:limit]
