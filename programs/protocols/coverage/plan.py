"""Before coverage is asked for: is the data there, and how many ratings are missing?"""

from __future__ import annotations

from collections.abc import Iterator

from ....records.ratings import topics_of
from ....records.reading.problems import InputError
from ....records.rows import QuestionSet
from ...config.sections import Config
from ...engine.estimates import (
    QUESTION_TOKENS,
    Asked,
    Estimate,
    check_tokenizer,
    estimated,
    placeholder,
    reply_tokens,
)
from ...engine.panel import Panel
from ...inputs.collection import Collection
from ...inputs.coverage import CoverageInputs
from .judging import QuestionStage, RatingStage, add_contexts, add_pools, question_set
from .texts import CoverageTexts, Text, inputs_of
from .topic import CoverageData


def check_coverage(config: Config, collection: Collection) -> None:
    """Raise InputError if coverage cannot be run on this data."""
    inputs, data = inputs_of(collection), config.data
    if inputs.questions is None and not inputs.reports:
        what = "name them (data.questions, --questions) or reports to make them from"
        raise InputError(f"coverage needs sub-questions: {what} (data.reference, --reference)")
    if not (inputs.rankings or collection.n_answers or inputs.reports or inputs.ratings):
        what = "retrieval runs (data.retrieval, --retrieval) or answers (data.runs, --runs)"
        raise InputError(f"coverage: nothing to judge; name {what}")
    if inputs.settings.contexts == "answers" and not collection.n_answers:
        raise InputError("coverage.contexts: answers, but there are none; name runs (--runs)")
    if inputs.questions is None and inputs.ratings:
        what = "the questions that they rate are not given; name them (--questions)"
        raise InputError(f"coverage: {data.ratings[0]}: {what}")
    has_pool = data.ratings or data.pool or any(_own(collection))
    if inputs.settings.k == "required" and not has_pool:
        what = "wanted ratings or a pool of passages, from which the required ones are found"
        raise InputError(f"coverage.k: {what} (--ratings, --pool)")
    if not (inputs.rankings or has_pool or inputs.settings.answerable == "all"):
        what = "nothing says which questions can be answered; name a pool, ratings, retrieval runs"
        raise InputError(f"coverage: {what}, or set coverage.answerable to all")
    if inputs.rankings and not (data.ratings or collection.passages):
        what = "name a file of them (data.passages, --passages), or of ratings (--ratings)"
        raise InputError(f"coverage: no passage has a text; {what}")
    check_tokenizer(config)


def _own(collection: Collection) -> Iterator[str]:
    for name in collection.passages:
        yield from topics_of(name, collection.topics)


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
        asked = Asked.of(panel.subquestions.prompt("write"), map(maker.inputs, maker.items()))
        found.append(estimated(config, "subquestions", asked, QUESTION_TOKENS * n))
        questions = {topic: _assumed(topic, n) for topic in inputs.reports}
    questions = {topic: q for topic, q in questions.items() if topic in collection.topics}
    asked = _ratings(collection, questions, inputs, panel)
    reply = reply_tokens(panel.answerability)
    return [*found, estimated(config, "answerability", asked, reply)]


def _ratings(
    collection: Collection,
    questions: dict[str, QuestionSet],
    inputs: CoverageInputs,
    panel: Panel,
) -> Asked:
    """The calls for ratings; a context of unknown k counts as long as it can be."""
    data = CoverageData(questions, {t: inputs.ratings.get(t, {}) for t in questions})
    settings, judge = inputs.settings, panel.answerability
    add_pools(data, collection)
    if settings.k == "required":
        for run_id, rankings in inputs.rankings.items():
            data.rankings[run_id] = {t: ids[: inputs.most_k(t)] for t, ids in rankings.items()}
    else:
        add_contexts(data, inputs)
    texts = CoverageTexts(collection, data)

    def both() -> Iterator[Text]:
        yield from texts.of_pools()
        yield from texts.of_systems()

    zero = settings.paper_zero
    stage = RatingStage("ratings", both, questions, data.ratings, judge, paper_zero=zero)
    return Asked.of(judge.prompt(judge.predictor), map(stage.inputs, stage.items()))


def _assumed(topic_id: str, n: int) -> QuestionSet:
    return question_set(topic_id, [placeholder(QUESTION_TOKENS) for _ in range(n)])
