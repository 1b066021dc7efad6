"""What `agree` says first: a word for how strong the agreement is, and the figure behind it."""

import json

import pytest

from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.tables.agreement import make_agreement_view
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.views.terminal import Terminal, view_text


@pytest.fixture
def compared(tmp_path):
    """Compares labels of one topic, in the order of their items."""

    def compare(human, judged):
        paths = []
        for name, labels in (("human", human), ("judged", judged)):
            rows = [{"topic_id": "t", "passage_id": i, "label": x} for i, x in enumerate(labels)]
            paths.append(tmp_path / f"{name}.jsonl")
            paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return agree(*paths, Problems(), resamples=0)

    return compare


# Landis and Koch 1977, p. 165; a value is rounded as it is shown.
@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        (-0.2, "less than by chance"), (0.0, "slightly"), (0.204, "slightly"),
        (0.206, "to a fair degree"), (0.40, "to a fair degree"), (0.41, "moderately"),
        (0.60, "moderately"), (0.61, "substantially"), (0.80, "substantially"),
        (0.81, "almost perfectly"), (1.0, "almost perfectly"), (None, "to an unknown degree"),
    ],
)  # fmt: skip
def test_a_kappa_is_in_words(compared, kappa, word):
    comparison = compared(["no", "yes", "no"], ["no", "yes", "yes"])
    comparison["intervals"]["cohen_kappa"]["unweighted"]["value"] = kappa
    assert make_agreement_view(comparison).verdict.startswith(
        f"The judge agrees with people {word}: "
    )


def test_grades_go_by_linear_kappa_and_two_labels_by_kappa(compared):
    """By hand: 1 - (1 / 4) / (18 / 16) = .78, and (2/3 - 4/9) / (1 - 4/9) = .4."""
    view = make_agreement_view(compared([0, 1, 2, 3], [0, 1, 2, 2]))
    assert view.verdict.endswith("substantially: linear kappa .78.")
    assert view.tables[0].rows[0].cells[0] == "Cohen kappa, linear"
    two = make_agreement_view(compared(["no", "yes", "no"], ["no", "yes", "yes"]))
    assert two.verdict.endswith("to a fair degree: kappa .40.")


# .9 and .8: Voorhees 2001.
@pytest.mark.parametrize(
    ("tau", "words"),
    [
        (0.90, "almost exactly as people do"), (0.89, "much as people do"),
        (0.80, "much as people do"), (0.79, "partly as people do"),
        (0.49, "differently than people do"), (-1.0, "differently than people do"),
        (None, "cannot be compared"),
    ],
)  # fmt: skip
def test_a_tau_is_in_words(tau, words):
    row = {"value": tau, "low": None, "high": None, "level": 0.95}
    values = {
        "coefficients": {"run_level": {"tau_b": {"n": 45}}},
        "intervals": {"run_level": {"tau_b": row}},
        "note": None,
    }
    other = {**values, "intervals": {"run_level": {"tau_b": {**row, "value": 0.1}}}}
    measures = {"length": other, "V_strict": values}
    view = make_agreement_view({"kind": "scores", "measures": measures, "run_aliases": {}})
    assert view.verdict.startswith("By V_strict the ")
    assert words in view.verdict
    assert view.verdict.endswith("over 45 runs.")
    assert [table.title for table in view.tables] == ["V_strict", "length"]


def test_many_long_labels_keep_every_count_within_the_window(compared):
    labels = [f"a_label_that_is_long_{i:02}" for i in range(9)]
    text = view_text(make_agreement_view(compared(labels * 3, labels * 3)), Terminal(width=60))
    assert max(map(len, text.splitlines())) <= 60
    confusion = text.partition("People's labels")[2].partition("one-vs-rest")[0]
    assert sum(line.split().count("3") for line in confusion.splitlines()) == len(labels)
