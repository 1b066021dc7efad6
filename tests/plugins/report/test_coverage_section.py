"""What a report says of retrieval: ratings, who retrieved what, and coverage by rank."""

import json
import shutil

import pytest
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.plugins.report.coverage import make_coverage
from nuggetjudge.plugins.report.source import Source
from nuggetjudge.records.reading.problems import Problems

PASSAGES = [f"t:0#{i}" for i in range(3)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two contexts of two passages; the third question is answered by no passage of them."""
    home = tmp_path_factory.mktemp("retrieval")

    def rows(name, *objects):
        (home / name).write_text("".join(json.dumps(row) + "\n" for row in objects))
        return str(home / name)

    asked = rows("questions.jsonl", {"id": "t", "subquestions": ["Who?", "When?", "Where?"]})
    given = {PASSAGES[0]: [5, 0, 0], PASSAGES[1]: [4, 3, 0], PASSAGES[2]: [0, 2, 5]}
    rated = rows(
        "ratings.jsonl", *({"id": "t", "docid": name, "rating": r} for name, r in given.items())
    )
    retrieval = []
    for run, order in (("one", (0, 1)), ("two", (0,))):
        path = home / f"{run}.run"
        path.write_text(
            "".join(f"t Q0 {PASSAGES[i]} {n} {-n} {run}\n" for n, i in enumerate(order))
        )
        retrieval.append(str(path))
    given = {"questions": asked, "ratings": [rated], "retrieval": retrieval}
    nj.run(program="coverage", model="lexical", out=home / "out", **given, **{"coverage.k": 2})
    return home / "out"


def test_the_matrix_has_every_rating_and_what_no_run_retrieved_is_counted(folder):
    section = make_coverage(Source([folder], Problems()))["covered"][0]
    topic = section["topics"]["t"]
    assert topic["passages"] == PASSAGES
    assert topic["ratings"] == ["500", "430", "025"]
    assert topic["answerable"] == [1, 1, 1]  # from rating 3 on
    assert (topic["n_runs"], topic["n_answering"]) == (2, [2, 1, 0])
    assert topic["n_missing"] == 0


def test_curves_are_the_steps_of_ranks(folder):
    runs = make_coverage(Source([folder], Problems()))["covered"][0]["runs"]
    one = runs["one"]["t"]
    assert one["coverage"] == [0.3333, 0.6667]
    assert one["passages"] == PASSAGES[:2]
    assert runs["two"]["t"]["coverage"] == [0.3333]


def test_a_rating_that_is_missing_is_no_number(folder, tmp_path):
    part = tmp_path / "part"
    forget_digests(shutil.copytree(folder, part))
    text = (part / "ratings.jsonl").read_text().replace("[0,2,5]", "[0,-1,-2]")
    (part / "ratings.jsonl").write_text(text)
    topic = make_coverage(Source([part], Problems()))["covered"][0]["topics"]["t"]
    assert topic["ratings"][2] == "0??"
    assert topic["n_missing"] == 2
    assert topic["answerable"][2] is None  # nobody can say
