"""Before a collection is built: are the summaries and the config fit for it, what will it take?"""

from __future__ import annotations

from pathlib import Path

from ...backends.budget import Budget
from ...judges.segments import segments
from ...records.reading.problems import Problems
from ...records.documents import Summary, read_summaries
from ..engine.making import check_build_folder
from .built import BUILT_FILES, PROGRAM
from ..config.sections import Config, DataConfig, JudgeName
from ..engine.estimates import QUESTION_TOKENS, Asked, Estimate, check_tokenizer, estimated, placeholder, reply_tokens
from ..inputs.hostile import looks_like_an_instruction
from ..engine.panel import Panel

JUDGES: tuple[JudgeName, ...] = ("request", "subquestions", "decontextualizer", "answerability")
# Assumed by a plan of what is yet to be made: passages of a segment, and tokens of texts.
PASSAGES, PASSAGE_TOKENS, REQUEST_TOKENS = 3, 270, 70
ASSUMED = (
    f"Assumed, since it is known only later: {PASSAGES} passages of {PASSAGE_TOKENS} tokens from a"
    f" segment of a document,\nquestions of {QUESTION_TOKENS} tokens, all of a topic in one call."
    " What is finished or in the cache is not asked again.\n"
)


def build_config(path: Path, config: Config) -> Config:
    """The config with the summaries, which are reference reports, as its only data.

    Raises: InputError for an unknown tokenizer, or a folder that is not for this build.
    """
    check_tokenizer(config)
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


def plan_build(path: Path, config: Config) -> list[Estimate]:
    """What a build would ask, as if nothing were in the cache or the journal; asks nothing.

    Calls for requests and passages are exact. A summary is assumed to give its questions in one
    call, and each segment of a document PASSAGES passages.
    """
    config = build_config(path, config)
    run = config.run.model_copy(update={"offline": True})
    panel = Panel(config.model_copy(update={"run": run}), cache=None, budget=Budget())
    n, rate, split = config.coverage.n, panel.answerability, panel.decontextualizer
    requests, questions, passages, ratings = Asked(), Asked(), Asked(), Asked()
    ask, write = panel.request.prompt("compose"), panel.subquestions.prompt("write")
    rewrite, grade = split.prompt("rewrite"), rate.prompt(rate.predictor)
    for summary in load_summaries(path, config.run.limit, Problems()):
        report = summary.summary
        requests.add(ask, {"report": report})
        questions.add(write, {"report": report, "known": [], "wanted": n})
        texts = [report]
        for document in summary.documents:
            parts = segments(document, split.most_tokens, split.count)
            for before, part in zip(["", *parts], parts, strict=False):
                passages.add(rewrite, {"before": before, "part": part})
            texts += [placeholder(PASSAGE_TOKENS) for _ in range(PASSAGES * len(parts))]
        assumed = [{"question": placeholder(QUESTION_TOKENS)} for _ in range(n)]
        for start in range(0, n, rate.window):
            window = assumed[start : start + rate.window]
            for text in texts:
                ratings.add(grade, rate.asked([asked | {"context": text} for asked in window]))
    return [
        estimated(config, "request", requests, REQUEST_TOKENS),
        estimated(config, "subquestions", questions, QUESTION_TOKENS * n),
        estimated(config, "decontextualizer", passages, PASSAGE_TOKENS * PASSAGES),
        estimated(config, "answerability", ratings, reply_tokens(rate)),
    ]
