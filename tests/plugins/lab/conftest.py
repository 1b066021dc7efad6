"""`judge` as a user runs it, and what tests of all kinds of probe share."""

import pytest
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

from nuggetjudge.programs.config.reading import load_config

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


@pytest.fixture
def config_for(tmp_path):
    """A config that asks this server, with a cache of its own."""

    def config(server, **more):
        settings = {"run.cache": str(tmp_path / "cache"), "models.default.model": "openai/mock"}
        settings |= {"models.default.api_base": server.base_url, **more}
        return load_config(None, settings)

    return config
