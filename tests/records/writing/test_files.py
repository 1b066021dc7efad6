"""A new file is whole or an error that names it, and stands where its name says."""

import errno
import os

import pytest

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.writing import NewFile, own_folder, rename, write_file, writing


def test_what_the_disk_refuses_names_the_place_and_the_reason(tmp_path):
    path = tmp_path / "none" / "j.json"
    with pytest.raises(InputError) as error, writing(path):
        path.write_text("x", encoding="utf-8")
    assert str(error.value) == f"{path}: cannot be written (No such file or directory)"


def test_a_file_and_its_folder_are_made_and_text_is_utf_8(tmp_path):
    write_file(tmp_path / "a" / "b.txt", "é")
    assert (tmp_path / "a" / "b.txt").read_bytes() == "é".encode()


@pytest.mark.parametrize("target", ["there", "gone"])
def test_a_file_stands_in_the_place_of_a_link_and_not_where_it_points(target, tmp_path):
    other, path = tmp_path / "other", tmp_path / "mine"
    if target == "there":
        other.write_text("theirs", encoding="utf-8")
    path.symlink_to(other)
    write_file(path, "mine")
    assert (path.is_symlink(), path.read_text(encoding="utf-8")) == (False, "mine")
    assert not other.exists() or other.read_text(encoding="utf-8") == "theirs"


def test_another_name_of_a_file_keeps_its_bytes(tmp_path):
    (tmp_path / "theirs").write_text("theirs", encoding="utf-8")
    os.link(tmp_path / "theirs", tmp_path / "mine")
    write_file(tmp_path / "mine", "mine")
    assert (tmp_path / "theirs").read_text(encoding="utf-8") == "theirs"


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_full_device_is_named_when_it_is_written_and_when_it_is_closed(size, tmp_path):
    file = NewFile(tmp_path / "rows.jsonl")
    full = open("/dev/full", "wb")  # noqa: SIM115
    os.dup2(full.fileno(), file._stream.fileno())
    full.close()
    with pytest.raises(InputError) as error, file:
        file.write(b"x" * size)
    what = os.strerror(errno.ENOSPC)
    assert str(error.value) == f"{tmp_path / 'rows.jsonl'}: cannot be written ({what})"


def test_a_name_that_cannot_be_given_is_named(tmp_path):
    (tmp_path / "a").write_text("", encoding="utf-8")
    (tmp_path / "b").mkdir()
    with pytest.raises(InputError, match="b: cannot be written"):
        rename(tmp_path / "a", tmp_path / "b")


def test_a_folder_of_ours_is_no_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "journal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="journal: is a link, which is not followed"):
        own_folder(tmp_path / "journal")
    assert own_folder(tmp_path / "a" / "b").is_dir()
