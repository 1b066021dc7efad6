"""`judge jury` on the command line: what is printed, and what it refuses."""

import json
import re

import numpy as np
import pytest
from json_lines import write_rows

from nuggetjudge.judges.combined.confidence import read_cascade_file

NAMES = ("team1-a", "team1-b", "team2-c")


@pytest.fixture
def voted(tmp_path):
    """120 items of 4 topics: c errs on every fifth, a and b together on every third."""
    path = tmp_path / "voted.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(120):
            truth = (i * 7) % 4
            first = truth if i % 3 else (truth + 1) % 4
            votes = dict(zip(NAMES, (first, first, truth if i % 5 else 0), strict=True))
            row = {"qid": f"t{i % 4}", "docid": f"p{i}", "relevance": truth, "said": votes}
            file.write(json.dumps(row) + "\n")
    return path


def test_the_verdict_compares_the_jury_with_its_best_member(judge, voted):
    ran = judge("jury", voted, "--votes", "said", "--labels", voted)
    assert ran.code == 0, ran.err
    verdict = " ".join(ran.out.partition("\n\n")[0].split())
    assert re.fullmatch(
        r"The jury agrees with people as well as its best member: "
        r"quadratic kappa \.\d\d \[-?\.\d\d, \.\d\d\] against \.\d\d; its 3 members are worth "
        r"1\.\d independent judges \(errors correlate \.\d\d\)\.",
        verdict,
    )
    for way in ("single, chosen on other", "median", "Dawid-Skene, all"):
        assert any(line.startswith(way) for line in ran.out.splitlines()), way
    assert "single, best of these" not in ran.out  # in hindsight
    [member] = [line.split() for line in ran.out.splitlines() if line.startswith("team2-c")]
    assert member[1] == "120"
    csv = judge("jury", voted, "--votes", "said", "--labels", voted, "--all", "--format", "csv")
    assert '"single, best of these' in csv.out


def test_json_has_the_same_figures(judge, voted):
    given = ("jury", voted, "--votes", "said", "--labels", voted, "--json")
    [report] = judge(*given).rows
    assert [row["member"] for row in report["members"]] == list(NAMES)
    assert report["members"][0]["differs"] == 0.0  # the middle one of three, two of whom agree
    assert report["by_people"]
    assert {way["uses"] for way in report["methods"]} == {"these", "none", "other topics"}


def test_without_labels_the_worth_is_an_upper_bound(judge, voted):
    ran = judge("jury", voted, "--votes", "said")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("How many judges its 3 members are worth is unknown")  # two agree
    assert "single" not in ran.out


def test_combined_labels_can_be_compared_with_people(judge, voted):
    out = ("--method", "dawid-skene", "--out", "combined.jsonl")
    ran = judge("jury", voted, "--votes", "said", *out)
    assert ran.code == 0, ran.err
    agreed = judge("agree", voted, "combined.jsonl", "--json")
    assert agreed.code == 0, agreed.err
    assert agreed.rows[0]["n"] == 120


# `judge cascade` on the command line: what is printed, written and refused.
CASCADE_NAMES = ("small", "other", "strong")


@pytest.fixture
def cascade_voted(tmp_path):
    """480 items of 16 topics: two cheap judges err, mostly apart; the strong one every tenth."""
    rng, path = np.random.default_rng(3), tmp_path / "voted.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(480):
            truth = int(rng.integers(4))
            errs = rng.random(3) < (0.3, 0.3, 0.1)
            votes = {
                n: (truth + 2) % 4 if e else truth for n, e in zip(CASCADE_NAMES, errs, strict=True)
            }
            text = {"query": "tides", "passage": "water " * (1 + i % 7)}
            row = {"qid": f"t{i % 16}", "docid": f"p{i}", **text, "relevance": truth, "said": votes}
            file.write(json.dumps(row) + "\n")
    return path


def test_the_curve_has_chance_and_the_panel_beside_it(judge, cascade_voted):
    given = (
        "cascade", "curve", cascade_voted, cascade_voted, "--votes", "said", "--confidence",
        "agreement",
    )  # fmt: skip
    ran = judge(*given, "--share", 0, "--share", 0.3, "--cut", 2)
    assert ran.code == 0, ran.err
    assert max(map(len, ran.out.splitlines())) <= 80
    verdict = " ".join(ran.out.partition("\n\n")[0].split())
    assert verdict.startswith("Asking strong about the least confident 30% gives quadratic kappa ")
    assert "at random" in verdict
    assert verdict.endswith("significantly worse than strong alone.")
    for title in ("the 2 cheap judges, median", "strong  "):
        assert any(line.startswith(title) for line in ran.out.splitlines()), title
    csv = judge(*given, "--share", 0.3, "--all", "--format", "csv")
    assert "random_small" in csv.out
    [report] = judge(*given, "--share", 0.3, "--json").rows
    kappa = {point["way"]: point["quadratic"]["value"] for point in report["points"]}
    assert kappa["confidence"] > kappa["random"] + 0.03
    assert kappa["expensive"] > kappa["random"]
    assert kappa["panel"] < kappa["confidence"]


def test_a_share_becomes_a_threshold_of_a_file_that_a_config_takes(judge, cascade_voted):
    given = ("cascade", "fit", cascade_voted, cascade_voted, "--votes", "said", "--out", "c.json")
    ran = judge(*given, "--share", 0.4)
    assert ran.code == 0, ran.err
    assert max(map(len, ran.out.splitlines())) <= 80
    state = read_cascade_file(cascade_voted.parent / "c.json")
    assert (state.judge, state.members, state.share) == ("relevance", CASCADE_NAMES[:2], 0.4)
    assert state.fitted["goes_on"] == pytest.approx(0.4, abs=0.05)
    assert len(state.fitted_on) == 16
    assert "log length" in state.chance.weights
    again = judge(*given, "--share", 0.4)
    assert (again.code, "exists already" in again.err) == (2, True)


@pytest.mark.slow
def test_a_guarantee_is_printed_with_how_often_it_was_broken(judge, cascade_voted):
    given = (
        "cascade", "fit", cascade_voted, cascade_voted, "--votes", "said", "--confidence",
        "agreement",
    )  # fmt: skip
    ran = judge(*given, "--agree", 0.75, "--out", "c.json")
    assert ran.code == 0, ran.err
    assert max(map(len, ran.out.splitlines())) <= 80
    verdict = " ".join(ran.out.partition("\n\n")[0].split())
    promised = "; guaranteed in 90% of fits: at least 75% of the kept labels agree with people."
    assert verdict.endswith(promised)
    assert [line.split()[:2] for line in ran.out.splitlines() if line.startswith("topic ")] == [
        ["topic", "1,000"]
    ]
    by_item = judge(*given, "--agree", 0.75, "--unit", "item", "--out", "d.json")
    assert "design effect" in by_item.out


def test_labels_of_another_question_are_not_taken_for_errors(judge, cascade_voted):
    other = cascade_voted.parent / "other.jsonl"
    rows = [
        json.loads(line) | {"relevance": "yes"} for line in cascade_voted.open(encoding="utf-8")
    ]
    named = [{("label" if k == "relevance" else k): v for k, v in row.items()} for row in rows]
    write_rows(other, named)
    ran = judge("cascade", "curve", other, cascade_voted, "--votes", "said", "--kind", "relevance")
    assert ran.code == 2
    assert "labels of another scale: people gave" in ran.err
