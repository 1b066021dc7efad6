"""Key points: every word of a document is read, in rounds, and spans are looked up in it."""

import asyncio
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, Prose, Truncated, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import FoundPoint, KeyPointExtractor, KeyPointMerger, MergedPoint
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
        point("Made up.", "An engineer warned the town."), point("Bare."), point("B.", " "),
        point("Thin.", "The wall was thin."),
    ]  # fmt: skip
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


# Merged points: every original in exactly one, repaired within the cap or no judgement.
TEXTS = ["Rain fell for weeks.", "The wall was thin.", "It rained for weeks.", "Clay is weak."]
GOOD = [("Rain fell for weeks.", 1, 3), ("The wall was thin.", 2), ("Clay is weak.", 4)]
MERGED = [
    MergedPoint("Rain fell for weeks.", (0, 2)),
    MergedPoint("The wall was thin.", (1,)),
    MergedPoint("Clay is weak.", (3,)),
]


def groups(*pairs):
    return [{"text": text, "members": list(members)} for text, *members in pairs]


def keypoint_merger_saying(*replies):
    """A server that gives these groups in turn, the last ones for ever."""
    turns = iter(replies)
    return MockServer(lambda body: {"merged": groups(*next(turns, replies[-1]))})


def merged(server, texts=TEXTS, **options):
    judge = KeyPointMerger(model_at(server), **options)
    return asyncio.run(judge.merge(QUESTION, texts))


def by_topic(body):
    """Joins the points that begin with the same word."""
    by_name = {}
    for number, text in input_of(body)["points"].items():
        by_name.setdefault(text.split()[0], []).append((int(number), text))
    return {
        "merged": groups(
            *((f"{name} joined", *(n for n, _ in same)) for name, same in by_name.items())
        )
    }


def merged_by(baseline, texts, most):
    """The points when a function answers, which needs no server."""
    judge = KeyPointMerger("lexical", most_points=most)
    judge.baselines = {"join": baseline}
    return judge(question=QUESTION, texts=texts).points


def test_a_partition_is_one_call():
    with keypoint_merger_saying(GOOD) as server:
        points, calls = merged(server)
        assert inputs_sent(server) == [
            {
                "question": QUESTION,
                "points": dict(zip("1234", TEXTS, strict=True)),
                "rejected": [],
                "faults": [],
            }
        ]
    assert points == MERGED
    assert len(calls) == 1


def test_a_point_alone_keeps_its_text_and_a_joined_one_has_that_of_the_reply():
    with keypoint_merger_saying(
        [("Rain \n fell.", 1, 3), ("Thin walls failed!", 2), ("Clay.", 4)]
    ) as server:
        points, _ = merged(server)
    assert [point.text for point in points] == ["Rain fell.", TEXTS[1], TEXTS[3]]


WRONG = {
    "lost": ([("Rain.", 1, 3), ("Thin.", 2)], ["in no merged point: 4"], "incomplete"),
    "invented": ([*GOOD, ("Frost.", 9)], ["not the number of a point: 9"], "unparseable"),
    "no number": ([*GOOD, ("Frost.", 0, -1)], ["not the number of a point: -1, 0"], "unparseable"),
    "doubled": ([*GOOD, ("More.", 2, 4)], ["listed more than once: 2, 4"], "unparseable"),
    "doubled in one": (
        [("Rain.", 1, 3, 3), *GOOD[1:]],
        ["listed more than once: 3"],
        "unparseable",
    ),
    "all at once": (
        [("Rain.", 1, 1), ("Thin.", 5)],
        ["in no merged point: 2, 3, 4", "not the number of a point: 5", "listed more than once: 1"],
        "incomplete",
    ),
    "nothing": ([], ["in no merged point: 1, 2, 3, 4"], "incomplete"),
}


@pytest.mark.parametrize(("wrong", "faults", "reason"), WRONG.values(), ids=WRONG)
def test_a_reply_that_is_no_partition_is_repaired_or_after_two_repairs_no_judgement(
    wrong, faults, reason
):
    with keypoint_merger_saying(wrong, GOOD) as server:
        assert merged(server)[0] == MERGED
        _, repair = inputs_sent(server)
    assert (repair["rejected"], repair["faults"]) == (groups(*wrong), faults)
    with keypoint_merger_saying(wrong) as server:
        with pytest.raises(JudgeError) as caught:
            merged(server)
        assert len(server.requests) == 3
    assert caught.value.reason == reason
    assert caught.value.detail == f"of 4 in a call, after 2 repairs: {'; '.join(faults)}"
    assert caught.value.raw == str(groups(*wrong))


@pytest.mark.parametrize("repairs", [0, 1, 2, 4])
def test_there_are_at_most_so_many_repairs(repairs):
    wrong = [[(f"Try {i}.", 1, 2, 3)] for i in range(9)]
    with keypoint_merger_saying(*wrong) as server:
        with pytest.raises(JudgeError, match=f"after {repairs} repairs: in no merged point: 4"):
            merged(server, repairs=repairs)
        assert len(server.requests) == 1 + repairs
    with keypoint_merger_saying(*wrong[:repairs], GOOD) as server:
        assert merged(server, repairs=repairs)[0] == MERGED


def test_each_repair_is_about_the_reply_before_it():
    with keypoint_merger_saying([("Rain.", 1, 3)], [*GOOD, ("Frost.", 7)], GOOD) as server:
        points, calls = merged(server)
        faults = [each["faults"] for each in inputs_sent(server)]
    assert faults == [[], ["in no merged point: 2, 4"], ["not the number of a point: 7"]]
    assert points == MERGED
    assert len(calls) == 3


@pytest.mark.parametrize(
    "bad",
    [
        {"text": " ", "members": [1, 2, 3, 4]},
        {"text": "Rain.", "members": []},
        {"text": "Rain.", "members": ["1", 2, 3, 4]},
        {"text": "Rain.", "members": [1.0, 2, 3, 4]},
        {"text": "Rain.", "members": [True, 2, 3, 4]},
        {"text": "Rain.", "members": {"1": 1}},
        {"text": "Rain."},
        {"text": "Rain.", "members": [1, 2, 3, 4], "why": "all rain"},
        [1, 2, 3, 4],
    ],
)
def test_a_reply_that_alone_shows_that_it_is_wrong_is_asked_for_again(bad):
    replies = iter([{"merged": [bad]}, {"merged": groups(*GOOD)}])
    with MockServer(lambda body: next(replies)) as server:
        judge = KeyPointMerger(model_at(server, reasks=1))
        assert judge(question=QUESTION, texts=TEXTS).points == MERGED
        assert [each["rejected"] for each in inputs_sent(server)] == [[], []]  # no repair
    with MockServer(lambda body: {"merged": [bad]}) as server, pytest.raises(JudgeError) as caught:
        merged(server)
    assert caught.value.reason == "unparseable"


def test_a_repair_that_fails_is_no_judgement():
    with keypoint_merger_saying([("Rain.", 1, 3)], GOOD) as server:
        server.faults = [None, Prose()]
        with pytest.raises(JudgeError) as caught:
            merged(server)
    assert caught.value.reason == "unparseable"


@pytest.mark.parametrize("texts", [[], ["Rain fell."]])
def test_fewer_than_two_points_cost_no_call(texts):
    with keypoint_merger_saying(GOOD) as server:
        points, calls = merged(server, texts)
        assert server.requests == []
    assert points == [MergedPoint(text, (0,)) for text in texts]
    assert calls == []


# --- many points


def test_sixty_points_are_one_call_and_sixty_one_are_three_blocks_each_with_each():
    with MockServer(by_topic) as server:
        merged(server, [f"p{i} it is" for i in range(60)])
        assert len(server.requests) == 1
    with MockServer(by_topic) as server:
        texts = [f"p{i} it is" for i in range(61)]
        points, calls = merged(server, texts)
        sent = [set(each["points"].values()) for each in inputs_sent(server)]
    assert [point.text for point in points] == texts
    assert len(calls) == len(sent) == 3
    assert max(map(len, sent)) <= 60
    for pair in combinations(texts, 2):
        assert any(set(pair) <= each for each in sent)


@given(names=st.lists(st.sampled_from("abcdefgh"), max_size=40), most=st.integers(2, 12))
def test_points_that_belong_together_are_joined_wherever_they_stand(names, most):
    def by_name(inputs):
        assert len(inputs["points"]) <= most
        by_letter = {}
        for number, text in inputs["points"].items():
            by_letter.setdefault(text[0], []).append(int(number))
        return {"merged": groups(*((f"{name} joined", *same) for name, same in by_letter.items()))}

    points = merged_by(by_name, [f"{name} alone" for name in names], most)
    expected = {name: tuple(i for i, each in enumerate(names) if each == name) for name in names}
    assert {point.text[0]: point.members for point in points} == expected
    assert len(points) == len(expected)
    assert [point.members for point in points] == sorted(point.members for point in points)
    for point in points:
        assert point.text.endswith("joined" if len(point.members) > 1 else "alone")


@given(st.integers(0, 50), st.integers(2, 12), st.randoms(use_true_random=False))
def test_whatever_is_joined_every_original_is_in_exactly_one_merged_point(n, most, rng):
    def at_random(inputs):
        by_group = {}
        for number in inputs["points"]:
            by_group.setdefault(rng.randint(0, 4), []).append(int(number))
        pairs = [("joined", *same) for same in by_group.values()]
        return {"merged": groups(*rng.sample(pairs, len(pairs)))}

    points = merged_by(at_random, [f"point {i}" for i in range(n)], most)
    assert sorted(index for point in points for index in point.members) == list(range(n))
    assert all(point.members for point in points)


def test_a_block_that_was_joined_whole_with_another_is_not_asked_about_again():
    names = ["a"] * 4 + ["b"] * 2
    with MockServer(by_topic) as server:
        points, calls = merged(
            server, [f"{name} {i}" for i, name in enumerate(names)], most_points=4
        )
        assert len(server.requests) == len(calls) == 2  # blocks aa, aa, bb: (1, 2) and (1, 3)
    assert [point.members for point in points] == [(0, 1, 2, 3), (4, 5)]


def test_a_wrong_block_is_repaired_with_the_numbers_of_its_own_call():
    def brain(body):
        asked = input_of(body)
        reply = by_topic(body)
        if not asked["faults"] and "c 4" in asked["points"].values():
            reply["merged"].pop()  # loses the last
        return reply

    with MockServer(brain) as server:
        points, _ = merged(server, ["a 0", "b 1", "a 2", "b 3", "c 4", "c 5"], most_points=4)
        faults = [each["faults"] for each in inputs_sent(server) if each["faults"]]
    assert [point.members for point in points] == [(0, 2), (1, 3), (4, 5)]
    assert faults == [["in no merged point: 3, 4"]]


@pytest.mark.parametrize(("most", "repairs"), [(1, 2), (0, 2), (60, -1)])
def test_limits_that_allow_nothing_are_refused(most, repairs):
    with pytest.raises(ValueError, match=f"got {most} and {repairs}"):
        KeyPointMerger("lexical", most_points=most, repairs=repairs)


# --- hostile texts, and the baseline


def test_the_baseline_joins_points_that_share_half_of_their_words():
    texts = [
        "Weeks of heavy rain filled the reservoir.",
        "The wall of the dam was thin.",
        "Heavy rain filled the reservoir for weeks before the dam broke.",
        "Engineers had warned the town.",
    ]
    assert KeyPointMerger("lexical")(question=QUESTION, texts=texts).points == [
        MergedPoint(texts[2], (0, 2)),  # has more words
        MergedPoint(texts[1], (1,)),
        MergedPoint(texts[3], (3,)),
    ]


@given(st.lists(st.text(max_size=30), max_size=12), st.integers(2, 6), st.text(max_size=20))
def test_the_baseline_takes_any_texts(texts, most, question):
    judge = KeyPointMerger("lexical", most_points=most)
    points = judge(question=question, texts=texts).points
    assert sorted(index for point in points for index in point.members) == list(range(len(texts)))
    assert {point.text for point in points} <= {" ".join(text.split()) for text in texts} | set(
        texts
    )
