"""Documents as passages: windows of sentences, and documents that are nearly the same."""

import random
import sys

import pytest
from json_lines import read_rows, write_rows

from nuggetjudge.programs.config.pipelines import Bm25Step
from nuggetjudge.programs.pipelines.indexing import make_indexes
from nuggetjudge.programs.pipelines.segments import Segments, cut_document, write_segments
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.rows import Passage

BM25 = Bm25Step(step="bm25")


def sentences(n):
    return [f"This is sentence number {i} of it." for i in range(n)]


@pytest.mark.parametrize(
    ("n", "starts"),  # of windows of 10 with stride 5, counted by hand
    [(1, [0]), (10, [0]), (11, [0, 5]), (15, [0, 5]), (16, [0, 5, 10]), (23, [0, 5, 10, 15])],
)
def test_windows_of_ten_sentences_begin_every_five_and_end_with_the_document(n, starts):
    every = sentences(n)
    document = Passage(id="d", text=" ".join(every), title="T")
    found = list(cut_document(document, 10, 5))
    assert [(each.id, each.title) for each in found] == [
        (f"d#{i}", "T") for i in range(len(starts))
    ]
    assert [each.text for each in found] == [" ".join(every[at : at + 10]) for at in starts]


def words(seed, n=400):
    """Different ones, in an order of their own."""
    return random.Random(seed).sample([f"word{i}" for i in range(1000)], n)


def test_of_near_duplicates_the_first_stays(tmp_path):
    """Jaccard of 9-word shingles by hand: 392 in all; a changed word in the middle takes 9."""
    one = words(1)
    near = [*one[:200], "changed", *one[201:]]  # 383 / 401 = .955
    far = [word if i % 20 else "changed" for i, word in enumerate(one)]  # most shingles differ
    rows = [
        {"docid": name, "text": " ".join(text)}
        for name, text in (("a", one), ("near", near), ("far", far), ("b", words(2)), ("a2", one))
    ]
    documents = write_rows(tmp_path / "documents.jsonl", rows)

    def left(threshold):
        how = Segments(near_duplicates=threshold)
        done = write_segments([documents], tmp_path / "out.jsonl", how, Problems())
        names = [row["docid"] for row in read_rows(tmp_path / "out.jsonl")]
        assert done.n_passages == len(names) == done.n_documents - done.n_near_duplicates
        return names

    assert left(0.85) == ["a", "far", "b"]
    assert left(1.0) == ["a", "near", "far", "b"]
    for wrong in (0.0, 1.5):
        with pytest.raises(InputError, match=r"--near-duplicates .*: wanted a value above 0"):
            left(wrong)


def test_segments_are_indexed_and_another_cut_does_not_replace_them(tmp_path):
    rows = [{"docid": "d", "title": "Tides", "text": " ".join(sentences(16))},
            {"docid": "e", "text": "Slack water comes between the tides."}]  # fmt: skip
    documents = write_rows(tmp_path / "documents.jsonl", rows)
    out = tmp_path / "index"
    for _ in range(2):
        made = make_indexes([BM25], [documents], out, segments=Segments(10, 5))
        assert (made["documents"], made["passages"], made["near_duplicates"]) == (2, 4, 0)
    names = [row["docid"] for row in read_rows(out / "passages.jsonl")]
    assert names == ["d#0", "d#1", "d#2", "e#0"]
    before = (out / "passages.jsonl").read_bytes()
    with pytest.raises(InputError, match="made from other passages"):
        make_indexes([BM25], [documents], out, segments=Segments(5, 5))
    assert (out / "passages.jsonl").read_bytes() == before
    assert not list(out.glob(".*"))


def test_without_datasketch_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketch", None)
    documents = write_rows(tmp_path / "d.jsonl", [{"docid": "d", "text": "x"}])
    with pytest.raises(InputError, match=r"need datasketch: pip install '.\[segments\]'"):
        write_segments([documents], tmp_path / "o", Segments(near_duplicates=0.9), Problems())
