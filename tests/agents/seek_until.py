"""A run of tests/seeking.py in its own process, which kills itself at the n-th point of a kind.

A point is before a question is sent, after its reply, half of a line of a journal, the whole of
it, before a commit of replies and after it. Arguments: a JSON object with out, cache, url, kind
(or null: never) and number, and log, a file that gets a line with the time and kind of each point.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in (".", "mocks")]

import seeking  # noqa: E402

from nuggetjudge.backends.cache import ReplyCache  # noqa: E402
from nuggetjudge.backends.gateway import Gateway  # noqa: E402

given = json.loads(sys.argv[1])
log = os.open(given["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
write, commit, fetch = os.write, ReplyCache._commit, Gateway._fetch
lock, n = threading.Lock(), 0


def point(kind):
    global n
    with lock:
        n += kind == given["kind"]
        write(log, f"{time.monotonic()}\t{kind}\n".encode())
        if kind == given["kind"] and n == given["number"]:
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)


async def fetched(self, transport, job):
    point("before asking")
    response = await fetch(self, transport, job)
    point("after asking")
    return response


def written(file, data):
    if "/journal/seek-" not in os.readlink(f"/proc/self/fd/{file}"):
        return write(file, data)
    half = len(data) // 2
    write(file, data[:half])
    point("half a line")
    write(file, data[half:])
    point("written")
    return len(data)


def committed(self):
    if self._waiting:
        point("before a commit")
        commit(self)
        point("committed")


Gateway._fetch, os.write, ReplyCache._commit = fetched, written, committed
seeking.with_seek()
cache = given["cache"] and Path(given["cache"])
settings = {"run.cache": cache, "run.concurrency": 2, **given.get("settings", {})}
seeking.seek(Path(given["out"]), given["url"], **settings)
