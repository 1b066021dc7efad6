import math

import bm25s
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import Passage
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.bm25 import Bm25
from nuggetjudge.retrieval.english import ANALYSIS, terms
from nuggetjudge.retrieval.index_files import new_index

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
    with pytest.raises(InputError, match=r"corrupt index: .*; make it again with `judge index`"):
        Bm25.open(tmp_path / "index")
