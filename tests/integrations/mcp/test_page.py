"""The session that docs/reference/mcp.md shows is what the server says."""

import json
import re
import shutil
from pathlib import Path

import anyio
import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "mcp.md"
CALL = re.compile(r"^Call `(\w+)`:\n```json\n(.*?)```\ngives\n```json\n(.*?)```$", re.M | re.S)
MORE = "..."


@pytest.fixture
def project(tmp_path):
    """The demo, which the page serves."""
    return shutil.copytree(PAGE.parents[2] / "examples" / "demo", tmp_path / "project")


def stands_in(part, whole):
    """Whether what is shown is there, in this order; `...` as an item or a name: there is more."""
    if isinstance(part, dict):
        names = part.keys() - {MORE}
        is_whole = MORE in part or names == whole.keys()
        return is_whole and all(stands_in(part[name], whole[name]) for name in names)
    if isinstance(part, list):
        shown = [each for each in part if each != MORE]
        if MORE not in part:
            return len(shown) == len(whole) and all(map(stands_in, shown, whole))
        left = iter(whole)
        return all(any(stands_in(each, other) for other in left) for each in shown)
    return part == pytest.approx(whole, abs=5e-4) if isinstance(part, float) else part == whole


def test_the_page_shows_what_the_tools_give(served, asked):
    calls = CALL.findall(PAGE.read_text(encoding="utf-8"))
    assert len(calls) == 4

    async def session():
        async with served() as client:
            for tool, given, shown in calls:
                reply = await asked(client, tool, **json.loads(given))
                assert stands_in(json.loads(shown), reply), json.dumps(reply, indent=1)

    anyio.run(session)
