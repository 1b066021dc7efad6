"""The passages that a topic requires (P**), for steps and answers that use their number."""

from __future__ import annotations

from collections.abc import Mapping

from ...records.reading.problems import InputError, Problems
from ...records.rows import Topic
from ..config.sections import Config
from ..inputs import Collection, read_coverage_inputs
from ..protocols.coverage.program import add_pools
from ..protocols.coverage.topic import CoverageData, TopicView


def find_required(config: Config, topics: Mapping[str, Topic]) -> dict[str, tuple[str, ...] | None]:
    """Return P** of each topic in order of selection; None: unknown because ratings are missing.

    Raises: InputError without rated sub-questions, or for a topic without them.
    """
    if config.data.questions is None or not config.data.ratings:
        what = "add rated sub-questions (data.questions and data.ratings)"
        raise InputError(f"the required passages of a topic: {what}")
    problems = Problems()
    inputs = read_coverage_inputs(config.data, config.coverage, [], dict(topics), problems)
    problems.raise_errors()
    questions = inputs.questions or {}
    if lost := [topic for topic in topics if topic not in questions]:
        raise InputError(f"{config.data.questions}: no sub-questions of topic {lost[0]!r}")
    data = CoverageData(
        {topic: questions[topic] for topic in topics},
        {topic: dict(inputs.ratings.get(topic, {})) for topic in topics},
    )
    add_pools(data, Collection(dict(topics), [], coverage=inputs))
    views = {topic: TopicView(data, topic, config.coverage) for topic in topics}
    return {topic: None if view.n_open else view.required for topic, view in views.items()}
