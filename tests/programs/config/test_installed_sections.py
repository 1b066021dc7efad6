"""Sections of a config that programs of other packages bring."""

from importlib.metadata import EntryPoint

import pytest

from nuggetjudge.programs.config import base, reading
from nuggetjudge.programs.config.reading import config_before, load_config
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.records.reading.problems import InputError


class Tides(base.Section):
    """Of another package."""

    high: int = 3


def test_a_section_is_found_by_its_entry_point_and_a_broken_one_is_left_out(monkeypatch):
    entries = [
        EntryPoint("tides", f"{__name__}:Tides", base.SECTIONS),
        EntryPoint("broken", "no_such_package:Section", base.SECTIONS),
    ]
    monkeypatch.setattr(EntryPoint, "load", lambda self: Tides if self.name == "tides" else 1 / 0)
    monkeypatch.setattr(
        base, "entry_points", lambda group: entries if group == base.SECTIONS else []
    )
    monkeypatch.setattr(base, "broken", {})
    monkeypatch.setattr(reading, "broken", base.broken)
    assert base.load_sections() == {"tides": Tides}
    with pytest.raises(InputError, match=r"broken: no such setting: no_such_package:Section cann"):
        load_config(None, {"broken.high": 1})


def test_every_installed_section_is_in_the_config_and_found_by_its_class():
    for name, kind in base.load_sections().items():
        assert Config.model_fields[name].annotation is kind
        assert load_config(None, {}).section(kind) == kind()


def test_a_manifest_made_with_a_program_that_is_not_installed_is_read():
    data = load_config(None, {"run.limit": 3}).model_dump(mode="json", by_alias=True)
    given = {**data.get("data", {}), "tide_tables": ["tides.jsonl"]}
    assert config_before({**data, "tides": {"high": 2}, "data": given}).run.limit == 3
