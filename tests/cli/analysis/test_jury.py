"""`judge jury` on the command line: what is printed, and what it refuses."""

import json
import re

import pytest

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
    assert {way["uses"] for way in report["ways"]} == {"these", "none", "other topics"}


def test_without_labels_the_worth_is_an_upper_bound(judge, voted):
    ran = judge("jury", voted, "--votes", "said")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("How many judges its 3 members are worth is unknown")  # two agree
    assert "single" not in ran.out


def test_combined_labels_can_be_compared_with_people(judge, voted):
    out = ("--how", "dawid-skene", "--out", "combined.jsonl")
    ran = judge("jury", voted, "--votes", "said", *out)
    assert ran.code == 0, ran.err
    agreed = judge("agree", voted, "combined.jsonl", "--json")
    assert agreed.code == 0, agreed.err
    assert agreed.rows[0]["n"] == 120
