"""A Ray of two CPUs on this machine; without Ray the tests beside it are skipped."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mock_server import MockServer

import nuggetjudge as nj
from nuggetjudge.plugins.ray import executor
from nuggetjudge.plugins.ray.worker import Worker
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.config.sections import Config

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection" / "judge.yaml"


@pytest.fixture(scope="session")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Started once; runs find it and leave it up."""
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    home = str(tmp_path_factory.mktemp("home"))
    before = os.environ.get("HOME", "")
    os.environ["HOME"] = home  # for Ray's token
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": 40}
    for is_last in (False, False, True):
        try:
            ray.init("local", num_cpus=2, _node_ip_address="127.0.0.1", **quiet)
            break
        except Exception:  # Ray gives its node 30 s, which a busy machine may pass
            ray.shutdown()
            if is_last:
                raise
    yield
    ray.shutdown()
    os.environ["HOME"] = before


@pytest.fixture(scope="session")
def ended_workers() -> list[Any]:
    """Actors of `kept_workers` that no run has now."""
    return []


@pytest.fixture
def kept_workers(ray: None, ended_workers: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs take the processes of earlier runs for their workers; a new one imports for seconds."""
    import ray

    class Again(Worker):
        def __init__(self) -> None:
            """It becomes a worker when a run takes it."""

        async def become(self, config: Config, folder: Path) -> None:
            super().__init__(config, folder)

    kind = ray.remote(num_cpus=0)(Again)

    def taken(config: Config) -> Any:
        actor = ended_workers.pop() if ended_workers else kind.remote()
        ray.get(actor.become.remote(config, Path.cwd()))
        return actor

    monkeypatch.setattr(executor, "worker", taken)
    monkeypatch.setattr(executor, "CLOSE_S", 60.0)  # what is taken again has closed
    monkeypatch.setattr(ray, "kill", ended_workers.append)


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
