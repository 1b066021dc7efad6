"""`judge` as a user runs it, and files written for one test."""

from cli_fixtures import (
    environment,
    example,
    files_of,
    judge,
    rows_of,
    run_tiny,
    tide_brain,
    tide_server,
    tiny,
)
from record_fixtures import kinds, problems, write

__all__ = [
    "environment", "example", "files_of", "judge", "kinds", "problems", "rows_of", "run_tiny",
    "tide_brain", "tide_server", "tiny", "write",
]  # fmt: skip
