"""The picture of a topic shows its ratings, what is required and what is answerable."""

import sys
import xml.etree.ElementTree as ElementTree

import pytest

from nuggetjudge.programs.analysis.figures.coverage_map import write_map
from nuggetjudge.programs.config.sections import CoverageConfig
from nuggetjudge.programs.protocols.coverage.topic import CoverageData, TopicView
from nuggetjudge.records.questions import NOT_JUDGED, UNPARSED
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.rows import QuestionSet, SubQuestion

pytest.importorskip("matplotlib")

RATINGS = {
    "t:2#10": (0, 4, 0, UNPARSED),
    "t:2#9": (5, 0, 0, 0),
    "t:10#1": (1, 0, 2, 0),
}


def view(ratings=RATINGS, topic="t", **settings):
    questions = tuple(SubQuestion(id=str(i), text=f"Question {i}?") for i in range(4))
    asked = {topic: QuestionSet(topic_id=topic, questions=questions, n_columns=4)}
    data = CoverageData(asked, {topic: dict(ratings)}, pools={topic: tuple(ratings)})
    return TopicView(data, topic, CoverageConfig(**settings))


def texts_of(path):
    """The texts of a picture, in the order in which they are drawn."""
    return [e.text for e in ElementTree.parse(path).iter() if e.tag.endswith("text")]


def drawn(path, **changes):
    write_map(view(**changes), path)
    return texts_of(path)


def test_passages_are_in_natural_order_without_the_topics_id(tmp_path):
    texts = drawn(tmp_path / "map.svg")
    assert [text for text in texts if "#" in text] == ["2#9", "2#10", "10#1"]


def test_required_passages_are_numbered_and_answerable_questions_marked(tmp_path):
    texts = drawn(tmp_path / "map.svg")
    assert [text for text in texts if text.startswith("required ")] == ["required 1", "required 2"]
    # Questions 0 and 1 have an answer, 2 none above 2, and that of 3 may be in the missing rating.
    assert [text for text in texts if text in ("yes", "no", "?")] == ["yes", "yes", "no", "?"]
    title = " ".join(texts)
    assert "t: 3 passages, 2 required; 4 questions" in title
    assert "2 answerable, 1 open (rating >= 3); 1 ratings missing" in title


def test_ratings_stand_in_their_squares_and_missing_ones_are_hatched(tmp_path):
    path = tmp_path / "map.svg"
    ratings = ["5", "4", "1", "2"]
    texts = drawn(path)
    start = texts.index("10#1") + 1  # after the ids of the passages
    assert [text for text in texts[start:] if text in ratings][:4] == ["5", "4", "1", "2"]
    assert (
        path.read_text(encoding="utf-8").count('fill="url(#')
        + path.read_text(encoding="utf-8").count("fill: url(#")
        == 1
    )
    whole = tmp_path / "whole.svg"
    drawn(whole, ratings={name: tuple(max(0, r) for r in rs) for name, rs in RATINGS.items()})
    assert "url(#h" not in whole.read_text(encoding="utf-8")


def test_unreadable_ratings_are_zeros_where_the_settings_say_so(tmp_path):
    title = " ".join(drawn(tmp_path / "map.svg", paper_zero=True))
    assert "2 answerable (rating >= 3); 0 ratings missing" in title


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_the_same_ratings_give_the_same_bytes(ending, start, tmp_path):
    one, two = tmp_path / f"one.{ending}", tmp_path / "new" / f"two.{ending.upper()}"
    for path in (one, two):
        write_map(view(), path)
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes().startswith(start)


def test_ids_that_would_steer_the_picture_are_drawn_as_text(tmp_path):
    path = tmp_path / "map.svg"
    write_map(view({"$\\frac<\x07": (5, 0, 0, 0)}, topic="a$b"), path)
    texts = texts_of(path)
    assert "$\\frac<?" in texts
    assert any(text.startswith("a$b: 1 passages") for text in texts)


def test_a_topic_without_a_rating_is_drawn_too(tmp_path):
    title = " ".join(drawn(tmp_path / "map.svg", ratings={"t:0#0": (NOT_JUDGED,) * 4}))
    assert "0 required" in title
    assert "0 answerable, 4 open (rating >= 3); 4 ratings missing" in title


def test_a_topic_without_passages_is_refused(tmp_path):
    with pytest.raises(InputError, match="topic t: no passages in its pool"):
        drawn(tmp_path / "map.svg", ratings={})


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"map\.jpg: pictures are written as svg, png, pdf"):
        write_map(view(), tmp_path / "map.jpg")


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '.\[plots\]'") as error:
        write_map(view(), tmp_path / "map.svg")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "map.svg").exists()
