"""A prompt file with a text."""

import pytest


@pytest.fixture
def written(tmp_path):
    def write(text, name="prompt.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
