"""A Ray of two CPUs on this machine; without Ray the tests beside it are skipped."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mock_server import MockServer

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config

DEMO = Path(__file__).resolve().parents[2] / "examples" / "collection" / "judge.yaml"


@pytest.fixture(scope="session")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Started once; runs find it and leave it up."""
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    home = str(tmp_path_factory.mktemp("home"))
    before = os.environ.get("HOME", "")
    os.environ["HOME"] = home  # for Ray's token
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": 40}
    ray.init("local", num_cpus=2, _node_ip_address="127.0.0.1", **quiet)
    yield
    ray.shutdown()
    os.environ["HOME"] = before


@pytest.fixture
def demo(ray: None, tmp_path: Path) -> Callable[..., Any]:
    """`demo(server, "ray", "support")` judges the demo; each folder has a cache of its own.

    `sets`: further `NAME=VALUE`.
    """

    def run(server: MockServer | None, executor: str, *programs: str, **settings: Any) -> Any:
        out = tmp_path / settings.pop("out", executor)
        given: dict[str, Any] = {"run.out": out, "run.cache": tmp_path / f"cache-{out.name}"}
        given |= {"run.executor": executor, "run.workers": 2, "program": list(programs)}
        sets = list(settings.pop("sets", ()))
        if server is not None:
            sets.append(f"models.default.api_base={server.base_url}")
        model = "lexical" if server is None else "hosted_vllm/mock"
        return nj.run(load_config(DEMO, given | settings, sets, model))

    return run


@pytest.fixture
def files_of() -> Callable[[Path], dict[str, bytes]]:
    """The bytes of a results folder's files that two equal runs must share."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            path.name: path.read_bytes()
            for path in sorted(folder.iterdir())
            if path.is_file() and path.name not in ("manifest.json", "spend.jsonl", "DATASHEET.md")
        }

    return read
