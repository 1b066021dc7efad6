"""A model that gives nothing ends a run of workers as one of this process."""

import pytest
from mock_server import MockServer, Status

from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.plugins.ray.executor import connect
from nuggetjudge.programs.config.sections import RunSection
from nuggetjudge.records.reading.problems import InputError

pytest.importorskip("ray.cloudpickle", reason="Ray is not installed here (extra: ray)")


def test_workers_that_get_nothing_end_the_run_and_one_that_goes_on_is_not_ended(demo):
    settings = {"run.concurrency": 4}
    sets = ("models.default.retries=0",)
    with MockServer(faults=lambda index, body: Status(400)) as server:
        with pytest.raises(EndpointUnusable, match=r"none of the first \d judgements"):
            demo(server, "ray", "support", **settings, sets=sets)
        assert len(server.requests) <= 2 * (5 + 4)
        server.faults = lambda index, body: Status(400) if index % 2 else None
        first = demo(server, "ray", "support", **settings, sets=sets)
        assert not first.is_complete
        server.faults = lambda index, body: Status(400)
        again = demo(server, "ray", "support", **settings, sets=sets)
        assert again.n_judged == first.n_judged


def test_a_node_that_takes_too_long_to_start_is_one_line(monkeypatch):
    import ray

    def init(*_, **__):
        raise Exception("The current node timed out during startup.\nAnd more.")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(InputError, match=r"cannot reach Ray \(The current node .* startup\.\)$"):
        connect(RunSection())
