"""The pages on errors by covariate and on drift show what their commands print; refusals."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LABELS = ROOT / "tests" / "collection" / "labels"
BIAS, DRIFT = ("bias", 2), ("drift", 2)


def blocks(page):
    """The fenced blocks of a page, commands and what the last of them prints by turns."""
    parts = (
        (ROOT / "docs" / "trust" / f"{page}.md").read_text(encoding="utf-8").split("```\n")[1::2]
    )
    return list(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize(("page", "n"), [BIAS, DRIFT])
def test_the_pages_show_what_their_commands_print(judge, page, n):
    pairs = blocks(page)
    assert len(pairs) == n
    for commands, shown in pairs:
        for command in commands.splitlines():
            ran = judge(*command.split()[1:])
            assert ran.code == 0, ran.err
        assert ran.out == shown
        if "judge score" not in commands:  # whose tables are as wide as they are
            assert max(map(len, shown.splitlines())) <= 100


@pytest.fixture
def lexical(judge, tmp_path):
    """The demo judged without a model."""
    run = ("run", "nuggets,support", "--topics", LABELS.parent / "topics.tsv", "--passages",
           LABELS.parent / "passages.jsonl", "--nuggets", LABELS.parent / "nuggets.jsonl",
           "--runs", LABELS.parent / "runs", "--out", "lexical", "--quiet")  # fmt: skip
    assert judge(*run).code == 0
    return tmp_path / "lexical"


def test_errors_and_slices_are_rows_for_machines_too(judge, lexical):
    ran = judge("bias", LABELS / "support.jsonl", lexical, "--by", "citations,run:c*", "--json")
    assert ran.code == 0, ran.err
    (row,) = ran.rows
    assert [each["by"] for each in row["by"]] == ["citations", "run:c*"]
    assert row["n"] == sum(group["n"] for group in row["by"][0]["groups"]) == 100
    ran = judge("score", lexical, "--labels", LABELS / "nuggets.jsonl", "--measures", "A",
                "--by", "length,run:c*", "--json")  # fmt: skip
    assert ran.code == 0, ran.err
    assert [(row["row"], row["by"], row["run_id"]) for row in ran.rows] == [
        ("corrected", "length", "length over 159"),
        ("corrected", "length", "length up to 159"),
        ("difference", "length", ran.rows[2]["run_id"]),
        ("corrected", "run:c*", "c*"),
        ("corrected", "run:c*", "other runs"),
        ("difference", "run:c*", "other runs"),
    ]
    ran = judge("drift", lexical, lexical, "--kind", "support", "--json")
    assert ran.code == 0, ran.err
    assert (ran.rows[0]["verdict"], ran.rows[0]["n_anchors"]) == ("neither moved", 100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bias", "LABELS", "lexical", "--by", "weather"), "--by weather: wanted some of"),
        (("agree", "LABELS", "lexical", "--by", "run"), "judge bias HUMAN JUDGED --by NAMES"),
        (("score", "lexical", "--by", "run"), "--by: for corrected scores alone"),
        (("score", "lexical", "--labels", "LABELS", "--by", "run"), "name a group, run:PATTERN"),
        (("drift", "lexical", "lexical", "--where", "a=b"), "--where: chooses labels of people"),
        (("drift", "lexical", "LABELS", "--kind", "keypoints"), "has no entailments.jsonl"),
        (("drift", "lexical", "lexical", "--margin", "2"), "--margin 2.0: wanted above 0"),
    ],
)
def test_what_cannot_be_told_ends_with_2_and_one_line(judge, lexical, arguments, message):
    given = [LABELS / "nuggets.jsonl" if each == "LABELS" else each for each in arguments]
    ran = judge(*given)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_citations_of_files_that_changed_since_are_not_counted(judge, lexical, tmp_path):
    manifest = json.loads((lexical / "manifest.json").read_bytes())
    manifest["inputs"] = {**manifest["inputs"], str(tmp_path / "gone.jsonl"): "0"}
    (lexical / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    ran = judge("bias", LABELS / "nuggets.jsonl", lexical, "--by", "citations")
    assert ran.code == 2
    assert "gone.jsonl: is not there; --by citations needs the answers" in ran.err
