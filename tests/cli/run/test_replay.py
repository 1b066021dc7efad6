"""`--offline`, the shared reply cache, and the same bytes whatever the concurrency."""

import sqlite3

import pytest
from mock_server import MockServer, Refusal


@pytest.fixture
def baselines(tiny):
    """The tiny collection, where both runs gave the same answer."""
    text = (tiny / "one.jsonl").read_text("utf-8").replace('"run_id": "one"', '"run_id": "two"')
    (tiny / "two.jsonl").write_text(text, "utf-8")
    return tiny


ONE_BY_ONE = ("--set", "run.concurrency=1", "--set", "models.default.retries=0", "--quiet")


def replies_of(environment):
    return environment["XDG_CACHE_HOME"] + "/nuggetjudge/replies/cache.db"


def test_a_finished_run_replays_to_the_same_bytes_with_the_server_down(
    tide_brain, run_tiny, tmp_path, files_of, environment, rows_of
):
    with MockServer(brain=tide_brain) as server:
        url = server.base_url
        assert run_tiny(url, "nuggets,support", "--quiet").code == 0
    replayed = run_tiny(url, "nuggets,support", "--offline", "--quiet", out="again")
    assert replayed.code == 0, replayed.err
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")

    with sqlite3.connect(replies_of(environment)) as replies:
        (one,) = replies.execute("SELECT rowid FROM Cache LIMIT 1").fetchone()
        replies.execute("DELETE FROM Cache WHERE rowid = ?", (one,))
    short = run_tiny(url, "nuggets,support", "--offline", "--quiet", out="short")
    assert short.code == 3, short.err
    (lost,) = rows_of(tmp_path / "short" / "unjudged.jsonl")
    assert lost["reason"] == "error"
    assert "offline" in lost["detail"]
    # It is the cache that answers, not the journal of an earlier run in the same folder.
    assert run_tiny(url, "nuggets,support", "--offline", "--quiet").code == 3


def test_a_finished_run_started_again_asks_nothing(tide_server, run_tiny, tmp_path, files_of):
    without_cache = ["--quiet", "--set", "run.cache=false"]
    assert run_tiny(tide_server, "support", *without_cache).code == 0
    before = files_of(tmp_path / "out")
    assert run_tiny(tide_server, "support", *without_cache).code == 0
    assert len(tide_server.requests) == 6
    assert files_of(tmp_path / "out") == before


def test_two_servers_with_one_model_name_never_share_a_reply(tide_brain, run_tiny):
    with MockServer(brain=tide_brain) as one, MockServer(brain=tide_brain) as other:
        assert run_tiny(one, "support", "--quiet").code == 0
        assert run_tiny(other, "support", "--quiet", out="other").code == 0
        assert (len(one.requests), len(other.requests)) == (6, 6)


def test_a_question_that_failed_before_a_kill_and_was_answered_after_it_replays(
    baselines, tide_brain, run_tiny, tmp_path, files_of
):
    with MockServer(brain=tide_brain, faults=[Refusal()]) as server:
        assert run_tiny(server, "support", *ONE_BY_ONE, "--set", "run.max_calls=1").code == 3
        for path in (tmp_path / "out").iterdir():  # as a kill would leave the folder
            if path.is_file():
                path.unlink()
        assert run_tiny(server, "support", *ONE_BY_ONE).code == 0
        url = server.base_url
    assert run_tiny(url, "support", "--offline", "--quiet", out="again").code == 0
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")


def test_a_question_that_is_never_answered_is_asked_once_more_by_no_run(
    baselines, tide_brain, run_tiny, tmp_path, rows_of
):
    """Both runs lack the label; the others are not asked about again."""
    with MockServer(brain=tide_brain, faults=[Refusal(), None, None, Refusal()]) as server:
        assert run_tiny(server, "support", *ONE_BY_ONE).code == 3
        assert len(server.requests) == 4
    lost = rows_of(tmp_path / "out" / "unjudged.jsonl")
    assert [(row["run_id"], row["reason"]) for row in lost] == [
        ("one", "refused"),
        ("two", "refused"),
    ]
