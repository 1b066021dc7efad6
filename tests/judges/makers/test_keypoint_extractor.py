"""Key points: every word of a document is read, in rounds, and spans are looked up in it."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, Prose, Truncated, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import FoundPoint, KeyPointExtractor
from nuggetjudge.judges.lexical import keypoints as lexical_keypoints
from nuggetjudge.judges.makers.keypoints import windows

QUESTION = "Why did the dam break?"
DOCUMENT = "The dam  broke in May.\n\nRain had fallen for weeks. The wall was thin."
ENDS = st.sampled_from([" ", " ", "  ", "\n", ". ", "! ", ".\n\n", "\n \n", "…\u3000", "。"])
DOCUMENTS = st.lists(ENDS, max_size=60).map(  # no two words the same
    lambda ends: "".join(f"w{i}{end}" for i, end in enumerate(ends))
)


def point(text, *spans):
    return {"text": text, "spans": list(spans)}


def saying(*replies):
    """A server that gives these lists of points in turn, then none."""
    turns = iter(replies)
    return MockServer(lambda body: {"points": next(turns, [])})


def model_at(server, **settings):
    settings = {"retries": 0, "reasks": 0, **settings}
    return ModelConfig(model="openai/mock", api_base=server.base_url, **settings)


def extracted(server, document=DOCUMENT, **options):
    judge = KeyPointExtractor(model_at(server), **options)
    return asyncio.run(judge.extract(QUESTION, document))


def inputs_sent(server):
    return [input_of(request.body) for request in server.requests]


def numbered(n, words=10):
    """A document of n words, no two the same, in sentences."""
    words_of = [f"w{i}" + "." * (i % words == words - 1) for i in range(n)]
    return " ".join(words_of)


# --- windows


@given(DOCUMENTS, st.integers(1, 12), st.data())
def test_the_windows_are_runs_of_the_document_that_together_hold_all_of_it(document, most, data):
    overlap = data.draw(st.integers(0, most - 1))
    end = 0
    for window in windows(document, most, overlap):
        start = document.index(window)
        assert not document[end:start].strip()  # nothing lies between
        assert len(document[start:end].split()) <= overlap
        assert 0 < len(window.split()) <= most
        end = start + len(window)
    assert not document[end:].strip()


def test_a_window_begins_and_ends_with_a_sentence():
    document = "\n\n".join(f"Wave {i} came at dawn. It broke a pier." for i in range(60))
    for window in windows(document, most_tokens=50, overlap=20):
        assert re.match(r"Wave|It", window)
        assert window.endswith((".", "pier."))


def test_a_document_that_fits_is_one_window_as_it_is():
    assert windows(f"\n{numbered(2000)} ") == [numbered(2000)]
    assert len(windows(numbered(2001))) == 2
    assert windows(" \n") == []


# --- rounds


def test_the_second_round_shows_what_there_is_and_asks_for_the_rest():
    first, second = point("Rain fell.", "Rain had fallen"), point("It was thin.", "was thin")
    with saying([first], [second]) as server:
        points, calls = extracted(server)
        assert inputs_sent(server) == [
            {"question": QUESTION, "document": DOCUMENT, "known": []},
            {"question": QUESTION, "document": DOCUMENT, "known": ["Rain fell."]},
        ]
    assert [each.text for each in points] == ["Rain fell.", "It was thin."]
    assert len(calls) == 2


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_there_are_at_most_so_many_rounds(rounds):
    with saying(*([point(f"Point {i}.", "May")] for i in range(9))) as server:
        points, calls = extracted(server, rounds=rounds)
        assert len(server.requests) == len(calls) == rounds
    assert [each.text for each in points] == [f"Point {i}." for i in range(rounds)]


@pytest.mark.parametrize("again", [[], [point("rain  FELL", "for weeks")]])
def test_a_round_that_brings_nothing_new_is_the_last(again):
    with saying([point("Rain fell.", "Rain had fallen")], again, [point("More.", "May")]) as server:
        points, calls = extracted(server, rounds=5)
        assert len(server.requests) == len(calls) == 2
    assert [each.text for each in points] == ["Rain fell."]


def test_a_document_that_does_not_help_has_no_points_after_one_round():
    with saying([]) as server:
        assert extracted(server, rounds=5) == ([], [extracted(server)[1][0]])
        assert len(server.requests) == 2  # one of each extraction


def test_each_window_has_rounds_of_its_own_and_shows_only_its_own_points():
    document = numbered(2500)
    parts = windows(document)
    assert len(parts) == 2

    def brain(body):
        asked = input_of(body)
        first, last = asked["document"].split()[0], asked["document"].split()[-1]
        names = ["early", "late"][len(asked["known"]) :]
        return {"points": [point(f"{name} {first}", last) for name in names[:1]]}

    with MockServer(brain) as server:
        points, calls = extracted(server, document)
        sent = inputs_sent(server)
    starts = [part.split()[0] for part in parts]
    ends = [part.split()[-1] for part in parts]
    assert [each.text for each in points] == [
        f"{name} {start}" for start in starts for name in ("early", "late")
    ]
    assert [each.spans for each in points] == [(end,) for end in ends for _ in range(2)]
    assert len(calls) == 4
    for part, start in zip(parts, starts, strict=True):
        known = [each["known"] for each in sent if each["document"] == part]
        assert known == [[], [f"early {start}"]]


def test_the_same_point_of_two_windows_is_one_with_the_spans_of_both():
    document = numbered(2500)
    with MockServer(
        lambda body: {"points": [point("The dam broke.", input_of(body)["document"].split()[0])]}
    ) as server:
        points, _ = extracted(server, document, rounds=1)
    starts = tuple(part.split()[0] for part in windows(document))
    assert points == [FoundPoint("The dam broke.", starts, ())]


@pytest.mark.parametrize(
    ("fault", "reason"), [(Truncated(), "truncated"), (Prose(), "unparseable")]
)
@pytest.mark.parametrize("document", [DOCUMENT, numbered(2500)])
def test_a_round_or_window_that_fails_fails_the_document(document, fault, reason):
    with saying([point("a", "May")], [point("b", "May")]) as server:
        server.faults = [None, fault]
        with pytest.raises(JudgeError) as caught:
            extracted(server, document)
    assert caught.value.reason == reason


def test_a_blank_document_has_no_points_and_costs_no_call():
    with saying([point("a", "b")]) as server:
        assert extracted(server, " \n") == ([], [])
        assert server.requests == []


# --- spans


def test_spans_are_given_as_they_stand_in_the_document():
    reply = [point("Broke.", " The dam broke in\nMay. ", "Rain had fallen for weeks. The wall")]
    with saying(reply) as server:
        (only,), _ = extracted(server)
    assert only.spans == ("The dam  broke in May.", "Rain had fallen for weeks. The wall")
    assert all(span in DOCUMENT for span in only.spans)
    assert only.missing == ()


def test_a_span_that_is_not_there_is_told_and_the_others_stand():
    reply = [point("Rain.", "Rain fell for weeks.", "Rain had fallen", "rain had fallen")]
    with saying(reply) as server:
        (only,), _ = extracted(server)
    assert only == FoundPoint(
        "Rain.", ("Rain had fallen",), ("Rain fell for weeks.", "rain had fallen")
    )


def test_a_point_none_of_whose_spans_is_there_is_kept_without_any():
    reply = [
        point("Made up.", "An engineer warned the town."),
        point("Bare."),
        point("B.", " "),
        point("Thin.", "The wall was thin."),
    ]
    with saying(reply) as server:
        points, _ = extracted(server)
    assert points == [
        FoundPoint("Made up.", (), ("An engineer warned the town.",)),
        FoundPoint("Bare.", (), ()),
        FoundPoint("B.", (), ()),
        FoundPoint("Thin.", ("The wall was thin.",), ()),
    ]


def test_a_span_given_twice_counts_once():
    reply = [point("Rain.", "Rain had", "Rain had", "Rain\nhad", "Hail", "Hail")]
    with saying(reply) as server:
        (only,), _ = extracted(server)
    assert only == FoundPoint("Rain.", ("Rain had",), ("Hail",))


def test_a_span_is_looked_for_in_the_whole_document():
    document = numbered(2500)
    with saying([point("Torn.", " ".join(document.split()[1100:1400]))]) as server:
        (only,), _ = extracted(server, document)
    assert only.spans == (" ".join(document.split()[1100:1400]),)


# --- replies


@pytest.mark.parametrize(
    "bad",
    [
        point(" \n", "May"),
        {"text": "No spans."},
        {"text": "One string.", "spans": "May"},
        {"text": "More.", "spans": ["May"], "source": "d1"},
        {"text": 3, "spans": []},
        "Rain fell.",
    ],
)
def test_what_is_no_point_is_asked_for_again_and_then_no_judgement(bad):
    with saying([bad], [point("Rain fell.", "Rain")]) as server:
        judge = KeyPointExtractor(model_at(server, reasks=1), rounds=1)
        assert judge(question=QUESTION, document=DOCUMENT).points[0].text == "Rain fell."
        assert len(server.requests) == 2
    with saying([point("Rain fell.", "Rain"), bad]) as server, pytest.raises(JudgeError) as caught:
        extracted(server)
    assert caught.value.reason == "unparseable"


# --- the baseline


def test_the_baseline_finds_statements_of_sentences_that_are_asked_about():
    document = (
        "The dam broke in March after weeks of rain. Bees make honey from nectar.\n\n"
        "Its wall was thin, and engineers had  warned the town about the dam. "
        f"The dam, the {'very ' * 20}old one, a wall of clay and of straw, all of it thin."
    )
    points = KeyPointExtractor("lexical")(question=QUESTION, document=document).points
    assert points[0] == FoundPoint(
        "The dam broke in March after weeks of rain",
        ("The dam broke in March after weeks of rain.",),
        (),
    )
    assert all("Bees" not in each.text for each in points)
    assert max(len(each.text.split()) for each in points) <= 25
    assert all(each.missing == () and each.spans[0] in document for each in points)


def test_the_baseline_has_nothing_to_add_to_its_own_points():
    points, calls = asyncio.run(
        KeyPointExtractor("lexical", rounds=9).extract(QUESTION, "The dam broke in March.")
    )
    assert (len(points), len(calls)) == (1, 2)


@given(st.text(max_size=300), st.text(max_size=30))
def test_the_baseline_takes_any_text_and_quotes_it(document, question):
    asked = {"question": question, "document": document, "known": []}
    points = lexical_keypoints.find_key_points(asked)["points"]
    for each in points:
        assert each["text"].strip()
        assert all(span in document for span in each["spans"])
    known = [each["text"] for each in points]
    assert lexical_keypoints.find_key_points(asked | {"known": known}) == {"points": []}
