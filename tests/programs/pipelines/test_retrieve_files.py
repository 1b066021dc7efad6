"""What `judge retrieve` and `judge index` replace, keep and refuse to touch."""

import json
from pathlib import Path

import pytest
from mock_server import MockServer

from nuggetjudge.programs.config.pipelines import Bm25Step
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.indexing import make_indexes, name_of_index
from nuggetjudge.programs.pipelines.retrieve import retrieve
from nuggetjudge.records.reading.problems import InputError

BM25 = Bm25Step(step="bm25")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.txt").write_text("t\tdam\nu\tbees\n", encoding="utf-8")
    texts = {"a": "dam dam dam", "b": "dam dam clay", "c": "dam clay rock", "d": "bees sing"}
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def config_of(folder, pipeline="bm25", **more):
    given = {
        "data.topics": folder / "topics.txt",
        "data.passages": [folder / "passages.jsonl"],
        "run.cache": folder / "cache",
        "pipelines" if isinstance(pipeline, dict) else "retrieve": pipeline,
    }
    return load_config(None, {**given, **more})


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_input_is_never_replaced(folder):
    before = (folder / "topics.txt").read_bytes()
    for out in (folder / "topics.txt", folder / "none" / ".." / "topics.txt"):
        with pytest.raises(InputError, match=r"topics\.txt: is read by this run"):
            retrieve(config_of(folder), out)
    assert (folder / "topics.txt").read_bytes() == before


def test_a_manifest_does_not_replace_an_input_either(folder):
    topics = folder / "topics.txt"
    topics.rename(folder / "a.run.manifest.json")
    more = {"data.topics": folder / "a.run.manifest.json"}
    with pytest.raises(InputError, match="name another --out"):
        retrieve(config_of(folder, **more), folder / "a.run")
    assert names(folder) == ["a.run.manifest.json", "passages.jsonl"]


def test_a_run_that_a_step_reads_is_neither_replaced_nor_removed(folder):
    retrieve(config_of(folder, {"one": "bm25"}), folder / "runs")
    run = folder / "runs" / "one.run"
    before = run.read_bytes()
    read = [{"run": {"path": str(run)}}]
    with pytest.raises(InputError, match=r"one\.run: is read by this run"):
        retrieve(config_of(folder, read), run)
    with pytest.raises(InputError, match=r"one\.run: is read by this run"):
        retrieve(config_of(folder, {"two": read}), folder / "runs")
    assert run.read_bytes() == before


OTHERS = {
    "of judge run": '{"fingerprint": "1", "config": {"program": ["support"]}}',
    "of judge build": '{"program": "build"}',
    "of judge generate": '{"program": "generate"}',
    "broken": '{"program": "retr',
    "no object": "[]",
}


@pytest.mark.parametrize("manifest", OTHERS.values(), ids=OTHERS.keys())
def test_results_of_another_program_are_not_written_into(folder, manifest):
    (folder / "out").mkdir()
    (folder / "out" / "manifest.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(InputError, match="is not of judge retrieve"):
        retrieve(config_of(folder), folder / "out")
    assert names(folder / "out") == ["manifest.json"]
    assert (folder / "out" / "manifest.json").read_text(encoding="utf-8") == manifest


def test_a_folder_without_a_manifest_or_with_one_of_retrieve_is_written_into(folder):
    (folder / "out").mkdir()
    (folder / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    retrieve(config_of(folder), folder / "out")
    retrieve(config_of(folder), folder / "out")
    assert names(folder / "out") == ["bm25.run", "manifest.json", "notes.txt"]


def test_runs_of_before_that_are_no_longer_made_are_removed_and_others_stay(folder):
    out = folder / "out"
    retrieve(config_of(folder, {"one": "bm25 1", "two": "bm25 2"}), out)
    (out / "mine.run").write_text("t Q0 a 1 1.0 mine\n", encoding="utf-8")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    manifest["runs"]["../outside"] = {}
    (out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "outside.run").write_text("mine", encoding="utf-8")
    retrieve(config_of(folder, {"two": "bm25 2", "three": "bm25 3"}), out)
    assert names(out) == ["manifest.json", "mine.run", "three.run", "two.run"]
    assert (folder / "outside.run").read_text(encoding="utf-8") == "mine"


def test_a_run_that_met_its_limit_replaces_nothing_and_goes_on_with_a_higher_one(folder):
    with MockServer(lambda body: {"order": [2, 1]}) as server:
        model = {"model": "openai/mock", "api_base": server.base_url, "retries": 0}
        step = {"listwise": {"window": 2, "stride": 1}}
        config = {"pipeline": ["bm25", step], "models.default": model}
        retrieve(config_of(folder), folder / "a.run")
        before = {path: path.read_bytes() for path in folder.glob("a.run*")}
        assert len(before) == 2
        stopped = retrieve(config_of(folder, **config, **{"run.max_calls": 1}), folder / "a.run")
        assert {path: path.read_bytes() for path in folder.glob("a.run*")} == before
        assert stopped["limit_reached"]
        assert stopped["runs"]["bm25-listwise"]["file"] is None
        whole = retrieve(config_of(folder, **config, **{"run.max_calls": 9}), folder / "a.run")
    assert whole["this_time"]["cache_hits"] == 1
    assert (folder / "a.run").read_bytes() != before[folder / "a.run"]


def test_a_limit_at_the_first_time_leaves_no_folder(folder):
    with MockServer(lambda body: {"order": [2, 1]}) as server:
        model = {"model": "openai/mock", "api_base": server.base_url, "retries": 0}
        more = {"models.default": model, "run.max_calls": 1}
        step = {"listwise": {"window": 2, "stride": 1}}
        retrieve(config_of(folder, ["bm25", step], **more), folder / "out")
    assert not (folder / "out").exists()


def test_a_place_that_cannot_be_written_is_told_before_anything_is_asked(folder):
    (folder / "x.run").mkdir()
    (folder / "file").write_text("mine", encoding="utf-8")
    (folder / "out" / "bm25-listwise.run").mkdir(parents=True)
    with MockServer() as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        config = config_of(folder, "bm25, listwise", **{"models.default": model})
        for path in ("x.run", "file", "file/a.run", "out", "a.run.gz"):
            with pytest.raises(InputError) as error:
                retrieve(config, folder / path)
            assert "\n" not in str(error.value)
        assert not server.requests
    assert names(folder) == ["file", "out", "passages.jsonl", "topics.txt", "x.run"]


def test_ids_and_scores_that_no_run_can_hold_leave_no_part_and_what_was_there(folder, monkeypatch):
    def refuses(path, rows):
        path.write_text("half", encoding="utf-8")
        raise ValueError("topic 't', rank 1: score nan")

    retrieve(config_of(folder), folder / "out")
    before = {path: path.read_bytes() for path in (folder / "out").iterdir()}
    monkeypatch.setattr("nuggetjudge.programs.pipelines.retrieve.write_trec_run", refuses)
    with pytest.raises(InputError, match="bm25: topic 't', rank 1"):
        retrieve(config_of(folder), folder / "out")
    assert {path: path.read_bytes() for path in (folder / "out").iterdir()} == before


def test_a_file_in_the_place_of_a_folder_of_indexes_is_one_line(folder):
    (folder / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="file: a file, wanted a folder"):
        make_indexes([BM25], [folder / "passages.jsonl"], folder / "file")
    assert (folder / "file").read_text(encoding="utf-8") == "mine"


def test_a_failed_index_does_not_block_its_folder(folder):
    passages = folder / "passages.jsonl"
    good = passages.read_text(encoding="utf-8")
    passages.write_text(good + '\n{"docid": "e f", "text": "dam"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"passages\.jsonl:5: passage 'e f'"):
        make_indexes([BM25], [passages], folder / "index")
    assert not (folder / "index" / name_of_index(BM25)).exists()
    passages.write_text(good, encoding="utf-8")
    assert make_indexes([BM25], [passages], folder / "index")["passages"] == 4


def test_a_folder_of_something_else_is_not_made_one_of_indexes(folder):
    (folder / "thesis").mkdir()
    (folder / "thesis" / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="no folder of indexes"):
        make_indexes([BM25], [folder / "passages.jsonl"], folder / "thesis")
    assert names(folder / "thesis") == ["thesis.tex"]


def test_damage_that_keeps_the_size_of_a_file_is_noticed(folder):
    make_indexes([BM25], [folder / "passages.jsonl"], folder / "index")
    path = folder / "index" / name_of_index(BM25) / "ids.json"
    path.write_bytes(path.read_bytes().replace(b'"a"', b'"z"'))
    with pytest.raises(InputError, match=r"corrupt index: file ids\.json") as error:
        retrieve(config_of(folder, **{"data.index": folder / "index"}), folder / "a.run")
    assert "\n" not in str(error.value)
    assert not (folder / "a.run").exists()


def test_a_folder_of_indexes_is_of_one_collection(folder):
    make_indexes([BM25], [folder / "passages.jsonl"], folder / "index")
    before = (folder / "index" / "collection.json").read_bytes()
    (folder / "other.jsonl").write_text('{"docid": "z", "text": "dam"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="made from other passages"):
        make_indexes([BM25], [folder / "other.jsonl"], folder / "index")
    assert (folder / "index" / "collection.json").read_bytes() == before


@pytest.mark.parametrize("n", range(3))
def test_a_manifest_is_of_the_runs_beside_it_wherever_publishing_stops(n, folder, monkeypatch):
    out, renamed, whole = folder / "out", [], Path.replace
    retrieve(config_of(folder, {"one": "bm25 1", "two": "bm25 2"}), out)
    before = (out / "manifest.json").read_bytes()

    def replace(self, target):
        if len(renamed) == n:
            raise KeyboardInterrupt
        renamed.append(target)
        return whole(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        retrieve(config_of(folder, {"one": "bm25 3", "two": "bm25 4"}), out)
    assert not (out / "manifest.json").exists()
    monkeypatch.undo()
    retrieve(config_of(folder, {"one": "bm25 3", "two": "bm25 4"}), out)
    assert (out / "manifest.json").read_bytes() != before
    assert names(out) == ["manifest.json", "one.run", "two.run"]
