"""Merged points: every original in exactly one, repaired within the cap or no judgement."""

import asyncio
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, Prose, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import KeyPointMerger, MergedPoint

QUESTION = "Why did the dam break?"
TEXTS = ["Rain fell for weeks.", "The wall was thin.", "It rained for weeks.", "Clay is weak."]
GOOD = [("Rain fell for weeks.", 1, 3), ("The wall was thin.", 2), ("Clay is weak.", 4)]
MERGED = [
    MergedPoint("Rain fell for weeks.", (0, 2)),
    MergedPoint("The wall was thin.", (1,)),
    MergedPoint("Clay is weak.", (3,)),
]


def groups(*pairs):
    return [{"text": text, "members": list(members)} for text, *members in pairs]


def saying(*replies):
    """A server that gives these groups in turn, the last ones for ever."""
    turns = iter(replies)
    return MockServer(lambda body: {"merged": groups(*next(turns, replies[-1]))})


def model_at(server, **settings):
    settings = {"retries": 0, "reasks": 0, **settings}
    return ModelConfig(model="openai/mock", api_base=server.base_url, **settings)


def merged(server, texts=TEXTS, **options):
    judge = KeyPointMerger(model_at(server), **options)
    return asyncio.run(judge.merge(QUESTION, texts))


def inputs_sent(server):
    return [input_of(request.body) for request in server.requests]


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
    with saying(GOOD) as server:
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
    with saying([("Rain \n fell.", 1, 3), ("Thin walls failed!", 2), ("Clay.", 4)]) as server:
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
    with saying(wrong, GOOD) as server:
        assert merged(server)[0] == MERGED
        _, repair = inputs_sent(server)
    assert (repair["rejected"], repair["faults"]) == (groups(*wrong), faults)
    with saying(wrong) as server:
        with pytest.raises(JudgeError) as caught:
            merged(server)
        assert len(server.requests) == 3
    assert caught.value.reason == reason
    assert caught.value.detail == f"of 4 in a call, after 2 repairs: {'; '.join(faults)}"
    assert caught.value.raw == str(groups(*wrong))


@pytest.mark.parametrize("repairs", [0, 1, 2, 4])
def test_there_are_at_most_so_many_repairs(repairs):
    wrong = [[(f"Try {i}.", 1, 2, 3)] for i in range(9)]
    with saying(*wrong) as server:
        with pytest.raises(JudgeError, match=f"after {repairs} repairs: in no merged point: 4"):
            merged(server, repairs=repairs)
        assert len(server.requests) == 1 + repairs
    with saying(*wrong[:repairs], GOOD) as server:
        assert merged(server, repairs=repairs)[0] == MERGED


def test_each_repair_is_about_the_reply_before_it():
    with saying([("Rain.", 1, 3)], [*GOOD, ("Frost.", 7)], GOOD) as server:
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
    with saying([("Rain.", 1, 3)], GOOD) as server:
        server.faults = [None, Prose()]
        with pytest.raises(JudgeError) as caught:
            merged(server)
    assert caught.value.reason == "unparseable"


@pytest.mark.parametrize("texts", [[], ["Rain fell."]])
def test_fewer_than_two_points_cost_no_call(texts):
    with saying(GOOD) as server:
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
