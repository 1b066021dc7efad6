"""docs/config.md has every setting with its default, as the fields have them."""

from pathlib import Path

import pytest

from nuggetjudge.programs.config.judge_sections import JudgeConfig
from nuggetjudge.programs.config.sections import Config

PAGE = Path(__file__).parents[3] / "docs" / "config.md"
ELSEWHERE = ("generate", "models")  # generate.md; models: aliases that pydantic has twice
SECTIONS = {
    name: field.annotation
    for name, field in Config.model_fields.items()
    if hasattr(field.annotation, "model_fields") and name not in ELSEWHERE
}


@pytest.mark.parametrize("name", Config.model_fields)
def test_every_section_is_there(name):
    assert f"`{name}" in (text := PAGE.read_text(encoding="utf-8")) or f"\n## {name}" in text


@pytest.mark.parametrize("section", [*SECTIONS, "judges"])
def test_every_setting_is_there_with_its_default(section):
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[1:3] for line in lines if line.startswith("| ")]
    for name, field in {**SECTIONS, "judges": JudgeConfig}[section].model_fields.items():
        named = (f"`{name}`", f"`{section}.{name}`", f"`{name}.*`")
        defaults = [default for names, default in rows if any(each in names for each in named)]
        assert defaults, name
        default = field.get_default()
        if isinstance(default, bool):
            assert any(str(default).lower() in each for each in defaults), name
        elif isinstance(default, int | float):
            assert any(f"{default:g}" in each for each in defaults), name
