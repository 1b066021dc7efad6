"""A place that cannot be written is told as one line, before anything is asked where it shows."""

import os

import pytest

from nuggetjudge.programs.engine.writing import (
    check_writable,
    check_writable_file,
    check_writable_folder,
)
from nuggetjudge.records.reading.problems import InputError


def test_a_new_or_old_place_in_a_folder_is_fine_and_stays_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text("mine", encoding="utf-8")
    for path in (tmp_path, tmp_path / "a" / "b", type(tmp_path)("old.json"), tmp_path / "old.json"):
        check_writable(path)
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("old.json", "mine")
    ]


def test_a_place_under_a_file_or_with_too_long_a_name_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for name in ("notes.txt/j.json", "notes.txt/a/j.json", "x" * 300):
        with pytest.raises(InputError, match="cannot be written"):
            check_writable(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_others_own_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="is no folder to write in"):
        check_writable(tmp_path / "j.json")


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path):
    (tmp_path / "x.run").mkdir()
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    check_writable_file(tmp_path / "file")
    check_writable_folder(tmp_path / "new" / "folder")
    with pytest.raises(InputError, match=r"x\.run: a folder, wanted a file"):
        check_writable_file(tmp_path / "x.run")
    with pytest.raises(InputError, match="file: a file, wanted a folder"):
        check_writable_folder(tmp_path / "file")
