"""Ray, started or found, and workers on it, each with its share of what a run may ask at once."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....records.reading.problems import InputError
from ...config.sections import Config, RunSection

OBJECT_STORE_BYTES = 100 * 2**20  # items and outcomes pass through it in small messages


def connect(run: RunSection) -> bool:
    """Start Ray on this machine, or join a cluster; it draws nothing and reports to nobody.

    Returns: False where this process had Ray already, and others use it.
    Raises: InputError.
    """
    import ray

    if ray.is_initialized():
        return False
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if run.address == "local":
        options |= {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
        options["_node_ip_address"] = "127.0.0.1"  # no port that others can reach
        if run.workers is not None:
            options["num_cpus"] = run.workers
    try:
        ray.init(run.address, **options)
    except Exception as error:  # a node that takes 30 s to start is no more than an Exception
        why = str(error).split("\n")[0]
        raise InputError(f"run.address {run.address}: Ray cannot be reached ({why})") from None
    return True


def parts(config: Config) -> list[Config]:
    """The config of each worker; concurrency and rates of all add up to what was asked for.

    Raises: InputError if there is no room for one.
    """
    import ray

    n = min(_room(config.run, ray.cluster_resources()), config.run.concurrency)
    return [_part(config, number, n) for number in range(n)]


def worker(config: Config) -> Any:
    """A new worker with its part, as Ray's handle of it; it begins when there is room."""
    import ray

    from .worker import Worker

    run = config.run
    kind = ray.remote(num_cpus=1, num_gpus=run.worker_gpus)(Worker)
    return kind.remote(config, Path.cwd())


def _room(run: RunSection, resources: Mapping[str, float]) -> int:
    """How many workers there will be."""
    needs = {"CPU": 1.0, "GPU": run.worker_gpus}
    fits = [int(resources.get(kind, 0) // need) for kind, need in needs.items() if need]
    if run.workers is None and not fits:
        raise InputError("run.workers: say how many, since they take neither CPU nor GPU")
    may_grow = run.workers is not None and run.address != "local"
    if not may_grow and not all(fits):
        there = ", ".join(f"{resources.get(kind, 0):g} {kind}" for kind in needs)
        raise InputError(f"no room for a Ray worker of {needs}: the cluster has {there}")
    return run.workers or min(fits)


def _part(config: Config, number: int, n: int) -> Config:
    config = config.changed(
        "run",
        executor="local",
        concurrency=(config.run.concurrency + number) // n,
        **dict.fromkeys(("max_calls", "max_tokens", "max_cost")),
    )
    models = {
        alias: model.model_copy(
            update={
                "concurrency": max(1, (model.concurrency + number) // n),
                "rpm": model.rpm and model.rpm / n,
                "tpm": model.tpm and model.tpm / n,
            }
        )
        for alias, model in config.models.items()
    }
    return config.model_copy(update={"models": models})
