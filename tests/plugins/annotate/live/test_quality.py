"""Self-agreement, anchoring and speed, counted by hand."""

import pytest
from given_labels import cell, label

from nuggetjudge.plugins.annotate.live.quality import anchoring, self_agreement, share, speed


# Clopper and Pearson (1934) at 95%; the ends of 0 and n of n are 1 - 0.025 ** (1 / n) off.
@pytest.mark.parametrize(
    ("n_of", "n", "low", "high"),
    [
        (0, 10, 0.0, 1 - 0.025**0.1),
        (10, 10, 0.025**0.1, 1.0),
        (8, 10, 0.4439, 0.9748),
        (5, 20, 0.0866, 0.4910),
    ],
)
def test_the_interval_of_a_share_is_the_published_one(n_of, n, low, high):
    interval = share(n_of, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


def test_a_share_of_nothing_is_undefined():
    assert share(0, 0).value is None
    with pytest.raises(ValueError, match="3 of 2"):
        share(3, 2)


def test_pairs_are_of_one_person_and_one_condition():
    ann = [label("full", cell(0)), label("full", cell(0), repeat=1),
           label("full", cell(1)), label("none", cell(1), repeat=1),
           label("none", cell(2)), label("none", cell(2), repeat=1),
           label("full", cell(3)), label(None, cell(3), repeat=1),
           label(None, cell(4)), label(None, cell(4), repeat=1),
           label("full", cell(5), repeat=1)]  # fmt: skip
    bo = [
        label("none", cell(5)),
        label("full", cell(6)),
        label("full", cell(6), repeat=1, condition="post_edit"),
        label("full", cell(7), is_control=True),
        label("full", cell(7), is_control=True, repeat=1),
    ]
    measured = self_agreement([ann, bo], ("none", "partial", "full"))
    assert (measured.equal.n_of, measured.equal.n, measured.n_cannot_tell) == (2, 3, 1)
    # Observed 2/3; by chance (2 * 1 + 1 * 2) / 9 = 4/9; kappa (6/9 - 4/9) / (5/9) = 0.4.
    assert measured.kappa["unweighted"] == pytest.approx(0.4)


def test_what_is_kept_of_shown_labels_is_counted_apart_for_controls():
    post = {"condition": "post_edit"}
    shown = [label("full", cell(n), shown="full", **post) for n in range(3)]
    shown += [label("none", cell(3), shown="full", **post), label(None, cell(4), shown="full")]
    controls = [label("none", cell(5), shown="none", is_control=True, **post),
                label("full", cell(6), shown="none", is_control=True, **post),
                label("none", cell(5), shown="none", is_control=True, repeat=1)]  # fmt: skip
    unseen = [label("full", cell(7)), label("none", cell(8)), label(None, cell(9))]
    measured = anchoring([*shown, *controls, *unseen], lambda cell: "full")
    assert (measured.kept_controls.n_of, measured.kept_controls.n) == (1, 2)
    assert (measured.kept.n_of, measured.kept.n) == (3, 4)
    assert (measured.equal_unseen.n_of, measured.equal_unseen.n) == (1, 2)
    assert measured.n_cannot_tell == 1
    assert anchoring(shown).equal_unseen is None


def test_speed_is_of_the_time_at_it_in_the_order_of_the_labels():
    labels = [label("full", cell(n), seq=n + 1, active_ms=ms * 1000)
              for n, ms in enumerate([10, 8, 6, 6, 4, 4, 2, 2])]  # fmt: skip
    measured = speed([*reversed(labels), label("full", cell(9))])
    assert (measured.n, measured.seconds, measured.median_seconds) == (8, 42, 5)
    assert measured.per_hour == pytest.approx(3600 * 8 / 42)
    assert (measured.first_median, measured.last_median) == (9, 2)
    assert speed([]).per_hour is None
    assert speed(labels[:7]).first_median is None
