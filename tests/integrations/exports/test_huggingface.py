"""A results folder as `datasets` loads it from the disk, with nothing but the disk."""

import socket

import pytest

pytest.importorskip("datasets")
import pyarrow.parquet as pq
from datasets import DatasetDict, load_from_disk

from nuggetjudge.exports import huggingface, parquet
from nuggetjudge.records.reading.problems import InputError

from .conftest import KEY


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(self, address):
        raise AssertionError(f"connects to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize("kind", ["explained", "windows", "coverage", "keypoints"])
def test_each_split_holds_what_the_parquet_file_holds(folders, tmp_path, kind):
    counts = huggingface.write(folders[kind], tmp_path / "dataset")
    assert counts == parquet.write(folders[kind], tmp_path / "parquet")
    loaded = load_from_disk(tmp_path / "dataset")
    assert isinstance(loaded, DatasetDict)
    assert {name: split.num_rows for name, split in loaded.items()} == counts
    for name, split in loaded.items():
        table = pq.read_table(tmp_path / "parquet" / f"{name}.parquet")
        assert split.features.arrow_schema.equals(table.schema, check_metadata=False)
        assert split.to_list() == table.to_pylist()
        assert KEY not in str(split.to_list())
        assert folders[kind].manifest["fingerprint"] in split.info.description
    assert load_from_disk(tmp_path / "dataset" / "scores").num_rows == counts["scores"]
    assert [path.name for path in tmp_path.glob(".*")] == []  # nothing half-made stays


def test_what_was_not_judged_is_none(folders, tmp_path):
    huggingface.write(folders["own_items"], tmp_path / "dataset")
    labels = load_from_disk(tmp_path / "dataset" / "labels")["label"]
    assert sorted(labels, key=str) == [None, "yes", "yes"]


def test_an_earlier_dataset_is_replaced_and_nothing_else_is(folders, tmp_path):
    out = tmp_path / "dataset"
    huggingface.write(folders["windows"], out)
    huggingface.write(folders["coverage"], out)
    assert "support" not in load_from_disk(out)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(InputError, match="no dataset; name another --out"):
        huggingface.write(folders["windows"], tmp_path / "mine")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep"
