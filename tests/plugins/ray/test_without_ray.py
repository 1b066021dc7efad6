"""A run that is to be judged elsewhere, where the means for it are missing."""

import sys
from pathlib import Path

import pytest
from mock_server import MockServer

import nuggetjudge as nj
from nuggetjudge.records.reading.problems import InputError

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection" / "judge.yaml"


def test_without_ray_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.actor", None)
    with pytest.raises(InputError, match=r"pip install '.\[ray\]'"):
        nj.run(DEMO, out=tmp_path / "out", executor="ray")


def test_offline_nothing_is_started_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.actor", None)
    with MockServer() as server:
        given = {
            "program": ["support"],
            "models.default": {"model": "openai/mock", "api_base": server.base_url},
            "cache": tmp_path / "cache",
        }
        asked = nj.run(DEMO, out=tmp_path / "asked", **given)
    again = nj.run(DEMO, out=tmp_path / "again", executor="ray", offline=True, **given)
    assert again.is_complete
    assert again.n_judged == asked.n_judged
