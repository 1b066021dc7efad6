import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import count_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("Wind makes them sway.", 4),
        ("  Wind\u00a0makes\u3000them\n\nsway. ", 4),
        ("well-known, e.g. A/B", 3),
        ("\ufdfa", 4),  # one sign that NFKC writes out as four Arabic words
        ("潮汐驱动涡轮机", 1),  # no spaces: one word
    ],
)
def test_words_match_a_hand_count(text, expected):
    assert count_words(text) == expected


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True)), st.sampled_from([" ", "\n", "\t "]))
def test_joining_words_by_white_space_gives_their_number(words, space):
    assert count_words(space.join(words)) == len(words)


# Word counts by an independent implementation over NIST's 530 judged answers.
def test_lengths_of_real_answers_match_the_expected_ones(rows):
    answers = rows("rag24_nuggets/nugget_assignments.jsonl")
    n_words = {(row["qid"], row["run_id"]): count_words(row["answer_text"]) for row in answers}
    expected = rows("rag24_nuggets/expected_cell_scores.jsonl")
    assert n_words == {(row["qid"], row["run_id"]): row["answer_words"] for row in expected}
