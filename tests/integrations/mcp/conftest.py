"""A project's folder, and the real process `judge mcp` driven by the official client."""

import os
import shutil
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("mcp")

COLLECTION = Path(__file__).resolve().parents[2] / "collection"
JUDGE = [sys.executable, "-m", "nuggetjudge", "mcp"]


@pytest.fixture
def project(tmp_path):
    """What a developer has: a config and its files, and something beside it that is not shown."""
    folder = tmp_path / "project"
    shutil.copytree(COLLECTION, folder)
    (tmp_path / "secret.jsonl").write_text('{"docid": "s", "text": "the secret"}\n')
    return folder


@pytest.fixture
def environment(tmp_path):
    """Of the server: a reply cache of the test's own, a key, and no telemetry."""
    own = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "OPENAI_API_KEY": "sk-test"}
    return {**os.environ, **own, "OTEL_SDK_DISABLED": "true"}


@pytest.fixture
def command(project):
    """The command line of a server that may see the project."""
    return lambda *options: [*JUDGE, "--folder", str(project), *map(str, options)]


@pytest.fixture
def served(command, environment, tmp_path):
    """`async with served("--model", ...) as client`; what the server logs goes to a file."""
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    @asynccontextmanager
    async def open_one(*options):
        program, *arguments = command(*options)
        server = StdioServerParameters(command=program, args=arguments, env=environment)
        with (tmp_path / "log").open("w") as log:
            async with (
                stdio_client(server, errlog=log) as (read, write),
                ClientSession(read, write) as client,
            ):
                await client.initialize()
                yield client

    return open_one


@pytest.fixture
def asked():
    """`await asked(client, tool, **arguments)`: its structured result; an error fails the test."""

    async def ask(client, tool, **arguments):
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content[0].text
        return result.structured_content

    return ask


@pytest.fixture
def refused():
    """As `asked`, of a call that ends as an error: its text, which is one line."""

    async def ask(client, tool, **arguments):
        result = await client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        text = result.content[0].text
        assert "\n" not in text
        return text

    return ask
