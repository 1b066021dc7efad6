"""Points that are looked for: how many calls that takes, and which topics of a file are known."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from nuggetjudge.judges import NuggetAssigner
from nuggetjudge.programs.inputs import Collection
from nuggetjudge.programs.protocols.nuggets import LOOK
from nuggetjudge.programs.protocols.reference_items import check_topics
from nuggetjudge.records import Answer, Nugget, Sentence, Topic

TOPICS = {"t": Topic(id="t", text="What?")}


class Answers(Collection):
    def answers(self, topic_id=None):
        for run in ("a", "b"):
            yield Answer(run_id=run, topic_id="t", sentences=(Sentence(id=0, text="So."),))


@pytest.mark.parametrize("n_points", [0, 1, 2, 3, 4])
def test_a_stage_has_as_many_items_as_its_bar_says(n_points):
    points = {"t": [Nugget(id=f"n{i}", text=f"Fact {i}.") for i in range(n_points)]}
    data = Answers(TOPICS, [], n_with_text=Counter(t=2))
    run = SimpleNamespace(judge_set={"assigner": NuggetAssigner(window=2)}, collection=data)
    stage = LOOK.of(run, points)
    assert len(list(stage.items())) == stage.total == 2 * [0, 1, 1, 2, 2][n_points]


def test_a_topic_beyond_the_limit_is_no_problem_of_a_file_and_an_unknown_one_is():
    data = Collection(TOPICS, [], beyond_limit={"later"})
    check_topics(["t", "later", "other"], Path("nuggets.jsonl"), data)
    (problem,) = data.problems.rows
    assert (problem.kind, "topic 'other' is not judged" in problem.what) == ("unknown_topic", True)
