"""What tests of all kinds of probe share."""

import pytest

from nuggetjudge.programs.config.reading import load_config


@pytest.fixture
def config_for(tmp_path):
    """A config that asks this server, with a cache of its own."""

    def config(server, **more):
        settings = {"run.cache": str(tmp_path / "cache"), "models.default.model": "openai/mock"}
        settings |= {"models.default.api_base": server.base_url, **more}
        return load_config(None, settings)

    return config
