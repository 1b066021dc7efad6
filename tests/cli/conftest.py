"""`judge` as a user runs it."""

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

__all__ = [
    "environment", "example", "files_of", "judge", "rows_of", "run_tiny",
    "tide_brain", "tide_server", "tiny",
]  # fmt: skip
