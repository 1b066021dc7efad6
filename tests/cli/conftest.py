"""`judge` as a user runs it."""

from cli_fixtures import (
    environment,
    files_of,
    judge,
    rows_of,
    run_tiny,
    tide_brain,
    tide_server,
    tiny,
)

__all__ = [
    "environment",
    "files_of",
    "judge",
    "rows_of",
    "run_tiny",
    "tide_brain",
    "tide_server",
    "tiny",
]
