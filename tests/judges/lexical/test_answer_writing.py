"""The baseline copies sentences that answer, cites where they stand, and keeps to the limits."""

from hypothesis import assume, given
from hypothesis import strategies as st

from nuggetjudge.judges.makers.answer_writer import AnswerWriter, write_answer
from nuggetjudge.records.answers import count_words

RAIN = "Heavy autumn rain weakened the Morne dam."
WALL = "Engineers say the dam wall was thin."
BEES = "Honey bees dance for flowers."


def written(question, *passages, words=400, citations=3):
    numbered = {str(n): text for n, text in enumerate(passages, 1)}
    asked = {"question": question, "passages": numbered, "words": words, "citations": citations}
    return [(s["text"], s["citations"]) for s in write_answer(asked)["answer"]]


def test_it_takes_the_sentences_that_share_a_word_with_the_question():
    sentences = written("Why did the dam break?", f"{BEES} {RAIN}", WALL)
    assert sorted(sentences) == [(WALL, [2]), (RAIN, [1])]


def test_a_sentence_cites_its_own_passage_first_and_then_those_that_carry_it():
    sentences = written("Why did the dam break?", f"{BEES} {WALL}", RAIN, f"{RAIN} {WALL}", RAIN)
    assert dict(sentences) == {WALL: [1, 3], RAIN: [2, 3, 4]}
    assert dict(written("dam?", *[RAIN] * 4, citations=2)) == {RAIN: [1, 2]}


def test_what_does_not_fit_any_more_is_left_out_whole():
    (only,) = written("Why did the dam break?", RAIN, WALL, words=count_words(RAIN))
    assert only[0] in (RAIN, WALL)


def test_citation_marks_are_not_copied_and_words_in_brackets_are():
    marked = "Heavy autumn rain[3] weakened the [old] Morne dam [1, 2; 4]."
    assert written("dam?", marked) == [("Heavy autumn rain weakened the [old] Morne dam.", [1])]


def test_a_mark_around_a_mark_leaves_no_mark():
    assert written("dam?", "The dam broke [1, [2] 3].") == [("The dam broke 1, 3.", [1])]


def test_what_ends_as_no_statement_does_is_not_copied():
    asked, heading = "Which dam burst after heavy rain?", "Autumn floods below the Morne dam"
    assert written("dam?", f"{asked} {WALL}\n\n{heading}") == [(WALL, [1])]


def test_a_sentence_of_more_than_forty_words_is_not_copied():
    most = " ".join(["The dam held", *(f"wall{n}" for n in range(37))]) + "."
    more = " ".join(["The dam lost", *(f"gate{n}" for n in range(38))]) + "."
    assert written("dam?", f"{more} {most}") == [(most, [1])]


def test_where_no_sentence_fits_it_gives_the_first_words():
    assert written("dam?", "a list of dams", RAIN, words=3) == [("a list of", [1])]
    assert written("dam?", "[1]", "no full stop") == [("no full stop", [2])]


def test_without_a_word_of_the_question_it_still_says_something():
    assert written("Who painted it?", BEES) == [(BEES, [1])]


TEXTS = st.lists(
    st.lists(
        st.sampled_from([RAIN, WALL, BEES, "Is it?", "dam", "[4]", "[1, [2] 3]", "Тихо.", "\n\n"])
    ).map(" ".join),
    min_size=1,
    max_size=5,
)


@given(TEXTS, st.integers(1, 30), st.integers(1, 3))
def test_it_breaks_none_of_the_writers_rules(passages, words, citations):
    texts = {f"p{n}": text for n, text in enumerate(passages)}
    writer = AnswerWriter("lexical", words=words, citations=citations, repairs=0)
    assume(any(text.replace("[4]", "").strip() for text in passages))
    sentences = writer(question="Why did the dam break?", passages=texts).sentences
    assert sentences
    assert count_words(" ".join(s.text for s in sentences)) <= words


@given(st.text(max_size=200), st.text(max_size=200))
def test_it_takes_any_text_and_cites_it(question, passage):
    assert all(citations == [1] for _, citations in written(question, passage))
