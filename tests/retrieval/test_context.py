import pytest

from nuggetjudge.metrics.length import token_counter
from nuggetjudge.retrieval.fusion import within_tokens
from nuggetjudge.retrieval.scored import by_rank

RANKED = by_rank("abc")
TEXTS = {"a": "one two three", "b": "four five", "c": "six"}
words = token_counter("words")


# The texts have 3, 2 and 1 words: c would still fit into 4, but does not follow.
@pytest.mark.parametrize(
    ("limit", "kept"), [(0, ""), (2, ""), (3, "a"), (4, "a"), (5, "ab"), (6, "abc")]
)
def test_the_longest_beginning_that_fits_is_kept_and_no_passage_is_passed_over(limit, kept):
    assert within_tokens(RANKED, TEXTS, limit, words) == RANKED[: len(kept)]


def test_texts_behind_the_limit_are_not_needed_but_those_before_are():
    assert within_tokens(RANKED, {"a": TEXTS["a"], "b": TEXTS["b"]}, 4, words) == RANKED[:1]
    with pytest.raises(ValueError, match=r"ranked\[1\]: no text of passage 'b'"):
        within_tokens(RANKED, {"a": TEXTS["a"]}, 4, words)


def test_a_size_below_zero_is_refused():
    with pytest.raises(ValueError, match="limit must be 0 or more tokens, got -1"):
        within_tokens(RANKED, TEXTS, -1, words)
