"""The reply cache holds JSON bytes, runs nothing it holds, and loses nothing that it took."""

import errno
import multiprocessing
import os
import pickle
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import platformdirs
import pytest
from mock_server import Refusal, Says

from nuggetjudge.backends import cache as module
from nuggetjudge.backends.cache import BATCH, FOLDER, ReplyCache
from nuggetjudge.backends.errors import JudgeOutputError
from nuggetjudge.backends.private_folder import default_folder
from nuggetjudge.backends.store import JsonDisk
from nuggetjudge.records.reading.problems import InputError

KEY, OTHER = b"k" * 20, b"o" * 20
LINE = b'["{\\"verdict\\":\\"full\\"}","stop","","m",1,0,1]'


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def rows_of(folder: Path) -> list[tuple[bytes, bytes]]:
    with sqlite3.connect(folder / "cache.db") as db:
        return [(bytes(k), bytes(v)) for k, v in db.execute("SELECT key, value FROM Cache")]


def plant(folder: Path, key: bytes, *, mode: int, filename: str | None, value: object) -> None:
    """Write a row as somebody else would who can write to the file."""
    with sqlite3.connect(folder / "cache.db") as db:
        db.execute("DELETE FROM Cache WHERE key = ?", (key,))
        db.execute(
            "INSERT INTO Cache (key, raw, store_time, access_time, access_count, tag, size, mode,"
            " filename, value) VALUES (?, 1, 0, 0, 0, NULL, 0, ?, ?, ?)",
            (key, mode, filename, value),
        )
    db.close()


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_reply_comes_back_before_and_after_it_is_written_and_in_the_next_process(tmp_path):
    cache = ReplyCache(tmp_path)
    assert cache.get(KEY) is None
    cache.put(KEY, LINE, "m")
    assert cache.get(KEY) == LINE
    cache.flush()
    assert cache.get(KEY) == LINE
    cache.close()
    again = ReplyCache(tmp_path)
    assert again.get(KEY) == LINE
    assert again.get(OTHER) is None
    again.close()


def test_the_database_holds_the_bytes_as_they_were_given(tmp_path):
    with_cache = ReplyCache(tmp_path)
    with_cache.put(KEY, LINE, "m")
    with_cache.close()
    assert rows_of(tmp_path) == [(KEY, LINE)]
    assert not list(tmp_path.rglob("*.val"))


def test_the_later_reply_to_a_key_counts(cache):
    cache.put(KEY, b"1", "m")
    cache.flush()
    cache.put(KEY, b"2", "m")
    assert cache.get(KEY) == b"2"
    cache.flush()
    assert cache.get(KEY) == b"2"


def test_replies_are_written_in_batches(tmp_path):
    cache = ReplyCache(tmp_path)
    for i in range(BATCH - 1):
        cache.put(b"%020d" % i, LINE, "m")
    assert rows_of(tmp_path) == []
    cache.put(KEY, LINE, "m")
    assert len(rows_of(tmp_path)) == BATCH
    cache.close()


def test_counts_and_clears_by_model(cache):
    for i in range(5):
        cache.put(b"%020d" % i, LINE, "openai/a" if i < 3 else "openai/b")
    assert cache.counts() == {"openai/a": 3, "openai/b": 2}
    assert cache.volume() > 0
    assert cache.clear("openai/a") == 3
    assert cache.counts() == {"openai/b": 2}
    assert cache.get(b"%020d" % 0) is None
    assert cache.clear() == 2
    assert cache.counts() == {}


# --- nothing in it is run


@pytest.mark.parametrize("mode", [2, 3, 4])
def test_a_planted_pickle_is_never_unpickled_and_is_replaced(tmp_path, mode):
    evidence = tmp_path / "evidence"
    cache = ReplyCache(tmp_path / "replies")
    plant(cache.folder, KEY, mode=mode, filename=None, value=pickle.dumps(Bomb(evidence)))
    assert cache.get(KEY) is None
    assert not evidence.exists()
    cache.put(KEY, LINE, "m")
    cache.flush()
    assert cache.get(KEY) == LINE
    cache.close()
    assert not evidence.exists()


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
def test_a_planted_value_file_is_neither_read_nor_deleted(tmp_path, mode):
    evidence, other = tmp_path / "evidence", tmp_path / "precious.txt"
    cache = ReplyCache(tmp_path / "replies")
    inside = cache.folder / "planted.val"
    for path in (inside, other):
        path.write_bytes(pickle.dumps(Bomb(evidence)))
    for key, name in ((KEY, "planted.val"), (OTHER, "../precious.txt")):
        plant(cache.folder, key, mode=mode, filename=name, value=None)
        assert cache.get(key) is None
        cache.put(key, LINE, "m")
    cache.flush()
    assert cache.get(KEY) == LINE
    plant(cache.folder, OTHER, mode=mode, filename="../precious.txt", value=None)
    cache.clear()
    cache.close()
    assert not evidence.exists()
    assert other.exists()


def test_a_planted_key_is_never_unpickled(tmp_path):
    evidence = tmp_path / "evidence"
    cache = ReplyCache(tmp_path / "replies")
    with sqlite3.connect(cache.folder / "cache.db") as db:
        db.execute(
            "INSERT INTO Cache (key, raw, store_time, access_time, access_count, size, mode, value)"
            " VALUES (?, 0, 0, 0, 0, 0, 1, ?)",
            (pickle.dumps(Bomb(evidence)), LINE),
        )
    db.close()
    with pytest.raises(OSError, match="refused"):
        list(cache._store)
    assert cache.counts() == {"None": 1}
    cache.close()
    assert not evidence.exists()


@pytest.mark.parametrize("value", ["text", 1, 1.5, None, {"a": 1}])
def test_nothing_but_bytes_goes_in(cache, value):
    with pytest.raises(TypeError, match="holds bytes"):
        cache._store.set(KEY, value)
    with pytest.raises(TypeError, match="keys are bytes"):
        cache._store.set("key", LINE)


def test_a_stream_is_not_taken(tmp_path):
    with pytest.raises(TypeError):
        JsonDisk(str(tmp_path)).store(b"x", read=True)


def test_a_planted_reply_is_asked_anew(model_server, open_gateway, ask, cache, tmp_path):
    gateway = open_gateway(cache=cache)
    ask(gateway)
    cache.flush()
    ((key, line),) = rows_of(cache.folder)
    evidence = tmp_path / "evidence"
    planted = [
        (4, pickle.dumps(Bomb(evidence))),
        (1, b"not json"),
        (1, b'{"an": "object"}'),
        (1, b'["too short"]'),
        (1, b"[1, 2, 3, 4, 5, 6, 7]"),
        (1, line.replace(b"stop", b"length")),
        (1, b'["{\\"verdict\\": \\"splendid\\"}","stop","","m",1,0,1]'),
    ]
    for n, (mode, value) in enumerate(planted, 2):
        plant(cache.folder, key, mode=mode, filename=None, value=value)
        reply = ask(gateway)
        assert not reply.provenance.cache_hit
        assert len(model_server.requests) == n
        cache.flush()
    assert ask(gateway).provenance.cache_hit
    assert not evidence.exists()


# --- whose folder


def test_the_folder_is_made_private(tmp_path):
    old = os.umask(0)
    try:
        ReplyCache(tmp_path / "a" / "b").close()
    finally:
        os.umask(old)
    assert mode_of(tmp_path / "a" / "b") == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o755, 0o777])
def test_a_folder_that_others_can_enter_is_closed_to_them(tmp_path, mode):
    tmp_path.chmod(mode)
    ReplyCache(tmp_path).close()
    assert mode_of(tmp_path) == 0o700


def test_a_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(InputError, match="belongs to another user"):
        ReplyCache(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_spool_is_private(tmp_path):
    old = os.umask(0)
    try:
        cache = ReplyCache(tmp_path)
        (spool,) = tmp_path.glob("spool-*")
        assert mode_of(spool) == 0o600
        cache.close()
    finally:
        os.umask(old)


def test_by_default_it_stands_in_the_users_cache_directory(monkeypatch, tmp_path):
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *a, **k: str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert default_folder(FOLDER) == tmp_path / "cache" / "replies"
    assert not (tmp_path / "cache").exists()
    ReplyCache().close()
    assert mode_of(tmp_path / "cache" / "replies") == 0o700


def test_a_database_that_is_none_is_an_input_error(tmp_path):
    (tmp_path / "cache.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(InputError, match="not a usable reply cache"):
        ReplyCache(tmp_path)


@pytest.mark.parametrize("name", ["file", "file/below", "nul\0"])
def test_a_folder_that_cannot_be_made_is_an_input_error(tmp_path, name):
    (tmp_path / "file").write_text("something else")
    with pytest.raises(InputError, match=r"no folder for the reply cache.*run\.cache") as caught:
        ReplyCache(tmp_path / name)
    assert str(tmp_path) in str(caught.value)
    assert (tmp_path / "file").read_text() == "something else"


def test_a_users_cache_directory_that_cannot_be_made_is_an_input_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    if not default_folder(FOLDER).is_relative_to(tmp_path):
        pytest.skip("this system knows no XDG_CACHE_HOME")
    with pytest.raises(InputError, match="no folder for the reply cache"):
        ReplyCache()


def test_a_folder_that_cannot_be_written_is_an_input_error(tmp_path, monkeypatch):
    ReplyCache(tmp_path).close()
    opened = os.open

    def read_only(path, flags, *rest, **named):
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(InputError, match="Read-only file system") as caught:
        ReplyCache(tmp_path)
    assert "delete" not in str(caught.value)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_is_named_as_a_spool_and_is_none_is_an_input_error(tmp_path, kind):
    path = tmp_path / "spool-x"
    make = {"folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}
    make.get(kind, lambda: path.symlink_to("/dev/zero"))()
    with pytest.raises(InputError, match="spool-x: not a file of a reply cache"):
        ReplyCache(tmp_path)


@pytest.mark.parametrize("name", ["door", "cache.db"])
def test_a_folder_in_place_of_a_file_is_an_input_error(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="the reply cache cannot be used"):
        ReplyCache(tmp_path)


# --- a full disk


def full_database(cache: ReplyCache) -> None:
    """SQLite says that the disk is full as soon as it needs another page."""
    pages = cache._store._sql("PRAGMA page_count").fetchone()[0]
    cache._store._sql(f"PRAGMA max_page_count = {pages}").fetchall()


def test_a_full_disk_on_opening_is_told_without_advice_to_delete(tmp_path, monkeypatch):
    (tmp_path / "spool-1-dead").write_bytes(spool_line(KEY, LINE * 10_000))
    opened = module.open_store

    def full(folder):
        store = opened(folder)
        pages = store._sql("PRAGMA page_count").fetchone()[0]
        store._sql(f"PRAGMA max_page_count = {pages}").fetchall()
        return store

    monkeypatch.setattr(module, "open_store", full)
    with pytest.raises(InputError, match="full") as caught:
        ReplyCache(tmp_path)
    assert "delete" not in str(caught.value)
    monkeypatch.undo()
    cache = ReplyCache(tmp_path)
    assert cache.get(KEY) == LINE * 10_000  # nothing was lost on the way
    cache.close()


@pytest.mark.parametrize("how", ["refused", "cut short"])
def test_a_full_disk_costs_the_cache_and_no_judgement(
    how, model_server, open_gateway, ask, tmp_path, monkeypatch
):
    cache = ReplyCache(tmp_path)
    gateway = open_gateway(cache=cache)
    ask(gateway, "first")
    write = os.write

    def full(fd: int, line: bytes) -> int:
        if fd != cache._spool:
            return write(fd, line)
        if how == "refused":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, line[:10])

    monkeypatch.setattr(os, "write", full)
    with pytest.warns(RuntimeWarning, match="No space left") as warned:
        replies = [ask(gateway, name) for name in ("second", "third")]
    assert len(warned) == 1
    assert all(reply.values for reply in replies)
    monkeypatch.undo()
    cache.close()
    again = ReplyCache(tmp_path)
    assert again.counts() == {"openai/mock": 1}
    again.close()


def test_what_a_full_database_does_not_take_stays_in_the_spool(tmp_path):
    cache = ReplyCache(tmp_path)
    full_database(cache)
    cache.put(KEY, LINE * 10_000, "m")
    with pytest.raises(InputError, match="full"):
        cache.flush()
    with pytest.warns(RuntimeWarning, match="full"):
        cache.close()
    again = ReplyCache(tmp_path)
    assert again.get(KEY) == LINE * 10_000
    again.close()


# --- kills, and several at once

WRITER = """
import os, sys
from pathlib import Path
from nuggetjudge.backends.cache import ReplyCache
cache = ReplyCache(Path(sys.argv[1]))
for i in range(10**6):
    cache.put(b"%020d" % i, b'["reply %d"]' % i, "m")
    os.write(1, b"%d\\n" % i)
"""


@pytest.mark.parametrize("n_lines", [1, 150, BATCH, BATCH + 1, 1234])
def test_kill_9_loses_nothing_that_put_returned_for(tmp_path, n_lines):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(n_lines):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        told = n_lines + len(process.stdout.read().splitlines())
    cache = ReplyCache(tmp_path)
    found = [cache.get(b"%020d" % i) for i in range(told)]
    assert found == [b'["reply %d"]' % i for i in range(told)]
    assert len(list(tmp_path.glob("spool-*"))) == 1  # its own
    cache.close()
    assert list(tmp_path.glob("spool-*")) == []


def spool_line(key: bytes, value: bytes) -> bytes:
    return b"%b %b %b\n" % (key.hex().encode(), b"m".hex().encode(), value)


def test_a_torn_last_line_is_dropped_and_the_rest_is_kept(tmp_path):
    lines = spool_line(KEY, LINE) + spool_line(OTHER, LINE)
    (tmp_path / "spool-1-dead").write_bytes(lines[:-10])
    cache = ReplyCache(tmp_path)
    assert cache.get(KEY) == LINE
    assert cache.get(OTHER) is None
    cache.close()


@pytest.mark.parametrize(
    "junk", [b"\n", b"a b c\n", b"zz 6d []\n", b"\xff\xfe 6d []\n", b"00 ff []\n", b"no newline"]
)
def test_lines_that_make_no_sense_do_not_keep_the_cache_from_opening(tmp_path, junk):
    (tmp_path / "spool-1-dead").write_bytes(spool_line(KEY, LINE) + junk)
    cache = ReplyCache(tmp_path)
    assert cache.get(KEY) == LINE
    assert cache.counts() == {"m": 1}
    cache.close()


def test_a_reply_that_holds_spaces_survives_the_spool(tmp_path):
    (tmp_path / "spool-1-dead").write_bytes(spool_line(KEY, b'["a b  c d"]'))
    cache = ReplyCache(tmp_path)
    assert cache.get(KEY) == b'["a b  c d"]'
    cache.close()


def test_the_spool_of_a_process_that_lives_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("nuggetjudge.backends.store.LOOK_S", 0.0)
    first = ReplyCache(tmp_path)
    first.put(KEY, LINE, "m")
    second = ReplyCache(tmp_path)
    assert second.get(KEY) is None  # not yet in the database
    assert len(list(tmp_path.glob("spool-*"))) == 2
    first.flush()
    assert second.get(KEY) == LINE
    second.close()
    first.put(OTHER, LINE, "m")
    assert first.get(OTHER) == LINE
    first.close()


def test_what_another_process_files_is_seen_at_the_next_look(tmp_path, monkeypatch):
    monkeypatch.setattr("nuggetjudge.backends.store.LOOK_S", 0.1)
    first, second = ReplyCache(tmp_path), ReplyCache(tmp_path)
    assert second.get(KEY) is None
    for i in range(50):
        first.put(b"%020d" % i, LINE, "m")
    first.flush()
    time.sleep(0.15)
    assert [second.get(b"%020d" % i) for i in range(51)] == [LINE] * 50 + [None]
    first.clear()
    assert second.get(b"%020d" % 1) is None
    second.close()
    first.close()


def write_many(folder: str, start: int, n: int) -> None:
    cache = ReplyCache(Path(folder))
    for i in range(start, start + n):
        cache.put(b"%020d" % i, b'["%d"]' % i, "m")
    cache.close()


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    n, each = 4, 500
    fresh = multiprocessing.get_context("spawn")
    writers = [
        fresh.Process(target=write_many, args=(str(tmp_path), i * each, each)) for i in range(n)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * n
    cache = ReplyCache(tmp_path)
    assert cache.counts() == {"m": n * each}
    assert cache.get(b"%020d" % 1999) == b'["1999"]'
    cache.close()


def test_threads_that_put_and_flush_at_once_leave_nothing_only_in_memory(tmp_path, monkeypatch):
    cache = ReplyCache(tmp_path)
    stop = threading.Event()
    write = os.write

    def slow_write(fd: int, line: bytes) -> int:
        n = write(fd, line)
        time.sleep(0.001)  # time for the other thread to come between
        return n

    monkeypatch.setattr(os, "write", slow_write)

    def flush() -> None:
        while not stop.is_set():
            cache.flush()

    flusher = threading.Thread(target=flush)
    flusher.start()
    for i in range(100):
        cache.put(b"%020d" % i, LINE, "m")
        with cache._lock:  # what is pending stands in the spool, too
            spooled = cache._spool_path.read_bytes()
            assert all(key.hex().encode() in spooled for key in cache._pending)
    stop.set()
    flusher.join()
    cache.close()


def test_closing_twice_closes_once(tmp_path):
    cache = ReplyCache(tmp_path)
    spool = cache._spool
    cache.close()
    bystander = os.open(tmp_path / "bystander", os.O_CREAT | os.O_RDWR)
    os.dup2(bystander, spool)  # has the number that the spool had
    cache.close()
    assert os.path.samestat(os.fstat(spool), (tmp_path / "bystander").stat())
    for number in {spool, bystander}:
        os.close(number)


def test_names_of_spools_do_not_collide_where_process_ids_do(tmp_path, monkeypatch):
    monkeypatch.setattr("nuggetjudge.backends.cache.os.getpid", lambda: 1)
    first, second = ReplyCache(tmp_path), ReplyCache(tmp_path)
    assert first._spool_path != second._spool_path
    second.close()
    first.close()


# --- what is kept: valid outcomes, under everything that could change them


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        ('{"verdict": "full"}', "length"),
        ('{"verdict": "full"}', "content_filter"),
        ("I cannot say.", "stop"),
        ('{"verdict": "splendid"}', "stop"),
        ("{}", "stop"),
        ("", "stop"),
    ],
)
def test_what_is_no_judgement_is_never_kept(model_server, open_gateway, ask, cache, reply, finish):
    gateway = open_gateway(cache=cache, reasks=0)
    model_server.faults = [Says(reply, finish)]
    with pytest.raises(JudgeOutputError):
        ask(gateway)
    assert cache.counts() == {}
    assert not ask(gateway).provenance.cache_hit
    assert ask(gateway).provenance.cache_hit
    assert len(model_server.requests) == 2


def test_a_refusal_is_never_kept(model_server, open_gateway, ask, cache):
    model_server.faults = [Refusal()]
    with pytest.raises(JudgeOutputError):
        ask(open_gateway(cache=cache))
    assert cache.counts() == {}


def test_the_folder_of_a_stranger_is_refused_before_anything_is_opened(tmp_path, monkeypatch):
    (tmp_path / "cache.db").write_bytes(b"planted")
    stranger = SimpleNamespace(st_uid=os.getuid() + 1, st_mode=0o40700)
    monkeypatch.setattr(Path, "stat", lambda self, **k: stranger)
    with pytest.raises(InputError):
        ReplyCache(tmp_path)
    assert (tmp_path / "cache.db").read_bytes() == b"planted"
