"""A model that refuses whatever is about zebras, and the samples that it judges."""

import json
import os
from importlib.metadata import PackageNotFoundError, version

import pytest
from mock_server import MockServer, Refusal

os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # before ragas is imported

OF_EXTRAS = ("dspy", "inspect-ai", "ragas")


def pytest_report_header():
    """The versions of the libraries that the tests run against."""
    versions = []
    for name in OF_EXTRAS:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"no {name}")
    return "integrations: " + ", ".join(versions)


@pytest.fixture
def refusing():
    """A model entry whose replies about zebras are refusals; its server as `server`."""
    with MockServer(faults=lambda i, body: Refusal() if "Zebra" in json.dumps(body) else None) as s:
        yield Model(s)


class Model(dict):
    """An entry of `models:` for a mock server."""

    def __init__(self, server):
        super().__init__(model="hosted_vllm/mock", api_base=server.base_url, retries=0)
        self.server = server
