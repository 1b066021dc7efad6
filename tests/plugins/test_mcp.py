"""What a client of `judge mcp` cannot make it read or write."""

import json
import shutil
import threading

import anyio
import pytest

import nuggetjudge as nj
from nuggetjudge.backends.budget import Budget, Need
from nuggetjudge.backends.config import Price
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.gateway import Completion
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.plugins.mcp import tools
from nuggetjudge.plugins.mcp.folder import Folder
from nuggetjudge.plugins.mcp.replies import Amount
from nuggetjudge.plugins.mcp.session import OverBudget, Part, Session, SessionBudget, get_amount
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import InputError

OUTSIDE = "outside the folder"
CONFIG = {
    "program": ["support"],
    "data": {"topics": "topics.tsv", "runs": "runs/*.jsonl", "passages": "passages.jsonl"},
}


@pytest.fixture
def root(tmp_path):
    """A folder with a small evaluation in it, and the same files beside it."""
    answer = {
        "run_id": "a", "topic_id": "1", "references": ["p"],
        "answer": [{"text": "Bees dance.", "citations": [0]}],
    }  # fmt: skip
    for folder in (tmp_path / "project", tmp_path / "elsewhere"):
        (folder / "runs").mkdir(parents=True)
        (folder / "topics.tsv").write_text("1\twhy do bees dance\n")
        (folder / "passages.jsonl").write_text('{"docid": "p", "text": "Bees dance for food."}\n')
        (folder / "runs" / "a.jsonl").write_text(json.dumps(answer) + "\n")
    return tmp_path / "project"


def checked(root, **changes):
    """A config of the folder with other data, or other sections, as it is checked."""
    sections = {
        name: value for name, value in changes.items() if name in ("nugget_search", "items")
    }
    data = {name: value for name, value in changes.items() if name not in sections}
    path = root / "judge.yaml"
    path.write_text(json.dumps(CONFIG | {"data": CONFIG["data"] | data} | sections))
    Folder(root).check(load_config(path, {}), "judge.yaml")


def test_a_config_with_all_of_its_files_in_the_folder_is_taken(root):
    checked(root)
    checked(root, passages=str(root / "passages.jsonl"))


@pytest.mark.parametrize(
    "data",
    [
        {"passages": "../elsewhere/passages.jsonl"},
        {"topics": "/etc/hostname"},
        {"runs": "../elsewhere/runs"},
        {"runs": "../elsewhere/*/*.jsonl"},
        {"runs": "/*/nowhere"},
        {"nuggets": "../nowhere.jsonl"},
        {"items": {"judge": "../elsewhere/judge.yaml"}},
    ],
)
def test_a_config_that_names_something_outside_is_refused(root, data):
    with pytest.raises(InputError, match=OUTSIDE):
        checked(root, **data)


@pytest.mark.parametrize("link", ["passages.jsonl", "runs/b.jsonl", "runs"])
def test_a_link_that_leads_out_is_refused_wherever_it_stands(root, link):
    path = root / link
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    other = root.parent / "elsewhere" / ("runs/a.jsonl" if link == "runs/b.jsonl" else link)
    path.symlink_to(other)
    with pytest.raises(InputError, match=OUTSIDE):
        checked(root)


def test_a_search_that_loads_a_model_by_itself_is_refused(root):
    for steps in ("bm25 20 | mmr 5 encoder=some/model", "bm25 20 | rankllm some/model"):
        with pytest.raises(InputError, match=r"loads a model by itself|some/model"):
            checked(root, nugget_search={"pipeline": steps})


def test_results_that_name_files_outside_are_not_shown(root):
    out = root / "results" / "one"
    data = CONFIG["data"]
    nj.run(program="support", out=out, **{name: str(root / path) for name, path in data.items()})
    folder = Folder(root)
    assert folder.results("results/one") == out
    manifest = out / "manifest.json"
    written = manifest.read_text()
    elsewhere = written.replace(str(root / "passages.jsonl"), "/etc/hostname")
    assert elsewhere != written
    manifest.write_text(elsewhere)
    with pytest.raises(InputError, match=OUTSIDE):
        folder.results("results/one")
    manifest.write_text(written)
    (out / "extra.jsonl").symlink_to(root.parent / "elsewhere" / "passages.jsonl")
    with pytest.raises(InputError, match=OUTSIDE):
        folder.results("results/one")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/x", "a\0b", "x" * 101, "-rf"])
def test_results_get_plain_names_alone(root, name):
    with pytest.raises(InputError, match="wanted letters"):
        Folder(root).out(name)


def test_nothing_is_written_through_a_link_in_an_earlier_results_folder(root):
    out = root / "results" / "one"
    out.mkdir(parents=True)
    assert Folder(root).out("one") == out
    (out / "journal").symlink_to(root.parent / "elsewhere", target_is_directory=True)
    with pytest.raises(InputError, match=OUTSIDE):
        Folder(root).out("one")


def test_results_that_are_mistyped_are_told_which_were_meant(root):
    (root / "results" / "bees").mkdir(parents=True)
    (root / "results" / "bees" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match=r"did you mean results/bees\?"):
        Folder(root).results("results/bess")


# What a session may spend: nothing without a limit, and nothing beyond it.
VLLM = {"models.default.api_base": "http://127.0.0.1:9/v1"}


@pytest.mark.parametrize(
    ("model", "settings", "what"),
    [
        (
            "openai/gpt-4o",
            {},
            "set a limit: --max-cost, or --set run.max_calls=N",
        ),
        ("hosted_vllm/x", VLLM | {"run.max_cost": 1}, "the price of model"),
        ("lexical", {"run.executor": "ray"}, "run.executor"),
    ],
)
def test_a_server_that_could_spend_without_end_does_not_start(tmp_path, model, settings, what):
    with pytest.raises(InputError, match=what) as error:
        Session(load_config(None, settings, model=model), tmp_path)
    assert "\n" not in str(error.value)


def test_a_server_of_a_limited_or_a_free_judge_starts(tmp_path):
    Session(load_config(None, {"run.max_calls": 5}, model="openai/gpt-4o"), tmp_path)
    Session(load_config(None, {}), tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        Session(load_config(None, {}), tmp_path / "none")


def test_parts_of_a_budget_share_its_limit_and_count_what_is_their_own():
    whole = Budget(max_calls=3)
    one, two = Part(whole), Part(whole)
    need = Need(one.kind("support", Price(input=1, output=2)), 100)
    for part in (one, two, two):
        part.reserve(need)
    with pytest.raises(JudgeError, match="max_calls 3 reached"):
        two.reserve(need)
    assert (one.reached, two.reached) == ("", "max_calls 3")
    one.settle(need, Completion("{}", "stop", "", "m", 1000, 0, 500))
    two.settle(need, None, 0)  # cancelled: it may be paid for all the same
    assert get_amount(one) == Amount(calls=1, tokens=1500, cost=0.002)
    assert get_amount(two).calls == 2
    assert get_amount(whole) == Amount(calls=3, tokens=1500, cost=0.002)
    assert two.count_by_limit()["max_tokens"] > 1500


def test_what_calls_under_way_are_expected_to_take_is_not_promised_again():
    budget = SessionBudget(Budget(max_calls=10, max_cost=1.0))
    large = Amount(calls=6, tokens=600, cost=0.6)

    async def left():
        return await budget.get_remaining()

    with budget.part(large, run_sync(left())) as part:
        now = run_sync(left())
        assert (now.calls, now.tokens, now.cost) == (4, None, pytest.approx(0.4))
        refused = r"about 6 calls, 600 tokens, \$0.6000, and .* has 4 calls, \$0.4000 left"
        with pytest.raises(OverBudget, match=refused), budget.part(large, now):
            pass
        part.reserve(Need(part.kind("support", None), 100))
        assert run_sync(left()).calls == 4  # one spent, five expected
    assert run_sync(left()).calls == 9


ANSWER = {"question": "why?", "answer": "Bees dance [1].", "contexts": ["Bees dance to tell."]}


def test_cutting_a_long_answer_does_not_keep_other_calls_waiting(tmp_path, monkeypatch):
    goes_on = threading.Event()
    write = tools.write_samples

    def wait(*given):
        assert goes_on.wait(timeout=20), "the loop waited for the answer to be cut"
        return write(*given)

    monkeypatch.setattr(tools, "write_samples", wait)

    async def calls():
        async with anyio.create_task_group() as group:
            group.start_soon(tools.judge_answer, Session(load_config(None, {}), tmp_path), ANSWER)
            await anyio.sleep(0.05)
            goes_on.set()

    anyio.run(calls)


def test_an_answer_is_not_even_cut_where_nothing_is_left_to_judge_it(tmp_path, monkeypatch):
    session = Session(load_config(None, {"run.max_calls": 1}, model="openai/gpt-4o"), tmp_path)
    part = Part(session.budget.whole)
    part.reserve(Need(part.kind("support", None), 100))
    monkeypatch.setattr(tools, "write_samples", lambda *given: pytest.fail("it was cut"))

    async def judged():
        await tools.judge_answer(session, ANSWER)

    with pytest.raises(OverBudget, match="0 calls left"):
        anyio.run(judged)
