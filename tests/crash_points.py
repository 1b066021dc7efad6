"""A process that ends at its n-th write to the files that guard it: in process, so cheap.

Half of the n-th write is in the file, and nothing after it, as after a power cut in the middle of
it. One test of each command on a real SIGKILL stays beside this.
"""

import os
from contextlib import contextmanager
from pathlib import Path


class Crash(OSError):
    """Where a process would be gone, or its disk full."""


@contextmanager
def crash_at(number, folder, monkeypatch):
    """Ends at the n-th write to an append-only file below `folder`/journal; counts the writes.

    Yields a list with the paths written so far. `number` None: never ends.
    """
    written, real = [], os.write
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

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        yield written
