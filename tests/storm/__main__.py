"""Run the storms, print what they found as a table, and exit 1 where a promise was broken.

make storm                    all of it; takes a quarter of an hour
make storm SIZE=small         a share of it; under a minute
make storm SEED=123           the same again
make storm ONLY=faults,files  some parts
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from processes import JUDGE, run

from .crashes import crashes, kills
from .faults import kind_by_kind, storm
from .fuzz import fuzz_all
from .table import Row, text_of, total_broken

KEPT = Path(tempfile.gettempdir()) / "nuggetjudge-storm"  # what broke a reader


@dataclass(frozen=True)
class Size:
    """How much of each part.

    Attributes:
        topics: of the mixed storm, about 150 judgements each, and of each kind of fault alone.
        kinds, works: of fault alone and commands to end, drawn; None: all.
        ends: of each command, drawn; None: at each of its steps. full: times that its disk is full.
        kills: of each command that asks an endpoint. files: broken ones.
    """

    topics: tuple[int, int]
    kinds: int | None
    works: int | None
    ends: int | None
    full: int | None
    kills: int
    files: int


SIZES = {
    "small": Size((2, 1), 6, 4, 1, 1, 1, 3_000),
    "full": Size((20, 3), None, None, None, 20, 20, 100_000),
}
Part = Callable[[Path, int, Size], list[Row]]
PARTS: dict[str, Part] = {
    "faults": lambda at, seed, size: storm(at, seed, size.topics[0]),
    "kinds": lambda at, seed, size: kind_by_kind(at, seed, size.topics[1], size.kinds),
    "ends": lambda at, seed, size: crashes(at, seed, size.ends, size.works, is_full=False),
    "disk": lambda at, seed, size: crashes(at, seed, size.full, size.works, is_full=True),
    "kills": lambda at, seed, size: kills(at, seed, size.kills, size.works),
    "files": lambda at, seed, size: fuzz_all(at, seed, size.files, KEPT),
}


def main() -> int:
    """Parse the arguments, run and print; returns the exit code."""
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m storm", description=__doc__, formatter_class=shape
    )
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", metavar="PARTS", help=f"of {', '.join(PARTS)}")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(PARTS)
    if unknown := set(names) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there is {', '.join(PARTS)}")
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # a client that is gone
    run(*JUDGE, "--version")  # what is forked from is there
    began, rows = time.monotonic(), []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="storm-", ignore_cleanup_errors=True) as folder:
            rows += PARTS[name](Path(folder), given.seed, SIZES[given.size])
    sys.stdout.write(f"{text_of(rows)}\n")
    again = f"make storm SIZE={given.size} SEED={given.seed}"
    sys.stdout.write(f"{time.monotonic() - began:.0f} s. The same again: {again}\n")
    return 1 if total_broken(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
