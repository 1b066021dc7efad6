"""The reply cache holds JSON bytes, runs nothing it holds, and loses 0.2 s of them at most."""

import asyncio
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
from itertools import accumulate
from pathlib import Path

import platformdirs
import processes
import pytest
from mock_server import Refusal, Says

from nuggetjudge.backends.cache import FOLDER, BytesDisk, ReplyCache, default_folder
from nuggetjudge.backends.errors import JudgeOutputError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.records.reading.problems import InputError

AT_MOST_S = 0.4  # the promised 0.2 s, and as much again for a busy machine
KEY, OTHER = b"k" * 20, b"o" * 20
LINE = b'["{\\"verdict\\":\\"full\\"}","stop","","m",1,0,1]'


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
    kinds = "typeof(key), typeof(raw), raw, typeof(value)"
    with sqlite3.connect(tmp_path / "cache.db") as db:  # else caches of before would be asked anew
        assert [*db.execute(f"SELECT {kinds} FROM Cache")] == [("blob", "integer", 1, "blob")]
    assert not list(tmp_path.rglob("*.val"))


def test_the_later_reply_to_a_key_counts(cache):
    cache.put(KEY, b"1", "m")
    cache.flush()
    cache.put(KEY, b"2", "m")
    assert cache.get(KEY) == b"2"
    cache.flush()
    assert cache.get(KEY) == b"2"


def commits_of(cache, monkeypatch):
    """When each commit began, and how many replies it held: a list that grows."""
    commits = []
    transact = cache._store.transact

    def counted(**options):
        commits.append((time.monotonic(), len(cache._waiting)))
        return transact(**options)

    monkeypatch.setattr(cache._store, "transact", counted)
    return commits


@pytest.mark.slow
def test_replies_are_committed_together_each_within_a_fifth_of_a_second(cache, monkeypatch):
    commits = commits_of(cache, monkeypatch)
    put_s = []

    async def put_for_a_while():
        for i in range(200):
            cache.put(b"%020d" % i, LINE, "m")
            put_s.append(time.monotonic())
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.2)

    asyncio.run(put_for_a_while())
    assert len(rows_of(cache.folder)) == sum(n for _, n in commits) == 200
    assert 5 <= len(commits) <= 20
    for number, at in enumerate(put_s):
        done = next(i for i, n in enumerate(accumulate(n for _, n in commits)) if n > number)
        assert commits[done][0] - at < AT_MOST_S


def test_the_last_reply_is_committed_though_no_other_follows(cache):
    async def put_one():
        cache.put(KEY, LINE, "m")
        assert rows_of(cache.folder) == []
        assert cache.get(KEY) == LINE
        await asyncio.sleep(0.2)

    asyncio.run(put_one())
    assert rows_of(cache.folder) == [(KEY, LINE)]


def test_a_loop_that_is_kept_busy_does_not_hold_up_commits(cache, monkeypatch):
    commits = commits_of(cache, monkeypatch)

    async def put_without_a_pause():
        began, n = time.monotonic(), 0
        while time.monotonic() < began + 0.5:
            cache.put(b"%020d" % n, LINE, "m")
            time.sleep(0.001)
            n += 1

    asyncio.run(put_without_a_pause())
    assert 2 <= len(commits) <= 5


def test_what_a_loop_that_ended_left_waiting_goes_with_the_next_reply(cache):
    async def put(key):
        cache.put(key, LINE, "m")

    asyncio.run(put(KEY))
    assert rows_of(cache.folder) == []
    time.sleep(0.2)
    asyncio.run(put(OTHER))
    assert len(rows_of(cache.folder)) == 2


def test_without_a_loop_a_reply_is_committed_at_once(cache):
    cache.put(KEY, LINE, "m")
    assert rows_of(cache.folder) == [(KEY, LINE)]


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
    cache.put(KEY, LINE, "m")
    assert cache.counts() == {"m": 1}
    assert cache.clear() == 2
    cache.close()
    assert not evidence.exists()


@pytest.mark.parametrize("value", ["text", 1, 1.5, None, {"a": 1}])
def test_nothing_but_bytes_goes_in(cache, value, tmp_path):
    with pytest.raises(TypeError, match="holds bytes"):
        cache._store.set(KEY, value)
    with pytest.raises(TypeError, match="keys are bytes"):
        cache._store.set("key", LINE)
    with pytest.raises(TypeError):  # a stream
        BytesDisk(str(tmp_path)).store(b"x", read=True)


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
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o755, 0o777])
def test_a_folder_that_others_can_enter_is_closed_to_them(tmp_path, mode):
    tmp_path.chmod(mode)
    ReplyCache(tmp_path).close()
    assert stat.S_IMODE((tmp_path).stat().st_mode) == 0o700


def test_a_folder_of_somebody_else_is_refused_before_anything_is_opened(tmp_path, monkeypatch):
    (tmp_path / "cache.db").write_bytes(b"planted")
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(InputError, match="belongs to another user"):
        ReplyCache(tmp_path)
    (left,) = tmp_path.iterdir()
    assert left.read_bytes() == b"planted"


def test_by_default_it_stands_in_the_users_cache_directory(monkeypatch, tmp_path):
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *a, **k: str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert default_folder(FOLDER) == tmp_path / "cache" / "replies"
    assert not (tmp_path / "cache").exists()
    ReplyCache().close()
    assert stat.S_IMODE((tmp_path / "cache" / "replies").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("close", 1),  # diskcache would set it as an attribute in place of its own method
        ("disk_folder", "x"), ("sqlite_no_pragma", 1), (7, 1), (b"count", 1),
        ("size", "much"), ("count", None), ("sqlite_mmap_size", "x; y"),
    ],
)  # fmt: skip
def test_a_planted_setting_is_an_input_error(tmp_path, name, value):
    ReplyCache(tmp_path).close()
    with sqlite3.connect(tmp_path / "cache.db") as db:
        db.execute("INSERT OR REPLACE INTO Settings VALUES (?, ?)", (name, value))
    db.close()
    with pytest.raises(InputError, match=f"^{tmp_path}: not a usable reply cache"):
        ReplyCache(tmp_path)


@pytest.mark.parametrize("name", ["file", "file/below", "nul\0"])
def test_a_folder_that_cannot_be_made_is_an_input_error(tmp_path, name):
    (tmp_path / "file").write_text("something else", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot create the reply cache.*run\.cache") as caught:
        ReplyCache(tmp_path / name)
    assert str(tmp_path) in str(caught.value)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "something else"


def test_a_users_cache_directory_that_cannot_be_made_is_an_input_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    if not default_folder(FOLDER).is_relative_to(tmp_path):
        pytest.skip("this system knows no XDG_CACHE_HOME")
    with pytest.raises(InputError, match="cannot create the reply cache"):
        ReplyCache()


def test_a_folder_that_cannot_be_written_is_an_input_error(tmp_path, monkeypatch):
    ReplyCache(tmp_path).close()

    def read_only(path, **options):
        return connect(f"file:{path}?mode=ro", uri=True, **options)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", read_only)
    with pytest.raises(InputError, match=r"readonly database.*fix that") as caught:
        ReplyCache(tmp_path)
    assert "delete" not in str(caught.value)


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_database_that_is_none_is_an_input_error(tmp_path, is_folder):
    path, message = tmp_path / "cache.db", "not a usable reply cache"
    if is_folder:
        path.mkdir()
        message = "the reply cache cannot be used"
    else:
        path.write_bytes(b"this is no database" * 100)
    with pytest.raises(InputError, match=message):
        ReplyCache(tmp_path)


# --- a full disk


def full_database(cache: ReplyCache) -> None:
    """SQLite says that the disk is full as soon as it needs another page."""
    pages = cache._store._sql("PRAGMA page_count").fetchone()[0]
    cache._store._sql(f"PRAGMA max_page_count = {pages}").fetchall()


def test_a_full_disk_costs_the_cache_and_no_judgement(model_server, open_gateway, ask, tmp_path):
    cache = ReplyCache(tmp_path)
    gateway = open_gateway(cache=cache)
    ask(gateway, "first")
    cache.flush()

    async def fill():
        full_database(cache)

    run_sync(fill())  # each thread has a connection of its own

    def ask_until_it_is_full():
        replies = [ask(gateway, f"sentence {i}") for i in range(200)]
        time.sleep(0.3)
        return replies + [ask(gateway, f"sentence {i}") for i in range(200, 300)]

    with pytest.warns(
        RuntimeWarning, match=r"stores no more replies \(.*full\); judgements are"
    ) as warned:
        replies = ask_until_it_is_full()
    assert sum(each.category is RuntimeWarning for each in warned) == 1
    assert all(reply.values for reply in replies)
    cache.close()
    again = ReplyCache(tmp_path)
    # The first, and at most those that were waiting as the disk was full: closing tries once more.
    assert 1 <= again.counts()["openai/mock"] <= 201
    again.close()


def test_a_full_disk_is_told_to_who_wants_all_committed_and_once_on_closing(tmp_path):
    cache = ReplyCache(tmp_path)

    async def put():
        cache.put(KEY, LINE * 10_000, "m")

    asyncio.run(put())
    full_database(cache)
    with pytest.raises(InputError, match=r"full.*fix that or set run\.cache"):
        cache.flush()
    with pytest.warns(RuntimeWarning, match="full"):
        cache.close()
    again = ReplyCache(tmp_path)
    assert again.get(KEY) is None
    again.close()


# --- kills, and several at once

WRITER = """
import asyncio, os, sys, time
from pathlib import Path
from nuggetjudge.backends.cache import ReplyCache
cache = ReplyCache(Path(sys.argv[1]))
async def write():
    for i in range(10**6):
        cache.put(b"%020d" % i, b'["reply %d"]' % i, "m")
        os.write(1, b"%d %.6f\\n" % (i, time.monotonic()))
        await asyncio.sleep(0.001)
asyncio.run(write())
"""


@pytest.mark.parametrize("n_lines", [1, 200, 700])
def test_kill_9_loses_a_fifth_of_a_second_of_replies_at_most(tmp_path, n_lines):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(n_lines)]
        killed_s = time.monotonic()
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.read().splitlines()
    put_s = [float(line.split()[1]) for line in lines if len(line.split()) == 2]
    cache = ReplyCache(tmp_path)
    replies = [cache.get(b"%020d" % i) for i in range(len(put_s))]
    n_kept = sum(reply is not None for reply in replies)
    assert replies[:n_kept] == [b'["reply %d"]' % i for i in range(n_kept)]  # the first ones
    assert all(killed_s - at < AT_MOST_S for at in put_s[n_kept:])
    assert n_lines < 500 or n_kept > 0
    cache.close()


def test_a_second_process_sees_a_reply_after_a_fifth_of_a_second(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    cache = ReplyCache(tmp_path)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            for _ in range(5):
                [process.stdout.readline() for _ in range(50)]
                number, put_s = process.stdout.readline().split()
                while (reply := cache.get(b"%020d" % int(number))) is None:
                    assert time.monotonic() - float(put_s) < AT_MOST_S
                    time.sleep(0.005)
                assert reply == b'["reply %d"]' % int(number)
        finally:
            process.kill()
    cache.close()


JUDGES = """
import sys, time
from pathlib import Path
from nuggetjudge.backends import open_backend
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import SupportJudge
folder, url = Path(sys.argv[1]), sys.argv[2]
model = ModelConfig(model="openai/mock", api_base=url)
judge = SupportJudge(backend=open_backend(model, cache=ReplyCache(folder)))
async def work():
    for i in range(1000):
        await judge.verdict(passage="Rain fell all day.", sentence=f"S{i}.")
        sys.stdout.write(f"{i} {time.monotonic()}\\n")
        sys.stdout.flush()
run_sync(work())
"""


def test_of_two_processes_that_judge_the_second_asks_nothing_that_the_first_was_told(
    tmp_path, model_server, open_gateway, ask
):
    model_server.latency_s = 0.005
    cache = ReplyCache(tmp_path)
    second = open_gateway(cache=cache)
    first = processes.start("-c", JUDGES, tmp_path, model_server.base_url, stdout=subprocess.PIPE)
    for _ in range(3):
        number, replied_s = [first.stdout.readline() for _ in range(20)][-1].split()
        time.sleep(max(0.0, float(replied_s) + AT_MOST_S - time.monotonic()))
        assert ask(second, f"S{number}.").provenance.cache_hit
    assert first.poll() is None  # both of them were at work
    first.kill()
    first.wait()
    asked = [str(request.body["messages"]) for request in model_server.requests]
    assert len(asked) == len(set(asked)) > 60
    cache.close()


def test_what_one_commits_another_sees_and_what_one_clears_is_gone_for_both(tmp_path):
    first, second = ReplyCache(tmp_path), ReplyCache(tmp_path)
    assert second.get(KEY) is None
    for i in range(50):
        first.put(b"%020d" % i, LINE, "m")
    assert [second.get(b"%020d" % i) for i in range(51)] == [LINE] * 50 + [None]
    assert first.clear() == 50
    assert second.get(b"%020d" % 1) is None
    second.close()
    first.close()


def write_many(folder: str, start: int, n: int) -> None:
    cache = ReplyCache(Path(folder))
    for i in range(start, start + n):
        cache.put(b"%020d" % i, b'["%d"]' % i, "m")
    cache.close()


@pytest.mark.slow
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


def test_threads_that_put_and_flush_at_once_lose_nothing(cache):
    stop = threading.Event()

    def flush() -> None:
        while not stop.is_set():
            cache.flush()

    flusher = threading.Thread(target=flush)
    flusher.start()

    async def put() -> None:
        for i in range(1000):
            cache.put(b"%020d" % i, LINE, "m")
            if i % 10 == 0:
                await asyncio.sleep(0)

    asyncio.run(put())
    stop.set()
    flusher.join()
    cache.flush()
    assert len(rows_of(cache.folder)) == 1000


def test_closing_twice_closes_once_and_nothing_is_kept_afterwards(tmp_path):
    cache = ReplyCache(tmp_path)
    cache.put(KEY, LINE, "m")
    cache.close()
    cache.put(OTHER, LINE, "m")
    cache.close()
    assert rows_of(tmp_path) == [(KEY, LINE)]


# --- what is kept: valid outcomes, under everything that could change them


@pytest.mark.parametrize(
    "fault",
    [
        Says('{"verdict": "full"}', "length"), Says('{"verdict": "full"}', "content_filter"),
        Says("I cannot say.", "stop"), Says('{"verdict": "splendid"}', "stop"),
        Says("{}", "stop"), Says("", "stop"), Refusal(),
    ],
)  # fmt: skip
def test_what_is_no_judgement_is_never_kept(model_server, open_gateway, ask, cache, fault):
    gateway = open_gateway(cache=cache, reasks=0)
    model_server.faults = [fault]
    with pytest.raises(JudgeOutputError):
        ask(gateway)
    assert cache.counts() == {}
    assert not ask(gateway).provenance.cache_hit
    assert ask(gateway).provenance.cache_hit
    assert len(model_server.requests) == 2
