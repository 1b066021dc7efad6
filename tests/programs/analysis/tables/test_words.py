"""The words of verdicts: the glossary lists every threshold, and no other."""

import re
from pathlib import Path

import pytest

from nuggetjudge.programs.analysis.tables import words

PAGE = Path(__file__).resolve().parents[4] / "docs" / "learn" / "glossary.md"


def test_the_glossary_has_every_threshold_of_a_verdict():
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:up to|from) (-?\d?\.\d\d) \| (.+) \|$", text, re.MULTILINE)
    declared = [*words.KAPPA_WORDS, *((n, f"{w} people do") for n, w in words.TAU_WORDS)]
    assert [(float(number), word) for number, word in rows] == declared
    assert f"fewer than {words.FEW_TOPICS} tested topics" in text
    assert f"fewer than {words.FEW_AUDITED_TOPICS} topics" in text
    assert f"fewer than {words.FEW_SCORED_TOPICS} topics (`report`)" in text
    assert f"kappa of at most {words.WEAK_KAPPA:.2f}".replace("0.", ".") in text
    assert all(f"\n| {word} | " in text for word in words.ORDER_WORDS)
    assert f"correlate above .{words.MAX_TOGETHER * 10:.0f}" in text


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [(0.01, 0.2, 1), (-0.2, -0.01, -1), (-0.1, 0.1, 0), (0.0, 0.2, 0), (None, None, 0)],
)
def test_a_difference_is_one_where_its_interval_leaves_out_0(low, high, side):
    assert words.compare_with_zero({"value": 0.1, "low": low, "high": high}) == side
