"""KPF where missing judgements leave open whether it is 0/0, and groups with missing answers."""

import pytest

from nuggetjudge.metrics import Value
from nuggetjudge.programs.protocols.keypoints import KeyPointCell, group_rows
from nuggetjudge.records import Topic
from nuggetjudge.records.key_points import Claim, ClaimSet

NOTHING_CLAIMED = ()
NOT_EXTRACTED = None


def kpf(labels, claims):
    texts = claims and tuple(Claim(text=str(i), label=label) for i, label in enumerate(claims))
    claim_set = ClaimSet(topic_id="t", run_id="r", claims=texts)
    return KeyPointCell("t", "r", list(labels), claim_set, is_precise=True).values()["KPF"]


OPEN = {  # labels of the key points, of the claims, and how much is missing
    "0, or 0/0 with one point entailed": (["no", None], NOTHING_CLAIMED, 1),
    "nothing judged of what says nothing": ([None, None], NOTHING_CLAIMED, 2),
    "0/0 if it claims nothing": (["yes", "no"], NOT_EXTRACTED, 1),
    "0, 0/0 or more": (["no", None], NOT_EXTRACTED, 2),
}
CERTAIN = {
    "no key point and no claim": (["no"], NOTHING_CLAIMED, Value(0.0, 1, 0, 0.0, 0.0)),
    "no key point, whatever it claims": (["no"], NOT_EXTRACTED, Value(0.0, 1, 1, 0.0, 0.0)),
    "0/0, whatever the others": (["yes", None], NOTHING_CLAIMED, Value(None, 1, 0, None, None)),
    "both known": (["yes"], ["yes"], Value(1.0, 2, 0, 1.0, 1.0)),
}


@pytest.mark.parametrize(("labels", "claims", "n_missing"), OPEN.values(), ids=OPEN.keys())
def test_a_value_that_may_be_none_has_the_widest_bounds(labels, claims, n_missing):
    value = kpf(labels, claims)
    assert (value.value, value.low, value.high, value.n_unjudged) == (None, 0.0, 1.0, n_missing)


@pytest.mark.parametrize(("labels", "claims", "value"), CERTAIN.values(), ids=CERTAIN.keys())
def test_a_value_that_nothing_can_take_away_stays(labels, claims, value):
    assert kpf(labels, claims) == value


def test_where_the_answer_was_not_made_nothing_is_known():
    values = KeyPointCell("t", "r", None, is_precise=True).values()
    assert set(values.values()) == {Value(None, 0, 1, 0.0, 1.0)}


def recall_of(run_id):
    """By group, KPR with its bounds and how much is missing; nobody knows the points of t2."""
    cells = [
        KeyPointCell("t1", "judged", ["yes", "no"]),
        KeyPointCell("t1", "lost", None),
        KeyPointCell("t3", "lost", ["yes"]),
    ]
    topics = [Topic(id=name, text=name, domain="ports") for name in ("t1", "t2", "t3")]
    lengths = {("t1", "judged"): 9, ("t3", "lost"): 9}
    rows = list(group_rows(cells, topics, {"t1": 2, "t3": 1}, lengths))
    fields = ("value", "low", "high", "n_unjudged")
    return {
        row["by"]: tuple(row[name] for name in fields)
        for row in rows
        if row["run_id"] == run_id and row["measure"] == "KPR"
    }


def test_a_topic_whose_key_points_are_not_known_leaves_the_means_of_its_groups_open():
    of = recall_of("judged")  # 1 of 2 points, nothing of t2, and nothing of the 1 point of t3
    assert of["domain"] == pytest.approx((1 / 6, 1 / 6, 1 / 2, 1))
    assert of["micro"] == pytest.approx((1 / 3, 0.0, 1.0, 1))


def test_an_answer_that_was_not_made_leaves_its_groups_open():
    of = recall_of("lost")
    assert of["micro"] == (1.0, 0.0, 1.0, 3)  # both points of t1, and those of t2
    assert of["length"] == (1.0, 0.0, 1.0, 1)  # nobody knows how long it would have been
