import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="the dense extra")
pytest.importorskip("faiss", reason="the dense extra")

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.rows import Passage
from nuggetjudge.retrieval import dense
from nuggetjudge.retrieval import dense as best_rows
from nuggetjudge.retrieval.dense import VECTORS, Dense
from nuggetjudge.retrieval.encoders import HashingEncoder

TOPICS = {
    "cats": "Cats purr when they are content, and kittens do it to call their mother.",
    "tides": "Spring tides rise highest when sun and moon pull in one line.",
    "tax": "Income tax is due in April, and late payment costs interest.",
    "bread": "Sourdough rises slowly because wild yeast works without haste.",
    "bees": "A colony of bees keeps the brood warm through the winter.",
}
PASSAGES = [Passage(id=name, text=text) for name, text in TOPICS.items()]
QUERIES = ["why does my kitten purr", "full moon and sea level", "when must I pay the state"]


class Random:
    """Vectors of length 1 that a text's number in the collection gives."""

    name = "random"

    def __init__(self, n_dimensions=8):
        self.n_dimensions = n_dimensions
        self.most = 0

    def passages(self, texts):
        self.most = max(self.most, len(texts))
        rows = [np.random.default_rng(int(text)).normal(size=self.n_dimensions) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], np.float32)

    queries = passages


def numbered(n):
    return [Passage(id=f"p{i}", text=str(i)) for i in range(n)]


def ids(found):
    return [[one.passage_id for one in ranked] for ranked in found]


def test_a_real_model_finds_what_no_word_of_the_query_says(minilm, tmp_path):
    built = Dense.build(PASSAGES, minilm, tmp_path / "index")
    assert [names[0] for names in ids(built.search(QUERIES, 2))] == ["cats", "tides", "tax"]


@pytest.mark.parametrize("factory", [None, "Flat"])
def test_search_is_the_matrix_product_of_all_vectors(minilm, tmp_path, factory):
    built = Dense.build(PASSAGES, minilm, tmp_path / "index", faiss=factory, batch=2)
    for index in (built, Dense.open(tmp_path / "index", minilm)):
        found = index.search(QUERIES, 9)
        scores = minilm.queries(QUERIES) @ minilm.passages(list(TOPICS.values())).T
        for row, ranked in zip(scores, found, strict=True):
            wanted = sorted(zip(TOPICS, row, strict=True), key=lambda pair: -pair[1])
            assert [one.passage_id for one in ranked] == [name for name, _ in wanted]
            assert [one.score for one in ranked] == pytest.approx([s for _, s in wanted], abs=1e-5)


def test_blocks_of_rows_and_queries_change_nothing(tmp_path, monkeypatch):
    passages, queries = numbered(300), [str(i) for i in range(1000, 1030)]
    exact = Dense.build(passages, Random(), tmp_path / "exact")
    flat = Dense.build(passages, Random(), tmp_path / "flat", faiss="Flat")
    at_once = exact.search(queries, 10)
    monkeypatch.setattr(dense, "N_ROWS", 7)
    monkeypatch.setattr(dense, "N_QUERIES", 4)
    assert ids(exact.search(queries, 10)) == ids(at_once) == ids(flat.search(queries, 10))


def test_equal_scores_keep_the_order_of_the_collection(tmp_path):
    same = [Passage(id=name, text="tide") for name in "dcab"]
    index = Dense.build(same, HashingEncoder(), tmp_path / "index")
    assert ids(index.search(["tide"], 3)) == [["d", "c", "a"]]


def test_a_title_counts_as_text(tmp_path):
    passages = [Passage(id="a", text="one"), Passage(id="b", text="one", title="harbour")]
    index = Dense.build(passages, HashingEncoder(), tmp_path / "index")
    assert ids(index.search(["harbour"], 1)) == [["b"]]


@pytest.mark.parametrize("factory", ["HNSW16", "IVF8,Flat"])
def test_any_factory_string_of_faiss_gives_an_index(tmp_path, factory):
    passages, queries = numbered(500), [str(i) for i in range(500)]
    Dense.build(passages, Random(), tmp_path / "index", faiss=factory)
    found = Dense.open(tmp_path / "index", Random()).search(queries, 1)
    hit = np.mean([names == [f"p{i}"] for i, names in enumerate(ids(found))])
    assert hit > 0.9  # each text is its own nearest


def test_an_inverted_file_that_looks_into_all_its_lists_is_exact(tmp_path):
    queries = [str(i) for i in range(1000, 1020)]
    exact = Dense.build(numbered(400), Random(), tmp_path / "exact")
    Dense.build(numbered(400), Random(), tmp_path / "ivf", faiss="IVF8,Flat")
    narrow = Dense.open(tmp_path / "ivf", Random())
    wide = Dense.open(tmp_path / "ivf", Random(), faiss_search="nprobe=8")
    assert ids(wide.search(queries, 20)) == ids(exact.search(queries, 20))
    assert ids(narrow.search(queries, 20)) != ids(exact.search(queries, 20))


def test_faiss_learns_from_a_sample_of_a_large_collection(tmp_path, monkeypatch):
    monkeypatch.setattr(dense, "N_TRAINING", 100)
    index = Dense.build(numbered(350), Random(), tmp_path / "index", faiss="IVF2,Flat")
    assert index.search(["7"], 1)[0][0].passage_id == "p7"


def test_memory_holds_a_batch_of_texts_and_no_more(tmp_path):
    encoder = Random()
    alive = Dense.build(iter(numbered(50)), encoder, tmp_path / "index", batch=16)
    assert encoder.most == 16
    assert ids(alive.search(["49"], 1)) == [["p49"]]
    assert (tmp_path / "index" / VECTORS).stat().st_size == 50 * 8 * 4


def test_no_query_finds_nothing_and_a_blank_one_is_refused(tmp_path):
    index = Dense.build(numbered(3), Random(), tmp_path / "index")
    assert index.search([], 3) == []
    with pytest.raises(ValueError, match="query 1 is blank"):
        index.search(["1", " "], 3)
    with pytest.raises(ValueError, match="hits must be 1 or more"):
        index.search(["1"], 0)


def test_one_passage_makes_an_index_and_none_does_not(tmp_path):
    index = Dense.build(numbered(1), Random(), tmp_path / "index")
    assert ids(index.search(["5"], 10)) == [["p0"]]
    with pytest.raises(ValueError, match="an index of 0 passages"):
        Dense.build([], Random(), tmp_path / "none")


def test_another_encoder_is_refused(tmp_path):
    Dense.build(PASSAGES, HashingEncoder(), tmp_path / "index")
    with pytest.raises(InputError, match=r"made with encoder 'hashing 4096.*wanted 'hashing 7"):
        Dense.open(tmp_path / "index", HashingEncoder(n_buckets=7))


def test_a_build_that_fails_leaves_the_old_index(tmp_path):
    def stops():
        yield from numbered(2)
        raise InputError("passages.jsonl:3: field 'text' is missing")

    Dense.build(numbered(3), Random(), tmp_path / "index")
    with pytest.raises(InputError, match=r"passages\.jsonl:3"):
        Dense.build(stops(), Random(), tmp_path / "index", batch=1)
    assert len(Dense.open(tmp_path / "index", Random()).search(["1"], 9)[0]) == 3


def test_a_shortened_or_damaged_index_is_one_line(tmp_path):
    Dense.build(numbered(3), Random(), tmp_path / "exact")
    with (tmp_path / "exact" / VECTORS).open("rb+") as stream:
        stream.truncate(40)
    with pytest.raises(InputError, match=r"corrupt index: file vectors.f32 has changed"):
        Dense.open(tmp_path / "exact", Random())
    Dense.build(numbered(3), Random(), tmp_path / "flat", faiss="Flat")
    path = tmp_path / "flat" / dense.FAISS
    path.write_bytes(b"?" * path.stat().st_size)
    with pytest.raises(InputError, match=r"corrupt index: file .* has changed") as told:
        Dense.open(tmp_path / "flat", Random())
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("factory", ["Nonsense", "IVF256,Flat", "PQ7"])
def test_what_faiss_refuses_is_one_line(tmp_path, factory):
    with pytest.raises(InputError, match=f"FAISS rejects '{factory}' for 10 passages") as told:
        Dense.build(numbered(10), Random(), tmp_path / "index", faiss=factory)
    assert "\n" not in str(told.value)
    assert not (tmp_path / "index").exists()
    Dense.build(numbered(10), Random(), tmp_path / "index", faiss="Flat")
    with pytest.raises(InputError, match=r"FAISS rejects 'nprobe=2' \(.*could not set parameter"):
        Dense.open(tmp_path / "index", Random(), faiss_search="nprobe=2")


def test_the_scores_at_once_stay_small():
    assert best_rows.N_ROWS * best_rows.N_QUERIES * 4 <= 2**25
