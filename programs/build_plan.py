"""Before a collection is built: are the summaries and the config fit for it, what will it take?"""

from __future__ import annotations

from pathlib import Path

from ..backends.budget import Budget, price_of
from ..judges.segments import segments
from ..metrics.tokens import token_counter
from ..records.problems import InputError, Problems
from ..records.summaries import Summary, read_summaries
from .built import check_build_folder
from .config import Config, DataConfig, JudgeName
from .estimates import KEYED_TOKENS, LABEL_TOKENS, Estimate, estimated, prompt_tokens
from .hostile import looks_like_an_instruction
from .panel import Panel

JUDGES: tuple[JudgeName, ...] = ("request", "subquestions", "decontextualizer", "answerability")
# Assumed by a plan of what is yet to be made: passages of a segment, and tokens of texts.
PASSAGES, PASSAGE_TOKENS, QUESTION_TOKENS, REQUEST_TOKENS = 3, 270, 18, 70
ASSUMED = (
    f"Assumed, since it is known only later: {PASSAGES} passages of {PASSAGE_TOKENS} tokens from a"
    f" segment of a document,\nquestions of {QUESTION_TOKENS} tokens, all of a topic in one call."
    " What is finished or in the cache is not asked again.\n"
)


def build_config(path: Path, config: Config) -> Config:
    """The config with the summaries, which are reference reports, as its only data.

    Raises: InputError for an unknown tokenizer, or a folder that is not for this build.
    """
    try:
        token_counter(config.coverage.tokenizer)
    except (ValueError, OSError) as error:
        raise InputError(f"coverage.tokenizer: {error}") from None
    config = config.model_copy(update={"program": (), "data": DataConfig(reference=path)})
    check_build_folder(config)
    return config


def load_summaries(config: Config, problems: Problems) -> list[Summary]:
    """The summaries up to the limit. Raises: InputError with all that is wrong with them."""
    path = config.data.reference
    assert path is not None
    summaries = read_summaries(path, problems)
    problems.raise_errors()
    for summary in summaries[: config.run.limit]:
        if any(map(looks_like_an_instruction, (*summary.documents, summary.summary))):
            what = f"topic {summary.id} has text that looks like an instruction to a judge"
            problems.keep(path, 0, "instruction_like", what)
    return summaries[: config.run.limit]


def plan_build(path: Path, config: Config) -> list[Estimate]:
    """What a build would ask, as if nothing were in the cache or the journal; asks nothing.

    Calls for requests and passages are exact. A summary is assumed to give its questions in one
    call, and each segment of a document PASSAGES passages.
    """
    config = build_config(path, config)
    run = config.run.model_copy(update={"offline": True})
    panel = Panel(config.model_copy(update={"run": run}), cache=None, budget=Budget())
    n, rate, split = config.coverage.n, panel.answerability, panel.decontextualizer
    requests, questions, passages, ratings = [], [], [], []
    ask, write = panel.request.prompt("compose"), panel.subquestions.prompt("write")
    rewrite, grade = split.prompt("rewrite"), rate.prompt(rate.predictor)
    assumed = {"question": "x" * 4 * QUESTION_TOKENS}
    for summary in load_summaries(config, Problems()):
        report = summary.summary
        requests.append(prompt_tokens(ask, {"report": report}))
        questions.append(prompt_tokens(write, {"report": report, "known": [], "wanted": n}))
        texts = [report]
        for document in summary.documents:
            parts = segments(document, split.most_tokens, split.count)
            for before, part in zip(["", *parts], parts, strict=False):
                passages.append(prompt_tokens(rewrite, {"before": before, "part": part}))
            texts += ["x" * 4 * PASSAGE_TOKENS] * PASSAGES * len(parts)
        for start in range(0, n, rate.window):
            window = min(rate.window, n - start)
            for text in texts:
                asked = rate.asked([assumed | {"context": text}] * window)
                ratings.append(prompt_tokens(grade, asked))
    label = LABEL_TOKENS if rate.window == 1 else KEYED_TOKENS * rate.window
    return [
        estimated(config, "request", iter(requests), REQUEST_TOKENS),
        estimated(config, "subquestions", iter(questions), QUESTION_TOKENS * n),
        estimated(config, "decontextualizer", iter(passages), PASSAGE_TOKENS * PASSAGES),
        estimated(config, "answerability", iter(ratings), label),
    ]


def check_prices(config: Config) -> None:
    """Raise InputError if there is a limit in dollars and a price that is not known."""
    for alias, model in map(config.model_of, JUDGES):
        if config.run.max_cost is not None and price_of(model) is None:
            what = f"set models.{alias}.price, or use max_tokens"
            raise InputError(f"max_cost: the price of model {model.model!r} is not known; {what}")
