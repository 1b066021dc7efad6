"""How the lexical baselines cut, quote and write text."""

import asyncio
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from json_lines import read_rows

from nuggetjudge.judges import AnswerabilityGrader, SupportJudge
from nuggetjudge.judges.lexical.clauses import MAX_WORDS, statements
from nuggetjudge.judges.lexical.grounds import find_quote, is_quoted, reason, spans
from nuggetjudge.judges.lexical.segments import segments, sentences
from nuggetjudge.judges.makers.answer_writer import AnswerWriter, write_answer
from nuggetjudge.records.answers import count_words


# What the lexical judge quotes: always verbatim, as little as holds the words.
def cut(needed, text):
    return [text[start:end] for start, end in spans(needed, text)]


TEXT = """The dam was built in 1931; it holds the upper lake. Mr. Ode ran it.
Fish ladders - two of them - let salmon pass. Snow feeds the lake, and it rains, in spring."""


@pytest.mark.parametrize(
    ("needed", "quotes"),
    [
        ("a dam of 1931", ["The dam was built in 1931"]),
        ("the lake is upper", ["it holds the upper lake."]),
        ("Ode ran the dam", ["The dam was built in 1931", "Mr. Ode ran it."]),
        ("salmon pass ladders", ["Fish ladders - two of them - let salmon pass."]),
        ("snow in spring", ["Snow feeds the lake, and it rains, in spring."]),
        ("bees", []),
        ("", []),
    ],
)
def test_the_clauses_that_hold_the_words_are_quoted(needed, quotes):
    assert cut(needed, TEXT) == quotes


def test_no_more_is_quoted_than_holds_most_of_the_words():
    text = "One two three four five six. Six seven. Eight. Nine. Ten."
    assert cut("one two three four five six seven", text) == ["One two three four five six."]
    assert len(cut("three seven eight nine ten", text)) == 3


@pytest.mark.parametrize("text", ["", " \n ", "...", "dam", "\n\ndam,\n", "dam; ; dam", "(dam)."])
def test_odd_texts_are_quoted_without_white_space_around(text):
    for quote in cut("dam", text):
        assert quote == quote.strip()
        assert "dam" in quote


def test_a_reason_names_what_stands_there_and_what_is_missing():
    assert reason("Bees built dams", "A dam is built.") == (
        "2 of 3 words found: built, dams; missing: Bees"
    )
    assert reason("Bees", "A dam.") == "0 of 1 words found; missing: Bees"
    many = " ".join(f"word{i}" for i in range(20))
    assert reason(many, "").endswith("word7, 12 more")


def share_verbatim(judge, items):
    """The share of evidence that stands in its text, the number of it, and items without any."""
    judge = judge.explaining(evidence=True)

    async def judged():
        return [(await judge.verdict(**item))[0] for item in items]

    n, n_there, n_bare = 0, 0, 0
    for item, verdict in zip(items, asyncio.run(judged()), strict=True):
        n += len(verdict.evidence)
        n_there += sum(one.stands_in(item[one.of]) for one in verdict.evidence)
        n_bare += judge.needs_evidence(verdict.label) and not verdict.evidence
    return n_there / n, n, n_bare


def test_all_evidence_on_trec_support_labels_stands_verbatim_in_its_text(shared_data):
    folder = shared_data / "rag24_support"
    if not folder.is_dir():
        pytest.skip(f"rag24_support not found in {shared_data}")
    passages = {row["docid"]: row["text"] for row in read_rows(folder / "passages.jsonl")}
    items = [
        {"sentence": row["sentence"], "passage": passages[row["docid"]]}
        for row in read_rows(folder / "pairs.jsonl")
        if row["docid"] in passages
    ]
    share, n, n_bare = share_verbatim(SupportJudge("lexical"), items)
    assert (share, n_bare) == (1.0, 0)
    assert n > len(items)


@pytest.mark.slow
def test_all_evidence_on_crux_ratings_stands_verbatim_in_its_text(shared_data):
    folder = shared_data / "crux_duc"
    if not folder.is_dir():
        pytest.skip(f"crux_duc not found in {shared_data}")
    asked = {
        row["qid"]: [question["text"] for question in row["sub_questions"]]
        for row in read_rows(folder / "queries.jsonl")
    }
    items = [
        {"question": question, "context": row["text"]}
        for row in read_rows(folder / "passages.jsonl")
        for question in asked[row["qid"]][:5]
    ]
    share, n, n_bare = share_verbatim(AnswerabilityGrader("lexical"), items)
    assert (share, n_bare) == (1.0, 0)
    assert n > 100


# A quote is found as it stands, or with other white space; never by what it means.
QUOTES_TEXT = "The dam broke.\n\nThen the  river\trose (by 3.5 m), and  the\u00a0dam was left."


@pytest.mark.parametrize(
    ("quote", "matched"),
    [
        ("The dam broke.", "The dam broke."),
        (" the  river\trose ", "the  river\trose"),
        ("the river rose (by 3.5 m),", "the  river\trose (by 3.5 m),"),
        ("dam broke. Then", "dam broke.\n\nThen"),
        ("and the dam was", "and  the\u00a0dam was"),
        ("and\n the dam\u2003was", "and  the\u00a0dam was"),
    ],
)
def test_a_quote_is_found_exactly_or_with_other_white_space(quote, matched):
    start, end = find_quote(quote, QUOTES_TEXT)
    assert QUOTES_TEXT[start:end] == matched
    assert is_quoted(quote, QUOTES_TEXT)


@pytest.mark.parametrize(
    "quote",
    [
        "the dam broke.",  # another case
        "The dam broke!",  # other punctuation
        "by 3x5 m",  # the full stop is no pattern
        "The river broke",  # words of the text, in no such order
        "theriver",  # white space left out
        "ri ver",  # and put in
        "The dam ... left.",
        ".*",
        "The dam broke. Then the river rose (by 3.5 m), and the dam was left. It rained.",
    ],
)
def test_other_words_case_or_punctuation_are_no_quote(quote):
    assert find_quote(quote, QUOTES_TEXT) is None
    assert not is_quoted(quote, QUOTES_TEXT)


@pytest.mark.parametrize("blank", ["", " ", "\n\t\u00a0"])
def test_a_blank_quote_stands_nowhere(blank):
    assert not is_quoted(blank, QUOTES_TEXT)
    assert not is_quoted(blank, "")


def test_the_first_place_counts_and_an_exact_one_before_it_does_not():
    assert find_quote("a dam", "a dam, a dam") == (0, 5)
    assert find_quote("a dam", "a  dam, a dam") == (8, 13)  # exact before normalised


@given(st.text(max_size=60), st.data())
def test_any_part_of_a_text_is_found_whatever_its_white_space(text, data):
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    if not part.strip():
        return
    respaced = data.draw(st.sampled_from([" ", "\n", " \t\n", "\u3000"])).join(part.split())
    for quote in (part, respaced):
        first, last = find_quote(quote, text)
        assert text[first:last].split() == part.split()


@given(st.text(max_size=20), st.text(max_size=60))
def test_what_is_found_has_the_words_of_the_quote(quote, text):
    span = find_quote(quote, text)
    if span is not None:
        assert text[slice(*span)].split() == quote.split() != []


def test_a_long_hostile_text_takes_no_time():
    text = "a " * 50_000 + " " * 50_000
    assert not is_quoted("a " * 200 + "b", text)


# Statements cut from text: complete, short, and never ending inside a phrase.
@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        ("A heavy block hangs on springs.", "A heavy block hangs on springs"),
        ("However, the deck moves a little in wind.", "the deck moves a little in wind"),
        ("Gas makes dough rise [3, 4] (a little).", "Gas makes dough rise"),
        (
            "Both kinds can be added to an existing bridge whose sway came as a surprise to all.",
            "Both kinds can be added to an existing bridge",
        ),
        (
            "Every spring the old keepers of the northern lights painted all the towers white,"
            " because salt destroys the bare stone.",
            "salt destroys the bare stone",
        ),
        (
            "Engineers have fitted long rows of heavy dampers under the deck of the new bridge.",
            "Engineers have fitted long rows of heavy dampers",
        ),
    ],
    ids=["whole", "opener dropped", "asides dropped", "before whose", "after because", "before of"],
)
def test_a_statement_is_a_short_sentence_or_a_complete_clause(passage, expected):
    assert expected in statements(passage)


@pytest.mark.parametrize(
    "passage",
    [
        "Why do bridges sway in wind?",
        "Five Easy Ways to Steady a Bridge",
        "If the push arrives in step with the natural frequency of the deck, the motion grows.",
        "Wind and weather",
        "The following were seen on the old bridge:",
    ],
    ids=["question", "title", "condition", "no verb", "announcement"],
)
def test_what_states_nothing_alone_is_left_out(passage):
    assert statements(passage) == []


def test_the_parts_of_a_list_of_nouns_are_not_taken_for_clauses():
    passage = (
        "Wild yeasts and the many bacteria of a good old sourdough starter make acids and gas."
    )
    assert not any(text.startswith("the many") for text in statements(passage))


@pytest.mark.parametrize(
    ("passage", "word"),
    [
        ("The study used several of the new materials (Mento et al, 1999)7.", "materials"),
        ("The study used several of the new materials (Mento) [1]7.", "materials"),
        ('The museum sold the 5"x7" print to a school.', "5"),
    ],
    ids=["note number behind brackets", "behind two", "inches"],
)
def test_what_is_left_out_between_two_words_leaves_a_space(passage, word):
    (statement,) = statements(passage)
    assert word in statement.split()


@pytest.mark.parametrize("text", ["(", "[", " ", "\n", "it and so "], ids=repr)
def test_time_to_find_statements_grows_with_the_passage_and_no_faster(text):
    def seconds(n):
        passage = (text * n)[:n]
        start = time.process_time()
        statements(passage)
        return time.process_time() - start

    short, long = (min(seconds(n) for _ in range(3)) for n in (1500, 24_000))  # 16 times as long
    assert long < 64 * short + 0.05


def test_brackets_are_left_out_beside_some_that_are_never_closed():
    assert statements("Gas [1] makes the (old dough rise.") == ["Gas makes the (old dough rise"]


FUNCTION_WORDS = {"the", "a", "and", "because", "which", "whose", "in", "of", "is", "has", "who"}
_WORDS = st.sampled_from(
    ["the", "a", "deck", "wind,", "moves", "is", "and", "because", "which", "whose", "of.", "who,"]
)


@given(st.lists(_WORDS, max_size=60).map(" ".join))
def test_any_text_gives_statements_of_four_to_twelve_words_that_do_not_end_on_a_function_word(
    passage,
):
    for text in statements(passage):
        words = text.lower().split()
        assert 4 <= len(words) <= MAX_WORDS
        assert words[-1] not in FUNCTION_WORDS


@given(st.text())
def test_any_string_is_read_without_an_error(passage):
    assert len(statements(passage)) == len(set(statements(passage)))


# A document is cut at the best borders there are, evenly, and loses nothing.
PIECES = st.sampled_from(["wind", "Dr.", "A deck", ".", "? ", "\n\n", "\n", " ", "  ", "é”)", "。"])
DOCUMENTS = st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=200)


def squeezed(text):
    return "".join(text.split())


@given(DOCUMENTS, st.integers(1, 12), st.sampled_from([len, lambda text: len(text.split())]))
def test_the_parts_are_the_document_up_to_white_space(document, most, count):
    parts = segments(document, most, count)
    assert squeezed("".join(parts)) == squeezed(document)
    assert all(part == part.strip() != "" for part in parts)


@given(DOCUMENTS, st.integers(1, 12), st.sampled_from([len, lambda text: len(text.split())]))
def test_no_part_is_too_long(document, most, count):
    assert all(count(part) <= most for part in segments(document, most, count))


@given(DOCUMENTS.filter(lambda text: not set(text) & set("。！？")), st.integers(1, 12))
def test_words_stay_whole_where_each_fits(document, most):
    assert " ".join(segments(document, most)).split() == document.split()


def test_a_short_document_is_one_part():
    document = "Rain fell.\n\nThe river rose."
    assert segments(f" {document}\n") == [document]


@pytest.mark.parametrize("blank", ["", " \n\n\t"])
def test_a_blank_document_has_no_part(blank):
    assert segments(blank) == []


def test_paragraphs_are_kept_together_before_sentences():
    document = "One two. Three four.\n\nFive six. Seven.\n \nEight."
    assert segments(document, 4) == ["One two. Three four.", "Five six. Seven.\n \nEight."]


def test_a_paragraph_that_is_too_long_is_cut_between_its_sentences():
    document = "Title\n\nOne two three. Four five six! Seven eight nine?"
    assert segments(document, 4) == [
        "Title\n\nOne two three.", "Four five six!", "Seven eight nine?",
    ]  # fmt: skip


def test_a_sentence_that_is_too_long_is_cut_between_words():
    assert segments("one two three four five six", 4) == ["one two three", "four five six"]


def test_a_word_is_cut_only_when_it_alone_is_too_long():
    assert segments("ab abcdefgh", 4, len) == ["ab", "abcd", "efgh"]
    assert segments("ab abcd", 4, len) == ["ab", "abcd"]


def test_a_character_that_is_too_long_stays_and_is_not_cut_for_ever():
    assert segments("éé", 1, lambda text: len(text.encode())) == ["é", "é"]


def test_the_last_part_is_not_left_with_a_few_words():
    document = " ".join(f"The {i} trees fell." for i in range(30))  # 120 words
    assert [len(part.split()) for part in segments(document, 100)] == [60, 60]


def test_the_limit_is_1024_words_unless_told_otherwise():
    assert len(segments("word " * 1024)) == 1
    assert [len(part.split()) for part in segments("word " * 1026)] == [513, 513]


def test_an_initial_or_a_title_ends_no_sentence():
    text = "Dr. Oke met J. R. Ward. \"Why?\" she asked. 'It rose.' He left… Done"
    assert sentences(text) == [
        "Dr. Oke met J. R. Ward.", '"Why?" she asked.', "'It rose.'", "He left…", "Done",
    ]  # fmt: skip


# The baseline copies sentences that answer, cites where they stand, and keeps to the limits.
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
