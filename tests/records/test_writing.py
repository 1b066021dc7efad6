"""A new file is whole or an error that names it, and stands where its name says."""

import errno
import os
import resource

import pytest

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.writing import Appending, NewFile, own_folder, rename, write_file, writing


def test_what_the_disk_refuses_names_the_place_and_the_reason(tmp_path):
    path = tmp_path / "none" / "j.json"
    with pytest.raises(InputError) as error, writing(path):
        path.write_text("x", encoding="utf-8")
    assert str(error.value) == f"{path}: cannot be written (No such file or directory)"


@pytest.mark.parametrize("target", ["there", "gone"])
def test_a_file_stands_in_the_place_of_a_link_and_not_where_it_points(target, tmp_path):
    other, path = tmp_path / "other", tmp_path / "mine"
    if target == "there":
        other.write_text("theirs", encoding="utf-8")
    path.symlink_to(other)
    write_file(path, "mine")
    assert (path.is_symlink(), path.read_text(encoding="utf-8")) == (False, "mine")
    assert not other.exists() or other.read_text(encoding="utf-8") == "theirs"


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


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal" / "lines.jsonl"


@pytest.fixture
def room():
    """`room(100)`: no file of this process grows beyond 100 bytes; None: any may."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size):
        most = before[0] if size is None else size
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))

    yield limit
    limit(None)


@pytest.mark.parametrize("size", [15, 16, 20, 24])
def test_half_a_line_of_a_full_disk_is_gone_before_the_next_is_written(size, path, room):
    file = Appending(path, 0)
    file.write(b"first line 1234\n")
    room(size)
    with pytest.raises(InputError) as error:
        file.write(b"second\n" * 3)
    assert str(error.value) == f"{path}: cannot be written (File too large)"
    assert path.read_bytes() == b"first line 1234\n"
    room(None)
    file.write(b"third\n")
    file.close()
    assert path.read_bytes() == b"first line 1234\nthird\n"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_what_could_not_be_cut_off_at_once_is_cut_off_before_the_next_line(code, path, monkeypatch):
    def half(file, data):
        monkeypatch.setattr(os, "write", lambda file, data: fail())
        return write(file, bytes(data)[:3])

    def fail(*_):
        raise OSError(code, os.strerror(code))

    write, cut = os.write, os.ftruncate
    file = Appending(path, 0)
    monkeypatch.setattr(os, "write", half)
    monkeypatch.setattr(os, "ftruncate", fail)
    with pytest.raises(InputError, match=os.strerror(code)):
        file.write(b"torn line\n")
    assert path.read_bytes() == b"tor"
    monkeypatch.setattr(os, "write", write)
    with pytest.raises(InputError, match=os.strerror(code)):
        file.write(b"glued to it\n")
    monkeypatch.setattr(os, "ftruncate", cut)
    file.write(b"whole\n")
    file.close()
    assert path.read_bytes() == b"whole\n"


def test_a_write_that_the_system_takes_in_parts_is_whole(path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, bytes(data)[:2]))
    file = Appending(path, 0)
    file.write(bytearray(b"a long line\n"))
    file.close()
    assert path.read_bytes() == b"a long line\n"


def test_what_stands_behind_the_end_goes(path):
    path.parent.mkdir()
    path.write_bytes(b"whole\nto")
    file = Appending(path, 6)
    file.write(b"next\n")
    file.close()
    assert path.read_bytes() == b"whole\nnext\n"


@pytest.mark.parametrize("linked", ["lines.jsonl", "."])
def test_no_link_is_followed(linked, path, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "lines.jsonl").write_bytes(b"theirs\n")
    if linked == ".":
        path.parent.symlink_to(other)
    else:
        path.parent.mkdir()
        path.symlink_to(other / "lines.jsonl")
    with pytest.raises(InputError, match="link"):
        Appending(path, 0)
    assert (other / "lines.jsonl").read_bytes() == b"theirs\n"
