"""The density of a context, where ratings are missing that say how long P** is."""

from nuggetjudge.programs.config.sections import CoverageConfig
from nuggetjudge.programs.protocols.coverage.topic import CoverageData, TopicView
from nuggetjudge.records.questions import NOT_JUDGED
from nuggetjudge.records.rows import QuestionSet, SubQuestion

QUESTIONS = tuple(SubQuestion(id=str(i), text=f"Question {i}?") for i in range(3))
TOKENS = {"t:0#0": 10, "t:1#0": 5, "t:2#0": 40}


def view(last, **settings):
    """Three passages; the first answers two questions, the others are short and long and open."""
    asked = QuestionSet(topic_id="t", questions=QUESTIONS, n_columns=3)
    ratings = {"t:0#0": (5, 5, 0), "t:1#0": (0, 0, last[0]), "t:2#0": (0, 0, last[1])}
    data = CoverageData({"t": asked}, {"t": ratings}, pools={"t": tuple(ratings)}, tokens=TOKENS)
    return TopicView(data, "t", CoverageConfig(weight=1.0, k=1, **settings))


def test_a_missing_rating_of_the_pool_leaves_the_density_without_bounds():
    value = view((NOT_JUDGED, NOT_JUDGED)).context_values(["t:0#0"])["density"]
    assert (value.value, value.low, value.high) == (1.0, None, None)
    assert value.n_unjudged > 0


def test_there_is_no_density_where_all_questions_count():
    assert "density" in view((0, 5)).context_values(["t:0#0"])
    assert "density" not in view((0, 5), answerable="all").context_values(["t:0#0"])
