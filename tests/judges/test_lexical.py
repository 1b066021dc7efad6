"""The lexical baselines on cases small enough to count by hand."""

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.pages import lexical as table
from benchmarks.pages.shown import with_tables
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges.lexical import overlap as lexical
from nuggetjudge.judges.lexical.overlap import (
    update_nuggets,
    weigh_overlap,
    word_weights,
)

NUGGET = "dampers absorb energy from swaying decks"  # five content words: from is a function word


@pytest.mark.parametrize(
    ("answer", "three", "two"),
    [
        ("Swaying decks give energy that a damper absorbs.", "support", "support"),  # 5 of 5
        ("A damper absorbs energy of the deck.", "support", "support"),  # 4 of 5
        ("A damper absorbs energy.", "partial_support", "not_support"),  # 3 of 5
        ("A damper absorbs it.", "not_support", "not_support"),  # 2 of 5
        ("", "not_support", "not_support"),
    ],
)
def test_a_nugget_is_graded_by_its_content_words_in_the_answer(answer, three, two):
    asked = {"question": "", "answer": answer, "nuggets": {"7": NUGGET}}
    assert lexical.assign_nuggets(asked) == {"verdicts": {"7": three}}
    assert lexical.match_nuggets(asked) == {"verdicts": {"7": two}}


# "wind moves long decks": 4 words and 3 pairs of neighbours.
@pytest.mark.parametrize(
    ("passage", "share", "verdict"),
    [
        ("Wind moves long decks.", 1.0, "full"),
        ("The wind moves the long decks.", (4 / 4 + 2 / 3) / 2, "full"),
        ("Decks, long ones, moved by the wind.", (4 / 4 + 0 / 3) / 2, "full"),
        ("Long ships and wind, and how it moves them.", (3 / 4 + 0 / 3) / 2, "partial"),
        ("Wind is moving air.", (2 / 4 + 0 / 3) / 2, "none"),
        ("", 0.0, "none"),
    ],
)
def test_a_sentence_is_graded_by_its_words_and_neighbours_in_the_passage(passage, share, verdict):
    assert lexical.measure_support("wind moves long decks", passage) == pytest.approx(share)
    asked = {"sentence": "wind moves long decks", "passage": passage}
    assert lexical.judge_support(asked) == {"verdict": verdict}


def test_a_sentence_of_one_word_is_graded_by_that_word():
    assert lexical.measure_support("Wind", "the wind blows") == 1.0
    assert lexical.measure_support("Wind", "a calm day") == 0.0
    assert lexical.measure_support("", "a calm day") == 0.0


@pytest.mark.parametrize(
    ("passage", "grade"),
    [
        ("Bridge decks sway in strong wind.", 3),  # 5 of 5
        ("Bridge decks sway in wind.", 3),  # 4 of 5
        ("A bridge can sway.", 0),  # 2 of 5
        ("A bridge can sway in the wind.", 1),  # 3 of 5
        ("Bees make honey.", 0),
    ],
)
def test_relevance_is_the_share_of_the_questions_content_words(passage, grade):
    asked = {"question": "why does a bridge deck sway in strong wind", "passage": passage}
    assert lexical.judge_relevance(asked) == {"grade": grade}


def test_the_half_that_shares_most_with_the_question_is_vital():
    nuggets = {
        "1": "bees make honey", "2": "bridges sway", "3": "the old tower is white",
        "4": "wind makes bridges sway", "5": "salt is bad for stone",
    }  # fmt: skip
    rated = lexical.rate_importance({"question": "why bridges sway in wind", "nuggets": nuggets})
    vital = [key for key, label in rated["importance"].items() if label == "vital"]
    assert list(rated["importance"]) == list(nuggets)
    assert vital == ["1", "2", "4"]  # 4 and 2 share words; of the rest 1 comes first


@given(st.lists(st.text(max_size=20), min_size=2, max_size=30))
def test_a_list_of_two_or_more_is_never_all_vital_or_all_okay(texts):
    nuggets = {str(i): text for i, text in enumerate(texts)}
    rated = lexical.rate_importance({"question": "why bridges sway", "nuggets": nuggets})
    assert set(rated["importance"].values()) == {"vital", "okay"}


def made(passages, nuggets=(), limit=30, question="why do bridges sway in wind"):
    numbered = {str(i): text for i, text in enumerate(passages, 1)}
    asked = {"question": question, "limit": limit, "nuggets": list(nuggets), "passages": numbered}
    return lexical.update_nuggets(asked)["updated"]


def test_statements_about_the_question_come_first():
    passages = ["Old stone towers are often white. Strong wind makes long bridges sway."]
    assert made(passages) == [
        "Strong wind makes long bridges sway",
        "Old stone towers are often white",
    ]


def test_what_a_chosen_nugget_says_is_not_said_twice():
    passages = ["Strong wind makes long bridges sway.", "Long bridges sway in a strong wind."]
    assert len(made(passages)) == 1


def test_a_full_list_makes_room_for_what_matters_more():
    first = made(["Old stone towers are often white."], limit=1)
    assert first == ["Old stone towers are often white"]
    assert made(["Strong wind makes long bridges sway."], first, limit=1) == [
        "Strong wind makes long bridges sway"
    ]


def test_a_statement_that_needs_its_context_comes_after_one_that_does_not():
    passages = ["It makes bridges sway in wind. Dampers keep most bridges steady."]
    assert made(passages)[0] == "Dampers keep most bridges steady"


def test_nothing_to_say_gives_an_empty_list():
    assert made([]) == made([""]) == made(["Why?"]) == []


def test_the_limit_holds_and_the_same_input_gives_the_same_list():
    passages = [f"Bridge number {i} has {i * 7} dampers of type t{i} in store." for i in range(40)]
    assert len(made(passages, limit=7)) == 7
    assert made(passages) == made(passages)


def test_twenty_passages_take_less_than_50_ms():
    words = ["wind", "deck", "tower", "cable", "load", "damper", "mass", "span", "river", "stone"]
    sentence = "The {} {} has moved the {} of a {}, because the {} makes every {} in it sway. "

    def passage(p):
        turns = [words[p % 10 + s % 7 :] + words for s in range(9)]
        return "".join(sentence.format(*turn[:6]) for turn in turns)

    passages = [passage(p) for p in range(20)]
    assert sum(map(len, passages)) > 12_000
    seconds = []
    for _ in range(3):
        lexical.content_words.cache_clear()
        started = time.process_time()
        made(passages[10:], made(passages[:10]))
        seconds.append(time.process_time() - started)
    assert min(seconds) < 0.05


# The weighted lexical score: by hand on small texts, and its bounds on any.
def test_a_word_in_fewer_texts_weighs_more():
    weights = word_weights(["the old bridge", "the new bridge", "the river", "the old town"])
    assert weights == {
        "bridg": pytest.approx(math.log(5 / 2.5), abs=1e-4),
        "old": pytest.approx(math.log(5 / 2.5), abs=1e-4),
        "the": pytest.approx(math.log(5 / 4.5), abs=1e-4),
    }  # new, river and town stand in one text alone


def test_a_text_that_is_there_twice_counts_once():
    texts = ["a bridge", "a river"]
    assert word_weights([*texts, *texts]) == word_weights(texts)


# needed: red 3, fish 1; held: fish. Letters: "red f" "ed fi" "d fis" " fish" against "fish".
def test_the_score_is_the_mean_of_weighted_words_and_runs_of_letters():
    assert weigh_overlap("red fish", "fish", {"red": 3.0, "fish": 1.0}) == (0.25 + 0) / 2
    score = weigh_overlap("red fish", "a fish", {"red": 3.0, "fish": 1.0})
    assert score == (0.25 + 0.25) / 2  # " fish" is there


def test_an_unknown_word_weighs_as_much_as_the_heaviest():
    known = weigh_overlap("red fish", "one fish", {"red": 3.0, "fish": 1.0, "one": 3.0})
    assert weigh_overlap("red fish", "one fish", {"fish": 1.0, "one": 3.0}) == known


def test_words_have_to_stand_in_neighbouring_sentences():
    near = "The red one swims. Fish do. It rains."
    far = "The red one swims. It rains. Fish do."
    assert weigh_overlap("red fish", near, {}) > weigh_overlap("red fish", far, {})


def test_a_verbatim_copy_scores_one_and_nothing_in_common_zero():
    text = "The bridge opened in 1998, after 3 years."
    assert weigh_overlap(text, f"It rains. {text} It shone.", {"bridg": 2.0}) == 1
    assert weigh_overlap("bridge", "xyz", {}) == 0
    assert weigh_overlap("", "a bridge", {}) == weigh_overlap("...", "...", {}) == 0


@given(st.text(max_size=60), st.text(max_size=120))
def test_the_score_is_a_share(needed, text):
    assert 0 <= weigh_overlap(needed, text, word_weights([needed, text])) <= 1


# The lexical judge against people, on the real data that its thresholds were chosen on.
ROOT = Path(__file__).resolve().parents[2]


def measured(shared_data, name):
    measures = [table.measure(row, shared_data) for row in table.ROWS if row.name.startswith(name)]
    if None in measures:
        pytest.skip(f"{name} not found in {shared_data}")
    return measures


def test_nugget_labels_reach_the_row_to_beat(shared_data):
    (measure,) = measured(shared_data, "rag24_nuggets")
    assert measure.n > 7000
    assert measure.kappa >= 0.52


def test_support_labels_reach_the_row_to_beat(shared_data):
    for measure in measured(shared_data, "rag24_support"):  # of citations, and of statements
        assert measure.n > 2000
        assert measure.kappa >= 0.40


# What share of query tokens gives, by the notes of the two collections.
@pytest.mark.parametrize(("name", "plain"), [("rag24_relevance", 0.133), ("dl23_llmjudge", 0.145)])
def test_relevance_from_grade_2_on_beats_the_plain_share_of_words(shared_data, name, plain):
    measure = measured(shared_data, name)[1]
    assert measure.kappa > plain


def test_answers_in_reports_and_passages_reach_the_row_to_beat(shared_data):
    reports, passages, by_a_model = measured(shared_data, "crux_duc")
    assert reports.n == 264
    assert reports.kappa >= 0.40
    assert passages.kappa > 0.0
    assert by_a_model.kappa > 0.3


def test_the_cut_for_answers_holds_on_topics_that_it_was_not_chosen_on(shared_data):
    if (measure := table.held_out(shared_data)) is None:
        pytest.skip(f"crux_duc not found in {shared_data}")
    assert measure.n == 264
    assert measure.kappa >= 0.40


def test_coverage_orders_reports_as_each_annotator_does(shared_data):
    if (coverage := table.coverage(shared_data)) is None:
        pytest.skip(f"crux_duc not found in {shared_data}")
    n_reports, by_annotator = coverage
    assert n_reports == 18
    assert all(rho > 0.6 for rho in by_annotator.values())


@pytest.mark.parametrize("name", ["rag24_e2e", "rag25_nuggets"])
def test_importance_is_better_than_chance(shared_data, name):
    (measure,) = measured(shared_data, name)
    assert measure.kappa > 0.0


@pytest.mark.slow
def test_the_page_shows_these_figures(shared_data, capsys):
    table.main([str(shared_data)])
    printed = capsys.readouterr()
    if printed.err:
        pytest.skip("some of the data is absent")
    tables = (ROOT / "docs" / "benchmarks" / "lexical-judge.md").read_text(encoding="utf-8")
    assert with_tables(tables, printed.out) == (tables, 22)
    page = (ROOT / "docs" / "lexical.md").read_text(encoding="utf-8")
    for name in ("rag24_support", "rag24_relevance", "crux_duc", "ikat24_nugget_match"):
        measures = measured(shared_data, name)
        assert any(f"kappa {x.kappa:.3f}, n {x.n:,}".replace("0.", ".") in page for x in measures)


def test_missing_data_is_named_and_left_out(tmp_path, capsys):
    table.main([str(tmp_path)])
    ran = capsys.readouterr()
    assert len(ran.out.splitlines()) == 2  # the head of the table
    assert "rag24_nuggets: not found" in ran.err


# Lexical baselines on text that nobody tidied: no passage may end a run or its dry run.
FILES = (
    "crux_duc/passages.jsonl", "rag24_e2e/passages.jsonl", "rag24_support/passages.jsonl",
    "rag24_relevance/pairs.jsonl", "dl23_llmjudge/pairs.jsonl",
)  # fmt: skip
KEPT = ("question", "n", "way", "domain", "category", "wanted", "turns", "max_turns")


@pytest.mark.parametrize(
    "passage",
    [
        "The study used several of the new materials (Mento et al, 1999)7. Wind moves decks.",
        'The museum sold the 5"x7" print to a school. Wind moves decks.',
        "Tools can[1]'t open the old lock today. Wind moves decks.",
        "We had all of this because it was there. Bridges sway in strong wind at night.",
    ],
    ids=["note number behind brackets", "inches", "note inside a word", "stop words alone"],
)
def test_nuggets_are_made_of_any_passage(passage):
    asked = {"question": "why do bridges sway", "nuggets": [], "limit": 30}
    texts = update_nuggets({**asked, "passages": {"1": passage}})["updated"]
    assert texts
    assert not any(text.startswith("We had all") for text in texts)


@pytest.mark.slow
def test_every_baseline_answers_for_every_passage_of_the_judged_data(case, shared_data):
    judge = case.make("lexical")
    texts = list(dict.fromkeys(_passages(shared_data)))
    if not texts:
        pytest.skip(f"no passages found in {shared_data}")
    for before, text in zip(texts[-1:] + texts, texts, strict=False):
        asked = {name: _filled(name, value, [text, before]) for name, value in case.asked.items()}
        try:
            judge(**asked)
        except JudgeError:  # a judgement that failed by its reason, as of an empty list
            continue
        except Exception as error:
            pytest.fail(f"{case.name}: {error!r} on {text!r}")


def _passages(data: Path) -> Iterator[str]:
    for path in filter(Path.is_file, (data / name for name in FILES)):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield next(row[n] for n in ("text", "segment", "passage", "passage_text") if n in row)


def _filled(name: str, value: Any, texts: list[str]) -> Any:
    """What a judge is asked, with passages in the place of its texts."""
    if isinstance(value, str):
        return value if name in KEPT else texts[0]
    if isinstance(value, list) and isinstance(value[0], str):
        return [text for text, _ in zip(texts * len(value), value, strict=False)]
    if isinstance(value, dict):
        return dict(zip(value, texts, strict=False))
    return value
