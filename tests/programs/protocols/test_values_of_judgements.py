"""What an answer scores by the labels of its judgements, as when another judge's are compared."""

import pytest

from nuggetjudge.programs.protocols.judgements import Judgement, by_answer
from nuggetjudge.programs.protocols.table import program


@pytest.mark.parametrize(
    ("task", "measure", "labels", "wanted"),
    [  # wanted: value, n judged, n not judged
        ("support", "support_precision", ("full", None), (1.0, 1, 1)),
        ("support", "support_precision", ("full", "none"), (0.5, 2, 0)),
        ("support", "support_precision", ("partial", "none"), (0.25, 2, 0)),
        ("nuggets", "A", ("support", None), (1.0, 1, 1)),
        ("nuggets", "A", ("partial_support", "not_support"), (0.25, 2, 0)),
        ("keypoints", "KPR", ("yes", None), (1.0, 1, 1)),
        ("keypoints", "KPR", ("yes", "no"), (0.5, 2, 0)),
    ],
)
def test_a_judgement_without_a_label_is_not_counted_as_a_zero(task, measure, labels, wanted):
    units = {"support": "citation", "nuggets": "nugget", "keypoints": "key point"}
    given = [
        Judgement(
            *("r", "t", ("t", "r", str(n)), units[task], str(n), "", label),
            importance="vital",
            sentence=n,
            docid="d",
        )
        for n, label in enumerate(labels)
    ]
    value = program(task).values(by_answer(given))["r", "t"][measure]
    assert (value.value, value.n, value.n_unjudged) == wanted
