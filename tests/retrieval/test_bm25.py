import math

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics.length import token_counter
from nuggetjudge.records import Passage
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.bm25 import Bm25
from nuggetjudge.retrieval.dense import BestRows
from nuggetjudge.retrieval.english import ANALYSIS, STOP_WORDS, terms
from nuggetjudge.retrieval.fusion import within_tokens
from nuggetjudge.retrieval.index_files import new_index
from nuggetjudge.retrieval.scored import Scored, best_first, by_rank, check_queries

WORDS = ["tide", "harbour", "ship", "rain", "crane"]
texts = st.lists(st.sampled_from([*WORDS, "the"]), max_size=8).map(" ".join)


def passages(*texts):
    return [Passage(id=f"p{number}", text=text) for number, text in enumerate(texts)]


def ids(ranked):
    return [name for name, _ in ranked]


# Counted by hand: 3 passages of 2, 1 and 3 terms (mean 2), k1 = 0.9, b = 0.4.
# ship is in 2 of 3: ln(1 + 1.5 / 2.5) = 0.470004; crane in 1 of 3: ln(1 + 2.5 / 1.5) = 0.980829.
# p0, ship twice among 2: 2 / (2 + 0.9 * (0.6 + 0.4 * 2 / 2)) = 2 / 2.9 = 0.689655
# p2, both once among 3:  1 / (1 + 0.9 * (0.6 + 0.4 * 3 / 2)) = 1 / 2.08 = 0.480769
SHIP_P0, SHIP_P2, CRANE_P2 = 0.324141, 0.225963, 0.471552


def test_scores_are_those_of_the_formula_counted_by_hand():
    bm25 = Bm25.build(passages("Ships and a ship.", "Rain!", "The ship's crane: rain."))
    [ships, both] = bm25.search(["ship", "cranes of ships"], 10)
    assert ids(ships) == ["p0", "p2"]
    assert [score for _, score in ships] == pytest.approx([SHIP_P0, SHIP_P2], abs=1e-6)
    assert ids(both) == ["p2", "p0"]
    assert [score for _, score in both] == pytest.approx([SHIP_P2 + CRANE_P2, SHIP_P0], abs=1e-6)


def test_a_word_that_the_query_repeats_counts_as_often():
    bm25 = Bm25.build(passages("Ships and a ship.", "Rain!", "The ship's crane: rain."))
    [ranked] = bm25.search(["ship ship crane"], 10)
    assert dict(ranked)["p2"] == pytest.approx(2 * SHIP_P2 + CRANE_P2, abs=2e-6)


@given(
    st.lists(texts, min_size=1, max_size=12),
    st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=4),
    st.integers(1, 14),
    st.sampled_from([(0.9, 0.4), (0.0, 0.0), (2.0, 1.0), (1.2, 0.75)]),
)
def test_the_best_hits_are_those_of_a_search_by_brute_force(collection, query, hits, settings):
    k1, b = settings
    rows = [list(terms(text)) for text in collection]
    mean = sum(map(len, rows)) / len(rows)

    def score(row):
        total = 0.0
        for term in terms(" ".join(query)):
            n, f = sum(term in other for other in rows), row.count(term)
            if f:
                rarity = math.log(1 + (len(rows) - n + 0.5) / (n + 0.5))
                total += rarity * f / (f + k1 * (1 - b + b * len(row) / mean))
        return total

    wanted = {f"p{number}": score(row) for number, row in enumerate(rows)}
    bm25 = Bm25.build(passages(*[text or "-" for text in collection]), k1=k1, b=b)
    [ranking] = bm25.search([" ".join(query)], hits)
    best = sorted((value for value in wanted.values() if value > 0), reverse=True)[:hits]
    assert [value for _, value in ranking] == pytest.approx(best, rel=1e-5)
    assert dict(ranking) == pytest.approx({name: wanted[name] for name in ids(ranking)}, rel=1e-5)


@given(st.lists(texts.filter(lambda text: text.strip(" the")), min_size=1, max_size=8))
def test_scores_are_those_that_bm25s_computes_from_the_same_terms(collection):
    reference = bm25s.BM25(k1=0.9, b=0.4, method="lucene")
    reference.index([list(terms(text)) for text in collection], show_progress=False)
    [ranking] = Bm25.build(passages(*collection)).search(["tide ship crane"], len(collection))
    known = [term for term in terms("tide ship crane") if term in reference.vocab_dict]
    scores = reference.get_scores(known) if known else [0.0] * len(collection)
    wanted = {f"p{number}": score for number, score in enumerate(scores) if score > 0}
    assert dict(ranking) == pytest.approx(wanted, rel=1e-6)


def test_equal_scores_stand_in_the_order_of_the_collection():
    bm25 = Bm25.build([Passage(id=name, text="tide") for name in "qhzabyc"])
    assert ids(bm25.search(["tide"], 10)[0]) == list("qhzabyc")
    assert ids(bm25.search(["tide"], 3)[0]) == list("qhz")


def test_only_passages_with_a_word_of_the_query_are_found():
    bm25 = Bm25.build(passages("tide", "rain", "ship"))
    rankings = bm25.search(["tide", "of the", "unknown", "?!"], 3)
    assert [ids(ranked) for ranked in rankings] == [["p0"], [], [], []]


def test_titles_are_searched():
    bm25 = Bm25.build([Passage(id="a", text="Low."), Passage(id="b", text="Low.", title="Tides")])
    assert ids(bm25.search(["tide"], 5)[0]) == ["b"]


def test_the_ids_of_a_saved_index_and_its_scores_come_back(tmp_path):
    bm25 = Bm25.build(passages("tide and rain", "rain", "ship"), k1=1.2, b=0.75)
    bm25.save(tmp_path / "index")
    opened = Bm25.open(tmp_path / "index")
    queries = ["rain tide", "ships", "unknown"]
    assert opened.search(queries, 2) == bm25.search(queries, 2)
    assert (opened.k1, opened.b, len(opened)) == (1.2, 0.75, 3)


def test_a_collection_without_any_term_can_be_saved_and_finds_nothing(tmp_path):
    Bm25.build(passages("the", "?")).save(tmp_path / "index")
    assert Bm25.open(tmp_path / "index").search(["tide"], 5) == [[]]


def test_an_index_is_replaced_by_the_next_and_by_itself(tmp_path):
    folder = tmp_path / "index"
    Bm25.build(passages("tide")).save(folder)
    Bm25.build(passages("rain", "tide")).save(folder)
    opened = Bm25.open(folder)
    opened.save(folder)
    assert ids(opened.search(["tide"], 5)[0]) == ids(Bm25.open(folder).search(["tide"], 5)[0])
    assert ids(opened.search(["tide"], 5)[0]) == ["p1"]


@pytest.mark.parametrize("settings", [{"k1": -0.1}, {"b": 1.1}, {"b": -1}, {"k1": math.nan}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ValueError, match="k1 must be 0 or more and b from 0 to 1"):
        Bm25.build(passages("tide"), **settings)


def test_nothing_to_index_is_refused():
    with pytest.raises(ValueError, match="no passages"):
        Bm25.build([])


def test_a_blank_query_is_refused_by_its_place():
    with pytest.raises(ValueError, match="query 1 is blank"):
        Bm25.build(passages("tide")).search(["tide", " "], 5)


def test_an_index_of_another_analysis_is_refused(tmp_path):
    with new_index(tmp_path / "index", "bm25", {"analysis": "other"}) as draft:
        draft.n_passages = 1
    with pytest.raises(InputError, match=f"made with analysis 'other', wanted '{ANALYSIS}'"):
        Bm25.open(tmp_path / "index")


@pytest.mark.parametrize("name", ["data.csc.index.npy", "vocab.index.json", "ids.json"])
def test_files_of_garbage_are_a_corrupt_index(tmp_path, name):
    Bm25.build(passages("tide")).save(tmp_path / "index")
    path = tmp_path / "index" / name
    path.write_bytes(b"\xff" * path.stat().st_size)
    with pytest.raises(InputError, match=r"corrupt index: .*; create it again with `judge index`"):
        Bm25.open(tmp_path / "index")


SCORES = [[1, 3, 3, 0, 2], [0, 0, 5, 0, 0]]


def ranked_ids(scores, sizes, hits, **options):
    """What is found when scores come in blocks of these sizes."""
    scores = np.array(scores, np.float32)
    best, row = BestRows(len(scores), hits), 0
    for size in [*sizes, scores.shape[1]]:
        best.add(row, scores[:, row : row + size])
        row += size
    names = [f"p{i}" for i in range(scores.shape[1])]
    return [[one.passage_id for one in ranked] for ranked in best.make_rankings(names, **options)]


def test_the_best_rows_come_first_and_equal_ones_in_their_order():
    assert ranked_ids(SCORES, [], 3) == [["p1", "p2", "p4"], ["p2", "p0", "p1"]]


def test_rows_at_or_below_a_score_can_be_left_out():
    assert ranked_ids(SCORES, [2], 4, above=0) == [["p1", "p2", "p4", "p0"], ["p2"]]


def test_more_hits_than_rows_finds_all():
    assert ranked_ids([[1, 2]], [], 9) == [["p1", "p0"]]


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.lists(st.integers(0, 4), max_size=5),
    st.integers(1, 6),
)
def test_blocks_change_nothing(scores, sizes, hits):
    by_hand = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:hits]
    assert ranked_ids([scores], sizes, hits) == [[f"p{row}" for row in by_hand]]


# What Anserini's DefaultEnglishAnalyzer (Lucene 10, by pyserini 1.6.0) makes of the same texts.
LUCENE = {
    "The U.S. census of 1,024 harbours' tides isn't Porter's": (
        "u. censu 1,024 harbour tide isn't porter"
    ),
    "technology technologies technological assembly possibly nobly biology": (
        "technolog technolog technolog assembl possibl nobli biologi"
    ),
    "snake_case __init__ _x_ ___ a.b.c 3.5% 1,000,000 e.g.": (
        "snake_cas __init__ _x_ a.b.c 3.5 1,000,000 e.g"
    ),
    "A:B 4:5 x4.5y 2:30 a·b x;y 1;2 1'2 3’4 5.x x.5": (
        "a:b 4 5 x4.5y 2 30 a·b x y 1;2 1'2 3’4 5 x x 5"
    ),
    "naïve cafe\u0301 m² ﬁne ß": "naïv cafe\u0301 m ﬁne ß",
    "日本語テスト ひら": "日 本 語 テスト ひ ら",
    "100's it’s CAN'T O'Neil's as is us don''t": "100 s can't o'neil us don t",
    "http://a.b/c?d=e&f user@x.com": "http a.b c d e f user x.com",
}


@pytest.mark.parametrize("text", LUCENE)
def test_terms_are_those_that_lucene_makes(text):
    assert list(terms(text)) == LUCENE[text].split()


def test_there_are_33_stop_words_and_none_is_a_term():
    assert len(STOP_WORDS) == 33
    assert list(terms(" ".join(STOP_WORDS))) == []


@pytest.mark.parametrize("text", ["", " \n", "... -- ?!", "___"])
def test_a_text_without_words_has_no_terms(text):
    assert list(terms(text)) == []


def test_a_very_long_word_is_one_term():
    assert list(terms("aly" * 100_000)) == ["aly" * 99_999 + "ali"]


def test_a_ranking_without_scores_earns_one_over_its_places():
    assert by_rank(["b", "a", "c"]) == [Scored("b", 1), Scored("a", 1 / 2), Scored("c", 1 / 3)]


def test_best_first_keeps_equal_scores_in_the_order_given_and_cuts():
    scores = {"c": 1.0, "a": 2.0, "b": 1.0, "d": -1.0}
    assert [name for name, _ in best_first(scores)] == ["a", "c", "b", "d"]
    assert best_first(scores, 2) == [Scored("a", 2.0), Scored("c", 1.0)]
    assert best_first({}) == []


def test_a_blank_query_is_named_by_its_place():
    with pytest.raises(ValueError, match="query 1 is blank"):
        check_queries(["tide", " \n"], 10)


def test_no_hits_cannot_be_asked_for():
    with pytest.raises(ValueError, match="hits must be 1 or more, got 0"):
        check_queries(["tide"], 0)


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
    with pytest.raises(ValueError, match=r"ranked\[1\]: passage 'b' has no text"):
        within_tokens(RANKED, {"a": TEXTS["a"]}, 4, words)


def test_a_size_below_zero_is_refused():
    with pytest.raises(ValueError, match="limit must be 0 or more tokens, got -1"):
        within_tokens(RANKED, TEXTS, -1, words)
