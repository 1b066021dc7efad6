"""Several models at one endpoint, each answering in its own way, and the demo judged by them."""

from pathlib import Path

from mock_server import MockServer, input_of

from nuggetjudge.programs.config.reading import load_config

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"


def models_that_say(says):
    """A server of these models: by name, a function of the inputs that gives the reply."""

    def brain(body):
        return says[body["model"]](input_of(body))

    return MockServer(brain=brain, model_names=tuple(says))


def demo_of(server, folder, settings, out="out"):
    """The demo's config in this folder, with an entry under `models:` for each of the server's."""
    given = {"run.out": folder / out, "run.cache": folder / "cache", **settings}
    for name in server.model_names:
        about = {"model": f"hosted_vllm/{name}", "api_base": server.base_url, "reasks": 0}
        given[f"models.{name}"] = {**about, "price": {"input": 1, "output": 2}}
    return load_config(DEMO / "judge.yaml", given)
