"""`judge trace`: the steps of an item, where two runs part, and what proves a run."""

import json
import shutil
from functools import partial

import pytest
from mock_replies import Reply, as_json
from mock_server import MockServer
from seeking import add_seek, brain, seek

from nuggetjudge.cli.app import app
from nuggetjudge.records.reading.problems import InputError

__all__ = ["add_seek"]

pytestmark = pytest.mark.usefixtures("with_seek")


@pytest.fixture
def trace(capsys):
    """`trace(RESULTS, ...)`: exit code and stdout of `judge trace`."""
    return partial(run_command, capsys, "trace")


@pytest.fixture
def verify(capsys):
    return partial(run_command, capsys, "verify")


def run_command(capsys, *arguments):
    code = app(list(map(str, arguments)), standalone_mode=False)
    return code or 0, capsys.readouterr().out


def writes_badly(body):
    """As `brain`, but for a model that gives no parts of one question, and steers a terminal."""
    reply = brain(body)
    if isinstance(reply, str) and "subquestions" in reply:
        if "honey" in reply:
            return Reply(None, refusal="no")
        return as_json(
            {"kind": "vague", "subquestions": ["tides \x1b[2J rise", "what causes tides"]}
        )
    return reply


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of two models, and the server of the second is gone."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch, MockServer(brain=brain) as server:
        from nuggetjudge.programs.config.base import BUILT_IN
        from nuggetjudge.programs.protocols import table

        patch.setitem(BUILT_IN, "seek", "seeking:Seek")
        table.program.cache_clear()
        seek(folder / "one", server.base_url, **{"run.cache": folder / "cache"})
        server.brain = writes_badly
        seek(folder / "other", server.base_url, **{"run.cache": folder / "other-cache"})
    return folder


def test_it_draws_the_steps_with_tokens_and_cost_until_then(results, trace):
    code, out = trace(results / "one", "demo-sourdough")
    head, *steps, _, count, _ = out.split("\n")
    assert (code, head) == (0, "demo-sourdough  seeker: found, 7 replies")
    assert steps[0].startswith('  0.0 search "how does a sourdough starter make ...')
    assert "hits=3 -> sourdough-03 " in steps[0]
    assert steps[2].split() == [
        "0.2",
        "support",
        "passage=sourdough-11",
        "->",
        "unjudged",
        "(refused)",
    ]
    rows = [
        json.loads(row)
        for row in trace(results / "one", "demo-sourdough", "--json")[1].splitlines()
    ]
    spent = [row["tokens"] for row in rows if "tokens" in row]
    tokens, cost = sum(map(sum, spent)), sum(2 * p + 8 * c for p, c in spent) / 1e6
    assert steps[-2].split()[-2:] == [f"{tokens:,}", f"${cost:.4f}"]
    assert steps[-1] == "  0.7 end: found by 0.6.2"
    assert count == "1 item: found 1"
    assert all(len(line) <= 100 for line in out.split("\n"))


def test_items_are_chosen_by_ids_outcome_and_reason(results, trace):
    def items(*arguments):
        rows = [
            json.loads(row)
            for row in trace(results / "other", *arguments, "--json")[1].splitlines()
        ]
        return [row["item"]["topic_id"] for row in rows if row["path"] == "0"]

    assert len(items()) == 5
    assert (
        items("--where", "outcome=unjudged") == items("--where", "reason=refused") == ["demo-bees"]
    )
    assert items("demo-bees", "--where", "stage=seek") == ["demo-bees"]
    assert items("demo-bees", "--where", "outcome=found") == []  # it is there, and ended otherwise


@pytest.mark.parametrize("wanted", [["demo-bee"], ["no"], ["--where", "stage=other"]])
@pytest.mark.parametrize("compared", [[], ["--diff"]])
def test_an_item_that_is_not_there_is_no_empty_answer(results, trace, wanted, compared):
    other = [*compared, results / "other"] if compared else []
    with pytest.raises(InputError, match=r"no item.*(demo-bee'|no'|of stage 'other')"):
        trace(results / "one", *wanted, *other)


def test_what_a_model_wrote_cannot_steer_the_terminal(results, trace):
    out = trace(results / "other")[1]
    assert "\x1b" not in out
    assert "tides \\x1b[2J rise" in out


def test_where_two_runs_part_is_their_first_other_step(results, trace):
    code, out = trace(results / "one", "demo-bees", "--diff", results / "other")
    assert code == 0
    assert out.splitlines() == [
        "demo-bees  seek: found | unjudged",
        '  < 0.4 question_decomposer -> "how do honey", "bees survive the winter"',
        "  > 0.4 question_decomposer -> unjudged (refused)",
        "1 item, 1 with another step",
    ]
    rows = trace(results / "one", "--diff", results / "other", "--json")[1].splitlines()
    assert [json.loads(row)["path"] for row in rows] == ["0.4"] * 5
    assert trace(results / "one", "--diff", results / "one")[1] == "5 items, 0 with another step\n"


def test_edited_results_do_not_follow_from_the_kept_replies(results, verify, tmp_path):
    code, out = verify(results / "other")
    assert (code, out.splitlines()[-1].split(" from ")[0]) == (0, "The results follow")
    edited = tmp_path / "edited"
    shutil.copytree(results / "other", edited)
    rows = (edited / "sought.jsonl").read_text("utf-8")
    (edited / "sought.jsonl").write_text(rows.replace("found", "fuond", 1), "utf-8")
    code, out = verify(edited)
    assert code == 1
    assert "sought.jsonl, line " in out
    assert "do not follow" in out
    (edited / "sought.jsonl").write_text(rows, "utf-8")
    shutil.rmtree(results / "other-cache")  # nothing proves them any more
    checked = json.loads(verify(edited, "--json")[1])
    assert (checked["is_same"], checked["replies"]) == (False, 0)
    assert checked["other"] == ["4 judgements have no kept reply: it is in the cache no more"]


def test_results_without_agents_are_refused(trace, tmp_path):
    with pytest.raises(InputError, match="no agent was at work"):
        trace(tmp_path)


def test_what_agents_did_until_a_run_was_killed_is_shown(results, trace, tmp_path):
    whole, stopped = results / "one", tmp_path / "one"
    shutil.copytree(whole, stopped)
    for path in stopped.iterdir():
        if path.is_file():
            path.unlink()
    assert trace(stopped) == trace(whole)
