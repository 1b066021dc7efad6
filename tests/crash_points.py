"""A process that ends at its n-th write to the files that guard it.

Half of the n-th write is in the file, and nothing after it, as after a power cut in the middle of
it. `crash_at` is in process, so cheap; `end_at` ends a process of its own at any step by which it
changes what is on the disk.
"""

import errno
import os
import sqlite3
import sys
import threading
from contextlib import contextmanager
from pathlib import Path


class Crash(OSError):
    """Where a process would be gone, or its disk full."""


@contextmanager
def crash_at(number, folder, monkeypatch):
    """Ends at the n-th write to an append-only file below `folder`/journal; counts the writes.

    Yields a list with the paths written so far. `number` None: never ends.
    """
    written, real, cut = [], os.write, os.ftruncate
    guarded = str(Path(folder).resolve() / "journal") + os.sep

    def write(file, data):
        path = os.readlink(f"/proc/self/fd/{file}")
        if not path.startswith(guarded):
            return real(file, data)
        if number is not None and len(written) >= number:
            raise Crash(path)  # what tidies up after the first one writes nothing either
        written.append(path)
        if number is not None and len(written) == number:
            real(file, bytes(data)[: len(data) // 2])
            raise Crash(path)
        return real(file, data)

    def truncate(file, size):
        if number is None or len(written) < number:  # else it is gone, and cuts nothing off
            cut(file, size)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        patch.setattr(os, "ftruncate", truncate)
        yield written


KILLED = 137  # exit code of a process that ends so
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.symlink", "os.link"}


def end_at(number, folder, log, *, disk_is_full=False):
    """End this process at its n-th step, without any tidying up, or have the disk full for once.

    A step is a write to an append-only file, the opening of a file to be written, a rename, a
    removal, a new folder, or a commit of the reply cache; all below `folder`. What buffered files
    write counts as their opening. A full disk takes half of what is written, then nothing, and
    has room again afterwards.

    Args:
        number: from 1; None: never.
        log: outside of the folder; gets a line with each step.
    """
    from nuggetjudge.backends.cache import ReplyCache

    below = str(Path(folder).resolve()) + os.sep
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    lock, real, commit = threading.Lock(), os.write, ReplyCache._commit
    n, is_full = 0, False

    def is_due(what, path):
        nonlocal n
        with lock:
            n += 1
            real(descriptor, f"{what}\t{path.removeprefix(below)}\n".encode())
            return n == number

    def fall(path):
        if not disk_is_full:
            os._exit(KILLED)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    def write(file, data):
        nonlocal is_full
        path = os.readlink(f"/proc/self/fd/{file}")
        if not path.startswith(below):
            return real(file, data)
        if is_full:
            is_full = False
            fall(path)
        if not is_due("write", path):
            return real(file, data)
        half = real(file, bytes(data)[: max(1, len(data) // 2)])
        if not disk_is_full:
            fall(path)
        is_full = True
        return half

    def hook(event, given):
        if event == "open":
            path, _, flags = given
            if not (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
                return
        elif event not in CHANGES:
            return
        if isinstance(given[0], str | bytes | os.PathLike):
            path = os.path.abspath(os.fsdecode(given[0]))
            if path.startswith(below) and is_due(event.removeprefix("os."), path):
                fall(path)

    def committed(cache):
        if cache._waiting and is_due("commit", str(cache.folder)):
            if not disk_is_full:
                os._exit(KILLED)
            raise sqlite3.OperationalError("database or disk is full")
        return commit(cache)

    os.write, ReplyCache._commit = write, committed
    sys.addaudithook(hook)
