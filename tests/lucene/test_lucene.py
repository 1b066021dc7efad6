"""BM25 by Lucene: by hand, by its formula, and as Pyserini has it."""

import math
import random

import orjson
import pytest
from benchmarks.pages import bm25 as table
from json_lines import write_rows

from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.retrieve import retrieve
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.relevance import read_trec_run
from nuggetjudge.records.rows import Passage
from nuggetjudge.retrieval import lucene_index as anserini
from nuggetjudge.retrieval.lucene import Lucene, Rm3, Rocchio, build_lucene
from nuggetjudge.retrieval.lucene_index import run_java, start_java

pytest.importorskip("pyserini", reason="pyserini is not installed; it comes with the extra lucene")

HARBOUR = [
    Passage(id="ship", text="The ship lies in harbour."),
    Passage(id="storm", text="A storm drove ships, and more ships, from the harbour."),
    Passage(id="rain", text="Rain."),
]


def ids(ranked):
    return [found.passage_id for found in ranked]


def queries_of(passages, n=40):
    rng = random.Random(7)
    words = sorted({word for passage in passages for word in passage.text.split()})
    return [" ".join(rng.choices(words, k=rng.randint(1, 8))) for _ in range(n)]


@pytest.fixture(scope="module")
def harbour(tmp_path_factory):
    folder = tmp_path_factory.mktemp("harbour") / "index"
    build_lucene(HARBOUR, folder)
    return folder


def test_the_score_is_bm25_by_hand(harbour):
    # Terms: ship lie harbour (3); storm drove ship more ship from harbour (7); rain (1).
    # Mean length 11 / 3; "ships" stands in 2 of 3 passages.
    rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    ship = rarity * 1 / (1 + 0.9 * (0.6 + 0.4 * 3 / (11 / 3)))
    storm = rarity * 2 / (2 + 0.9 * (0.6 + 0.4 * 7 / (11 / 3)))
    [ranked] = Lucene(harbour).search(["Ships!"], 10)
    assert ids(ranked) == ["storm", "ship"]
    assert [found.score for found in ranked] == pytest.approx([storm, ship], abs=5.1e-5)


def test_k1_and_b_count(harbour):
    # Without length (b = 0) and with k1 = 1: f / (f + 1).
    rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    [ranked] = Lucene(harbour, k1=1, b=0).search(["ship"], 10)
    assert [found.score for found in ranked] == pytest.approx(
        [rarity * 2 / 3, rarity / 2], abs=5.1e-5
    )


def test_every_score_follows_the_formula_with_the_lengths_that_lucene_keeps(passages, index):
    queries = queries_of(passages)
    expected = table.RoundedBm25(passages).search(queries, 1000)
    for found, wanted in zip(Lucene(index).search(queries, 1000), expected, strict=True):
        scores, known = dict(found), dict(wanted)
        assert scores
        assert scores == pytest.approx(known, abs=1.1e-4)  # both round; equal ones are moved


def test_the_length_kept_is_that_of_lucenes_own_byte():
    kept = start_java().autoclass("org.apache.lucene.util.SmallFloat")
    for length in [*range(600), 5000, 70_001]:
        wanted = kept.byte4ToInt(kept.intToByte4(length))
        assert table.encoded_length(length) == wanted


@pytest.mark.parametrize("feedback", ["none", "rm3", "rocchio"])
def test_pyserini_finds_the_same_in_the_same_index(passages, index, monkeypatch, feedback):
    start_java()
    monkeypatch.setenv("OPENAI_API_KEY", "unused")  # its import asks for one
    from pyserini.search.lucene import LuceneSearcher

    theirs = LuceneSearcher(str(index))
    if feedback == "rm3":
        theirs.set_rm3(fb_terms=5, fb_docs=4, original_query_weight=0.3)
    if feedback == "rocchio":
        theirs.set_rocchio(top_fb_terms=5, top_fb_docs=4, alpha=0.8, beta=0.6)
    ours = {
        "none": Lucene(index),
        "rm3": Lucene(index, rm3=Rm3(terms=5, passages=4, original_weight=0.3)),
        "rocchio": Lucene(index, rocchio=Rocchio(terms=5, passages=4, alpha=0.8, beta=0.6)),
    }[feedback]
    queries = queries_of(passages, 10)
    for query, found in zip(queries, ours.search(queries, 50), strict=True):
        assert found == [(hit.docid, hit.score) for hit in theirs.search(query, 50)]
        assert found


@pytest.mark.parametrize("feedback", [{"rm3": True}, {"rocchio": True}])
def test_feedback_finds_passages_that_share_no_word_with_the_query(tmp_path, feedback):
    filler = [Passage(id=f"f{i}", text=f"thing{i} stands here") for i in range(30)]
    linked = [Passage(id="both", text="heron heron lagoon"), Passage(id="other", text="lagoon")]
    build_lucene(filler + linked, tmp_path / "index")
    assert ids(Lucene(tmp_path / "index").search(["heron"], 10)[0]) == ["both"]
    [ranked] = Lucene(tmp_path / "index", **feedback).search(["heron"], 10)
    assert ids(ranked) == ["both", "other"]


def test_equal_scores_come_in_the_order_of_ids(tmp_path):
    same = [Passage(id=name, text="a heron at dawn") for name in ("c", "a", "b")]
    build_lucene(same, tmp_path / "index")
    assert ids(Lucene(tmp_path / "index").search(["heron"], 2)[0]) == ["a", "b"]


def test_titles_are_searched_and_ids_and_texts_may_hold_any_character(tmp_path):
    odd = [
        Passage(id="msmarco_v2.1#0 ü", text="nothing to see", title="Heron"),
        Passage(id='a "b" \\', text="an \U0001f600 emoji, \u72d0 and \x00"),
    ]
    build_lucene(odd, tmp_path / "index")
    found = Lucene(tmp_path / "index").search(["herons", "\u72d0", "emoji \U0001f600"], 10)
    assert [ids(ranked) for ranked in found] == [[odd[0].id], [odd[1].id], [odd[1].id]]


def test_passages_without_a_word_are_no_hits_and_no_error(tmp_path):
    few = [
        Passage(id="a", text="the of"), Passage(id="b", text=" \n\x01"),
        Passage(id="c", text="\u3000"), Passage(id="d", text="heron"),
    ]  # fmt: skip
    build_lucene(few, tmp_path / "index")
    assert ids(Lucene(tmp_path / "index", rm3=True).search(["heron of the"], 10)[0]) == ["d"]


def test_a_query_of_stop_words_or_unknown_words_finds_nothing(harbour):
    assert Lucene(harbour).search(["of the", "zebra", "!"], 10) == [[], [], []]


def test_a_query_may_have_thousands_of_words(harbour):
    query = " ".join(f"word{n}" for n in range(3000)) + " rain"
    assert ids(Lucene(harbour).search([query], 10)[0]) == ["rain"]


def test_no_queries_give_no_rankings(harbour):
    assert Lucene(harbour).search([], 10) == []


@pytest.mark.parametrize(
    ("queries", "hits", "what"),
    [(["ship", " "], 10, "query 1 is blank"), (["ship"], 0, "hits must be 1 or more")],
)
def test_a_blank_query_or_no_hits_is_refused(harbour, queries, hits, what):
    with pytest.raises(ValueError, match=what):
        Lucene(harbour).search(queries, hits)


@pytest.mark.parametrize(
    "settings", [{"k1": -1}, {"b": 1.1}, {"k1": math.nan}, {"rm3": True, "rocchio": True}]
)
def test_settings_that_make_no_sense_are_refused(harbour, settings):
    with pytest.raises(ValueError, match="wanted"):
        Lucene(harbour, **settings)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Rm3, {"terms": 0}),
        (Rm3, {"original_weight": 1.5}),
        (Rocchio, {"passages": 0}),
        (Rocchio, {"beta": -1}),
    ],
)
def test_feedback_that_makes_no_sense_is_refused(kind, settings):
    with pytest.raises(ValueError, match="got"):
        kind(**settings)


def test_an_index_made_by_anserini_itself_is_searched(tmp_path):
    (tmp_path / "corpus").mkdir()
    row = orjson.dumps({"id": "a", "contents": "herons"})
    (tmp_path / "corpus" / "c.jsonl").write_bytes(row)
    places = ("-input", tmp_path / "corpus", "-index", tmp_path / "index")
    run_java("io.anserini.index.IndexCollection", "-collection", "JsonCollection", *places)
    assert ids(Lucene(tmp_path / "index").search(["heron"], 10)[0]) == ["a"]
    with pytest.raises(
        InputError, match="this index has no document vectors, which feedback needs"
    ):
        Lucene(tmp_path / "index", rm3=True)


def test_a_new_index_takes_the_place_of_the_old_one(tmp_path):
    build_lucene(HARBOUR, tmp_path / "index")
    build_lucene([Passage(id="new", text="ship")], tmp_path / "index")
    assert ids(Lucene(tmp_path / "index").search(["ship"], 10)[0]) == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_the_old_index_stays_when_the_passages_break_off(tmp_path):
    def broken():
        yield Passage(id="new", text="ship")
        raise InputError("passages.jsonl:2: not JSON")

    build_lucene(HARBOUR, tmp_path / "index")
    with pytest.raises(InputError, match="not JSON"):
        build_lucene(broken(), tmp_path / "index")
    assert ids(Lucene(tmp_path / "index").search(["rain"], 10)[0]) == ["rain"]
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_no_passages_make_no_index(tmp_path):
    with pytest.raises(ValueError, match="wanted 1 or more"):
        build_lucene([], tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_passages_that_lucene_leaves_out_fail_the_index(tmp_path):
    rows = [{"id": "a", "contents": "heron"}, {"id": "b", "contents": " "}]  # b is empty to it
    with pytest.raises(InputError, match="Lucene indexed 1 passages, wanted 2"):
        anserini.write_index(
            rows, tmp_path / "index", "lucene", {}, "-collection", "JsonCollection"
        )
    assert not (tmp_path / "index").exists()


def test_no_index_a_broken_one_and_a_corrupt_one_are_one_line_each(tmp_path):
    def told():
        with pytest.raises(InputError) as error:
            Lucene(tmp_path / "index").search(["ship"], 10)
        assert len(str(error.value).splitlines()) == 1
        return str(error.value)

    assert "there is no index; create it with `judge index`" in told()
    build_lucene(HARBOUR, tmp_path / "index")
    segments = next((tmp_path / "index").glob("segments_*"))
    segments.write_bytes(bytes(len(segments.read_bytes())))
    assert "corrupt index: file segments_1 has changed" in told()
    segments.unlink()
    assert "corrupt index: file segments_1 is missing" in told()


def test_a_name_that_pyserini_does_not_know_is_told():
    with pytest.raises(InputError, match="'nothing-v1' is neither a folder nor a prebuilt index"):
        Lucene("nothing-v1")


def test_a_prebuilt_index_that_cannot_be_downloaded_needs_a_network(monkeypatch):
    def fail(name):
        raise ValueError(f"Unable to download {name}")

    monkeypatch.setattr("pyserini.util.download_prebuilt_index", fail)
    with pytest.raises(InputError, match=r"cannot be downloaded .* needs a network"):
        Lucene("msmarco-v1-passage")


def test_a_prebuilt_index_is_searched_where_pyserini_put_it(harbour, monkeypatch, capsys):
    def download(name):
        print("Downloading")  # noqa: T201  as Pyserini does
        return str(harbour)

    monkeypatch.setattr("pyserini.util.download_prebuilt_index", download)
    assert ids(Lucene("msmarco-v1-passage").search(["rain"], 10)[0]) == ["rain"]
    assert capsys.readouterr() == ("", "Downloading\n")


def test_a_pipeline_has_the_feedback_that_its_step_names(index, passages, tmp_path):
    write_rows(tmp_path / "passages.jsonl", [{"docid": p.id, "text": p.text} for p in passages])
    (tmp_path / "topics.tsv").write_text("t\tword40 word41\n", encoding="utf-8")
    given = {"data.topics": tmp_path / "topics.tsv", "data.passages": [tmp_path / "passages.jsonl"]}
    found = []
    for feedback in ({}, {"rocchio": True}):
        out = tmp_path / f"{len(found)}.run"
        steps = [{"lucene": {"hits": 30, **feedback}}]
        retrieve(load_config(None, {**given, "retrieve": steps}), out)
        found.append(list(read_trec_run(out, Problems())["t"].passage_ids))
        assert found[-1] == ids(Lucene(index, **feedback).search(["word40 word41"], 30)[0])
    assert found[0] != found[1]
