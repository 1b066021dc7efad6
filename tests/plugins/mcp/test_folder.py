"""What a client of `judge mcp` cannot make it read or write."""

import json
import shutil

import pytest

import nuggetjudge as nj
from nuggetjudge.plugins.mcp.folder import Folder
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import InputError

OUTSIDE = "outside of the folder"
CONFIG = {
    "program": ["support"],
    "data": {"topics": "topics.tsv", "runs": "runs/*.jsonl", "passages": "passages.jsonl"},
}


@pytest.fixture
def root(tmp_path):
    """A folder with a small evaluation in it, and the same files beside it."""
    answer = {
        "run_id": "a",
        "topic_id": "1",
        "references": ["p"],
        "answer": [{"text": "Bees dance.", "citations": [0]}],
    }
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
