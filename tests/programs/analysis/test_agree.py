"""Two files or folders are compared on the cells that both have, and told why they cannot be."""

import json

import pytest

from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.records.reading.problems import InputError, Problems


def assignments(path, run_id="r", labels=("support", "not_support"), prefix="n", **more):
    nuggets = [
        {"id": f"{prefix}{i}", "text": f"{prefix} {i}", "importance": "vital", "assignment": label}
        for i, label in enumerate(labels)
    ]
    row = {"qid": "t1", "query": "q", "run_id": run_id, "answer_text": "a", "response_length": 1}
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row | {"nuggets": nuggets} | more) + "\n")
    return path


def support(path, label="full"):
    row = {"run_id": "r", "topic_id": "t1", "sentence": 0, "citation": "d1", "rank": 0}
    path.write_text(json.dumps(row | {"label": label, "weight": 1.0}) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folders(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    return tmp_path / "a", tmp_path / "b"


def test_two_folders_are_compared_by_their_nuggets_or_as_told(folders):
    for folder in folders:
        assignments(folder / "assignments.jsonl")
        support(folder / "support.jsonl")
    assert agree(*folders, Problems())["kind"] == "nuggets"
    assert agree(*folders, Problems(), kind="support")["kind"] == "support"
    with pytest.raises(InputError, match=r"has no relevance\.jsonl"):
        agree(*folders, Problems(), kind="relevance")
    with pytest.raises(InputError, match="wanted one of relevance, nuggets"):
        agree(*folders, Problems(), kind="nugets")


def test_two_folders_are_compared_by_what_both_have(folders):
    assignments(folders[0] / "assignments.jsonl")
    with pytest.raises(InputError, match="no judgements of one kind"):
        agree(*folders, Problems())
    for folder in folders:
        support(folder / "support.jsonl")
    assert agree(*folders, Problems())["kind"] == "support"


def test_a_folder_on_either_side_gives_the_file_like_the_other(folders, tmp_path):
    assignments(folders[0] / "assignments.jsonl")
    support(folders[0] / "support.jsonl")
    labels = support(tmp_path / "support.jsonl", "none")
    for pair in ((folders[0], labels), (labels, folders[0])):
        figures = agree(*pair, Problems())
        assert (figures["kind"], figures["n"], figures["accuracy"]) == ("support", 1, 0.0)


def test_labels_of_other_nuggets_are_told_from_labels_of_other_answers(tmp_path):
    truth = assignments(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match=r"different nuggets .* \(data.nuggets"):
        agree(truth, assignments(tmp_path / "b.jsonl", prefix="other"), Problems())
    with pytest.raises(InputError, match="do their ids agree"):
        agree(truth, assignments(tmp_path / "c.jsonl", run_id="another"), Problems())


def test_values_of_one_field_add_up_and_those_of_two_fields_narrow(tmp_path):
    truth, judged = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for run_id, by, year in (("r", "x", 1), ("s", "y", 1), ("t", "z", 1), ("u", "x", 2)):
        assignments(truth, run_id, by=by, year=year)
        assignments(judged, run_id)
    n = {}
    for where in ({"by": ["x"]}, {"by": ["x", "y"]}, {"by": ["x", "y"], "year": ["1"]}):
        n[str(where)] = agree(truth, judged, Problems(), where)["n"]
    assert list(n.values()) == [2 * 2, 3 * 2, 2 * 2]  # two nuggets in each row


def test_a_cell_with_two_labels_in_the_chosen_rows_is_an_error(tmp_path):
    truth = assignments(tmp_path / "a.jsonl", by="x")
    assignments(truth, labels=("not_support", "support"), by="y")
    with pytest.raises(InputError, match="is in line 1 already, wanted once"):
        agree(truth, truth, Problems(), {"by": ["x", "y"]})
