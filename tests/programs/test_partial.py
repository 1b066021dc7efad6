"""A stopped run's folder as results: what the journals hold, and nothing that they do not."""

from pathlib import Path

import orjson
import pytest

import nuggetjudge as nj
from nuggetjudge.programs.partial import open_finished_or_partial

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"


@pytest.fixture
def whole(tmp_path):
    return nj.run(DEMO / "judge.yaml", program=["support"], out=tmp_path / "out")


def stop(folder, n_kept):
    """As if the run had been killed after so many judgements, the first lost by an error."""
    (journal,) = (folder / "journal").glob("support-*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    first = orjson.loads(lines[0])
    lost = {"d": first["d"], "u": ["error", "no reply", ""], "p": []}
    journal.write_bytes(b"".join([orjson.dumps(lost) + b"\n", *lines[1:n_kept]]) + lines[-1][:9])
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()


def test_what_was_not_judged_is_not_asked_for_even_of_the_lexical_judge(whole):
    n, (folder, manifest) = whole.n_judged, (whole.folder, whole.manifest)
    assert whole.scores  # read before they go
    stop(folder, 11)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with open_finished_or_partial(folder) as (made, is_partial):
        partial = nj.Result(made)
        assert (is_partial, partial.manifest["partial"], made.name) == (True, True, folder.name)
        assert partial.manifest["fingerprint"] == manifest["fingerprint"]
        assert partial.manifest["config"]["run"] == manifest["config"]["run"]
        assert (partial.n_judged, partial.n_unjudged) == (10, n - 10)
        reasons = partial.manifest["unjudged_by_reason"]
        assert reasons == {"error": 1, "budget": n - 11}
        assert not partial.is_complete
        for row in partial.scores:
            value = whole.score(row.run_id, row.measure, row.topic_id)
            assert row.low is None or row.low - 1e-9 <= value <= row.high + 1e-9
    assert not made.exists()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    again = nj.run(DEMO / "judge.yaml", program=["support"], out=folder)
    assert again.n_judged == n
    assert again.scores == whole.scores


def test_finished_results_and_files_are_given_back_as_they_are(whole):
    for path in (whole.folder, whole.folder / "support.jsonl", whole.folder.parent):
        with open_finished_or_partial(path) as results:
            assert results == (path, False)
