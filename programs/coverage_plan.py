"""Before coverage is asked for: is the data there, and how many ratings are missing?"""

from __future__ import annotations

from collections.abc import Iterator

from ..metrics.tokens import token_counter
from ..records.problems import InputError
from ..records.rows import QuestionSet
from .collection import Collection
from .config import Config
from .coverage import (
    CoverageTexts,
    QuestionStage,
    RatingStage,
    Text,
    add_contexts,
    inputs_of,
    question_set,
)
from .coverage_inputs import CoverageInputs
from .coverage_scores import CoverageData, settings_of
from .estimates import KEYED_TOKENS, LABEL_TOKENS, Estimate, estimated, prompt_tokens
from .panel import Panel

QUESTION_TOKENS = 18  # assumed of a question that is yet to be made


def check_coverage(config: Config, collection: Collection) -> None:
    """Raise InputError if coverage cannot be run on this data."""
    inputs, data = inputs_of(collection), config.data
    if inputs.questions is None and not inputs.reports:
        what = "name them (data.questions, --questions) or reports to make them from"
        raise InputError(f"coverage needs sub-questions: {what} (data.reference, --reference)")
    if not (inputs.rankings or collection.n_answers or inputs.reports or inputs.ratings):
        what = "retrieval runs (data.retrieval, --retrieval) or answers (data.runs, --runs)"
        raise InputError(f"coverage: nothing to judge; name {what}")
    if inputs.settings.contexts == "references" and not collection.n_answers:
        raise InputError("coverage.contexts: references of no answers; name runs (--runs)")
    if inputs.settings.k == "required" and not (data.ratings or data.pool):
        what = "wanted ratings or a pool of passages, from which the required ones are found"
        raise InputError(f"coverage.k: {what} (--ratings, --pool)")
    if inputs.rankings and not (data.ratings or collection.passages):
        what = "name a file of them (data.passages, --passages), or of ratings (--ratings)"
        raise InputError(f"coverage: no passage has a text; {what}")
    try:
        token_counter(inputs.settings.tokenizer)
    except (ValueError, OSError) as error:
        raise InputError(f"coverage.tokenizer: {error}") from None


def coverage_estimates(config: Config, collection: Collection, panel: Panel) -> list[Estimate]:
    """Calls for the questions that are to be made, and for the ratings that are not there.

    Where questions are to be made, `n` a topic are assumed.
    """
    inputs = inputs_of(collection)
    found: list[Estimate] = []
    questions = inputs.questions
    if questions is None:
        n = inputs.settings.n
        maker = QuestionStage(collection, panel.subquestions)
        prompt = panel.subquestions.prompt("write")
        sizes = [prompt_tokens(prompt, maker.inputs(item)) for item in maker.items()]
        found.append(estimated(config, "subquestions", iter(sizes), QUESTION_TOKENS * n))
        questions = {topic: _assumed(topic, n) for topic in inputs.reports}
    questions = {topic: q for topic, q in questions.items() if topic in collection.topics}
    sizes = list(_rating_sizes(collection, questions, inputs, panel))
    judge = panel.answerability
    reply = LABEL_TOKENS if judge.window == 1 else KEYED_TOKENS * judge.window
    return [*found, estimated(config, "answerability", iter(sizes), reply)]


def _rating_sizes(
    collection: Collection,
    questions: dict[str, QuestionSet],
    inputs: CoverageInputs,
    panel: Panel,
) -> Iterator[int]:
    """Prompt tokens of each call; a context of unknown depth counts as deep as it can be."""
    data = CoverageData(questions, {t: inputs.ratings.get(t, {}) for t in questions})
    settings, judge = settings_of(inputs.settings), panel.answerability
    if settings.k == "required":
        for run_id, rankings in inputs.rankings.items():
            data.contexts[run_id] = {t: ids[: inputs.deepest(t)] for t, ids in rankings.items()}
    else:
        add_contexts(data, inputs, settings)
    texts = CoverageTexts(collection, data)

    def both() -> Iterator[Text]:
        yield from texts.of_pools()
        yield from texts.of_systems()

    zero = settings.paper_zero
    stage = RatingStage("ratings", both, questions, data.ratings, judge, paper_zero=zero)
    prompt = judge.prompt(judge.predictor)
    return (prompt_tokens(prompt, stage.inputs(item)) for item in stage.items())


def _assumed(topic_id: str, n: int) -> QuestionSet:
    return question_set(topic_id, ["x" * 4 * QUESTION_TOKENS] * n)
