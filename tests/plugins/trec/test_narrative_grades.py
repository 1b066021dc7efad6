"""A grade that code makes of labels of sub-narratives: counted, left open, quoted."""

import pytest
from mock_server import MockServer, input_of

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import Jury
from nuggetjudge.plugins.trec.narratives.grades import narrative_grade
from nuggetjudge.plugins.trec.narratives.parts import PartwiseRelevanceJudge
from nuggetjudge.plugins.trec.narratives.whole import NarrativeRelevanceJudge
from nuggetjudge.records.topics import number_texts

PASSAGE = "Turbines turn with the tide. Power costs 90 a unit."
NAMES = ["how it works", "what it costs", "who pays", "where it is", "since when"]


@pytest.fixture
def answers():
    """What the model says of each part; one that is not there gets a reply that is no label."""
    return {}


@pytest.fixture
def server(answers):
    def brain(body):
        part = input_of(body)["sub_narrative"]
        return {"answer": answers.get(part, "perhaps")}

    with MockServer(brain=brain) as up:
        yield up


@pytest.fixture
def judge(server):
    config = ModelConfig(model="openai/mock", api_base=server.base_url, reasks=0, retries=0)
    return PartwiseRelevanceJudge(backend=open_backend(config))


def ask(judge, names, **more):
    return judge(
        question="tidal power", passage=PASSAGE, sub_narratives=number_texts(names), **more
    )


@pytest.mark.parametrize(
    ("labels", "grade"),
    [
        (["none"] * 5, 0),
        (["none", "related", "none", "none", "none"], 1),
        (["detailed", "related", "none", "none", "none"], 2),
        (["detailed", "detailed", "none", "none", "detailed"], 3),
        (["detailed", "detailed", "detailed", "related", "detailed"], 4),
    ],
)
def test_the_grade_counts_the_parts_that_are_answered(judge, answers, server, labels, grade):
    answers.update(zip(NAMES, labels, strict=True))
    prediction = ask(judge, NAMES)
    assert (prediction.grade, prediction.label) == (grade, str(grade))
    assert prediction.parts == {str(i): label for i, label in enumerate(labels, 1)}
    assert sorted(input_of(r.body)["sub_narrative"] for r in server.requests) == sorted(NAMES)
    assert {input_of(r.body)["question"] for r in server.requests} == {"tidal power"}


def test_parts_that_failed_leave_the_passage_unjudged_where_they_could_change_its_grade(
    judge, answers
):
    answers.update({"how it works": "detailed", "what it costs": "none"})
    with pytest.raises(JudgeError, match="1 of 3 sub-narratives not judged"):
        ask(judge, NAMES[:3])  # 2, or 3 if it answers who pays


def test_a_grade_stands_where_the_parts_that_failed_could_not_change_it(judge, answers):
    answers.update({"how it works": "detailed", "what it costs": "detailed"})
    prediction = ask(judge, NAMES[:3])  # 3 for two parts, and for three
    assert prediction.grade == 3
    assert prediction.parts == {"1": "detailed", "2": "detailed", "3": None}


def test_a_part_that_failed_is_no_none(judge, answers):
    answers.update(dict.fromkeys(NAMES[:2], "none"))
    with pytest.raises(JudgeError, match="not judged"):
        ask(judge, NAMES[:3])


def test_the_lexical_judge_quotes_what_answers_the_parts():
    judge = PartwiseRelevanceJudge("lexical").explaining(evidence=True)
    prediction = ask(judge, ["what power costs", "who pays"])
    assert prediction.grade == 2
    assert [each.quote for each in prediction.evidence] == ["Power costs 90 a unit."]


def test_without_sub_narratives_it_cannot_be_asked(judge):
    with pytest.raises(ValueError, match="wanted sub-narratives"):
        judge(question="tidal power", passage=PASSAGE, sub_narratives=" ")


def test_the_narrative_judge_goes_without_sub_narratives_and_says_nothing_of_them():
    judge = NarrativeRelevanceJudge("lexical")
    prompt = judge.prompt("judge")
    asked = {"question": "tides", "passage": PASSAGE, "sub_narratives": "", "title": ""}
    assert "sub_narratives" not in prompt.of(asked).user(asked)
    assert "sub_narratives" not in prompt.of(asked).fixed[0]["content"]


def test_a_jury_of_it_is_shown_sub_narratives_and_titles():
    members = {name: NarrativeRelevanceJudge("lexical") for name in "ab"}
    assert Jury(members).optional == ("sub_narratives", "title")
    verdicts, calls = run_sync(
        Jury({name: PartwiseRelevanceJudge("lexical") for name in "ab"}).judge_items(
            [{"question": "q", "passage": PASSAGE, "sub_narratives": number_texts(NAMES[:2])}]
        )
    )
    assert verdicts[0].votes == {"a": "2", "b": "2"}  # "cost" stands there
    assert len(calls) == 4


# Of the guidelines of TREC RAG 2025: 0, 1 related, 2 one part, 3 two or three, 4 four or more.
GRADES = {(0, 0): 0, (0, 5): 1, (1, 0): 2, (2, 3): 3, (3, 0): 3, (4, 0): 4, (9, 0): 4}


@pytest.mark.parametrize(("counts", "grade"), GRADES.items())
def test_a_passage_is_graded_as_the_track_has_it(counts, grade):
    assert narrative_grade(*counts) == grade


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="wanted numbers >= 0, got -1 and 0"):
        narrative_grade(-1, 0)
