"""Pipelines from passages to TREC runs: what each step does, counted by hand on six passages."""

import json
from pathlib import Path

import pytest
from json_lines import read_rows, write_rows
from mock_server import MockServer, Status, input_of

from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.programs.config.pipelines import Bm25Step
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.indexing import make_indexes, name_of_index
from nuggetjudge.programs.pipelines.retrieve import plan_retrieve, retrieve
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.relevance import read_trec_run

# How often a passage says "dam" decides BM25: a, b, c, d; e and f hold it not at all.
PASSAGES = {
    "t:a#1": "dam dam dam dam",
    "t:b#2": "dam dam dam water",
    "t:c#3": "dam dam water clay",
    "t:d#4": "dam water clay rock",
    "t:e#5": "rain falls on hills",
    "t:f#6": "bees sing in June",
}
BY_BM25 = ["t:a#1", "t:b#2", "t:c#3", "t:d#4"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\nu\tbees\n", encoding="utf-8")
    rows = [json.dumps({"docid": name, "text": text}) for name, text in PASSAGES.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def config_of(folder, pipeline, **more):
    given = {
        "data.topics": folder / "topics.tsv",
        "data.passages": [folder / "passages.jsonl"],
        "run.cache": folder / "cache",
    }
    pipelines = pipeline if isinstance(pipeline, dict) else None
    given["pipelines" if pipelines else "retrieve"] = pipelines or pipeline
    return load_config(None, {**given, **more})


def rankings(folder, pipeline, **more):
    """Topic -> passage ids of the run that a pipeline writes, and its manifest."""
    out = folder / "a.run"
    manifest = retrieve(config_of(folder, pipeline, **more), out)
    problems = Problems()
    run = read_trec_run(out, problems)
    assert not list(problems)
    return {topic: list(ranking.passage_ids) for topic, ranking in run.items()}, manifest


def of_server(server, **judges):
    entry = {"model": "openai/mock", "api_base": server.base_url, "retries": 0, "reasks": 0}
    return {"models.default": entry}


def test_bm25_ranks_by_how_often_the_word_stands_there(folder):
    run, manifest = rankings(folder, "bm25")
    assert run == {"t": BY_BM25, "u": ["t:f#6"]}
    about = manifest["runs"]["bm25"]
    assert (about["topics"], about["passages"], about["topics_without_passages"]) == (2, 5, [])


def test_hits_cut_a_ranking_and_a_rerank_leaves_what_is_behind_its_depth(folder):
    assert rankings(folder, "bm25 2")[0]["t"] == BY_BM25[:2]
    assert rankings(folder, "bm25, cut 3")[0]["t"] == BY_BM25[:3]
    with MockServer(lambda body: {"order": [2, 1]}) as server:
        run, _ = rankings(folder, ["bm25", {"listwise": {"depth": 2}}], **of_server(server))
    assert run["t"] == ["t:b#2", "t:a#1", "t:c#3", "t:d#4"]


def test_a_list_wise_judge_reverses_the_ranking_and_is_asked_once_a_window(folder):
    def reverse(body):
        return {"order": list(range(len(input_of(body)["passages"]), 0, -1))}

    with MockServer(reverse) as server:
        run, manifest = rankings(folder, "bm25, listwise", **of_server(server))
        assert run["t"] == BY_BM25[::-1]
        assert manifest["asked"] == {"listwise": 1}  # u found one passage: nothing to ask
        assert len(server.requests) == 1
        again, manifest = rankings(folder, "bm25, listwise", **of_server(server))
        assert again == run
        assert manifest["this_time"]["requests"] == 0
        assert len(server.requests) == 1


def test_a_set_wise_judge_finds_the_best_and_keeps_the_others(folder):
    def longest_word_last(body):
        passages = input_of(body)["passages"]
        return {"best": int(min(passages, key=lambda n: passages[n].count("dam")))}

    with MockServer(longest_word_last) as server:
        step = {"setwise": {"top": 2, "size": 2}}
        run, _ = rankings(folder, ["bm25", step], **of_server(server))
    assert run["t"] == ["t:d#4", "t:c#3", "t:a#1", "t:b#2"]


def test_a_reranker_without_a_reply_keeps_the_order_and_is_counted(folder):
    with MockServer() as server:
        server.faults = lambda index, body: Status(500)
        run, manifest = rankings(folder, "bm25, listwise", **of_server(server))
    assert run["t"] == BY_BM25
    assert (manifest["asked"], manifest["failed"]) == ({"listwise": 1}, {"listwise": 1})
    assert manifest["share_missing"] == 1.0


def test_a_limit_on_calls_ends_the_asking_and_says_so(folder):
    with MockServer(lambda body: {"order": [1, 2]}) as server:
        step = {"listwise": {"window": 2, "stride": 1}}
        more = {**of_server(server), "run.max_calls": 1}
        manifest = retrieve(config_of(folder, ["bm25", step], **more), folder / "a.run")
        assert len(server.requests) == 1
    assert manifest["failed"] == {"listwise": 2}
    assert manifest["limit_reached"]


def test_an_endpoint_that_refuses_every_request_writes_no_run(folder):
    with MockServer() as server:
        server.faults = lambda index, body: Status(401)
        with pytest.raises(EndpointUnusable):
            rankings(folder, "bm25, listwise", **of_server(server))
    assert not (folder / "a.run").exists()


def questions_of(folder):
    (folder / "questions.jsonl").write_text(
        '{"id": "t", "subquestions": ["why?", "when?"]}\n', encoding="utf-8"
    )
    rated = {"t:a#1": [5, 0], "t:b#2": [5, 1], "t:c#3": [0, 4], "t:d#4": [0, 0]}
    rows = [json.dumps({"id": "t", "docid": name, "rating": row}) for name, row in rated.items()]
    (folder / "ratings.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return {
        "data.questions": folder / "questions.jsonl",
        "data.ratings": [folder / "ratings.jsonl"],
        "run.limit": 1,
    }


def test_coverage_takes_what_answers_most_of_what_is_open_without_a_call(folder):
    """By the given ratings: b (6), then c, which adds 3; a and d add nothing and follow."""
    with MockServer() as server:
        more = {**questions_of(folder), **of_server(server)}
        step = {"coverage": {"questions": "given"}}
        run, manifest = rankings(folder, ["bm25", step], **more)
        assert not server.requests
    assert run["t"] == ["t:b#2", "t:c#3", "t:a#1", "t:d#4"]
    assert manifest["asked"] == {}


def test_as_many_passages_as_required_are_kept(folder):
    """a or b answers why?, c when?: Z* has two passages."""
    run, _ = rankings(folder, ["bm25", {"cut": {"required": True}}], **questions_of(folder))
    assert run["t"] == BY_BM25[:2]
    with pytest.raises(InputError, match="rated sub-questions"):
        rankings(folder, ["bm25", {"cut": {"required": True}}])


def test_several_pipelines_give_a_folder_of_runs_and_share_their_steps(folder):
    config = config_of(folder, {"one": "bm25 2", "two": "bm25 2, mmr 1"})
    manifest = retrieve(config, folder / "runs")
    assert sorted(path.name for path in (folder / "runs").iterdir()) == [
        "manifest.json", "one.run", "two.run",
    ]  # fmt: skip
    assert [about["passages"] for about in manifest["runs"].values()] == [3, 2]
    with pytest.raises(InputError, match="wanted a folder"):
        retrieve(config, folder / "both.run")


def test_a_topic_that_finds_nothing_is_named(folder):
    (folder / "topics.tsv").write_text("t\tdam\nv\tzebra\n", encoding="utf-8")
    run, manifest = rankings(folder, "bm25, mmr 2")
    assert list(run) == ["t"]
    assert manifest["runs"]["bm25-mmr"]["topics_without_passages"] == ["v"]


BAD_PASSAGES = {
    "one id with two texts": ('{"docid": "t:a#1", "text": "other"}', "passages.jsonl:7"),
    "no text": ('{"docid": "x"}', "passages.jsonl:7"),
}


@pytest.mark.parametrize(("line", "message"), BAD_PASSAGES.values(), ids=BAD_PASSAGES.keys())
def test_bad_passages_are_refused_with_their_line(folder, line, message):
    with (folder / "passages.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(f"\n{line}\n")
    with pytest.raises(InputError, match=message):
        rankings(folder, "bm25")
    assert not (folder / "a.run").exists()


def test_a_dry_run_counts_the_calls_that_are_then_made(folder):
    with MockServer(lambda body: {"order": [1, 2]}) as server:
        step = {"listwise": {"window": 2, "stride": 1}}
        config = config_of(folder, ["bm25", step], **of_server(server))
        [estimate] = plan_retrieve(config)
        assert not server.requests
        retrieve(config, folder / "a.run")
        assert estimate.calls == len(server.requests) == 3
        sent = sum(len(message["content"]) for one in server.requests
                   for message in one.body["messages"])  # fmt: skip
    assert estimate.prompt_tokens == pytest.approx(sent / 4, rel=0.01)


def test_rerankers_are_planned_at_the_price_they_pay_also_where_judges_ask_in_batches(folder):
    price = {"input": 100.0, "output": 100.0}
    entry = {"model": "openai/mock", "api_base": "http://127.0.0.1:9/v1", "price": price}
    costs = set()
    for executor in ("local", "batch"):
        more = {"models.default": entry, "run.executor": executor}
        [estimate] = plan_retrieve(config_of(folder, ["bm25", "listwise"], **more))
        costs.add(estimate.cost)
    assert len(costs) == 1


def test_an_index_gives_the_same_run_and_needs_no_passages(folder):
    run, _ = rankings(folder, "bm25")
    made = make_indexes([Bm25Step(step="bm25")], [folder / "passages.jsonl"], folder / "index")
    assert made["passages"] == 6
    more = {"data.passages": [], "data.index": folder / "index"}
    assert rankings(folder, "bm25", **more)[0] == run
    with pytest.raises(InputError, match="add passage files"):
        rankings(folder, "bm25, mmr 2", **more)


def test_an_index_of_other_passages_or_settings_is_refused(folder):
    make_indexes([Bm25Step(step="bm25")], [folder / "passages.jsonl"], folder / "index")
    more = {"data.index": folder / "index"}
    with pytest.raises(InputError, match="judge index"):
        rankings(folder, [{"bm25": {"b": 0.9}}], **more)
    with (folder / "passages.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('\n{"docid": "new", "text": "dam"}\n')
    with pytest.raises(InputError, match="other passages"):
        rankings(folder, "bm25", **more)


def test_a_corrupt_index_is_refused_in_one_line(folder):
    step = Bm25Step(step="bm25")
    make_indexes([step], [folder / "passages.jsonl"], folder / "index")
    files = sorted((folder / "index" / name_of_index(step)).glob("*.npy"))
    files[0].write_bytes(files[0].read_bytes()[:-3])
    with pytest.raises(InputError, match="corrupt") as caught:
        rankings(folder, "bm25", **{"data.index": folder / "index"})
    assert "\n" not in str(caught.value)


def test_a_run_in_a_config_is_found_beside_it(folder):
    (folder / "given").mkdir()
    (folder / "given" / "other.run").write_text("t Q0 t:e#5 1 1.0 x\n", encoding="utf-8")
    (folder / "given" / "config.yaml").write_text(
        "retrieve: [{run: {path: other.run}}]\n", encoding="utf-8"
    )
    data = {"data.topics": folder / "topics.tsv", "data.passages": [folder / "passages.jsonl"]}
    config = load_config(folder / "given" / "config.yaml", data)
    retrieve(config, folder / "a.run")
    assert (folder / "a.run").read_text(encoding="utf-8").split() == [
        "t",
        "Q0",
        "t:e#5",
        "1",
        "1.0",
        "run",
    ]


NO_NAMES = ["a/b", "a b", "", " a"]


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_pipeline_whose_name_no_file_or_run_can_have_is_refused(folder, name):
    with pytest.raises(InputError, match="wanted no space or /"):
        retrieve(config_of(folder, {name: "bm25"}), folder / "runs")
    assert not (folder / "runs").exists()


def test_two_pipelines_of_one_name_are_refused(folder):
    config = config_of(folder, {"bm25": "bm25 2"}, retrieve="bm25")
    with pytest.raises(InputError, match=r"pipelines\.bm25: retrieve: has the same run name"):
        retrieve(config, folder / "runs")


def test_a_topic_whose_id_no_run_can_hold_is_refused(folder):
    (folder / "topics.tsv").write_text("t 1\tdam\n", encoding="utf-8")
    with pytest.raises(InputError, match="topic 't 1', wanted no white space"):
        rankings(folder, "bm25")
    assert not (folder / "a.run").exists()


def test_a_limit_in_dollars_wants_prices_before_anything_is_asked(folder):
    with MockServer() as server:
        more = {**of_server(server), "run.max_cost": 1.0}
        with pytest.raises(InputError, match="max_cost: the price of model"):
            rankings(folder, "bm25, listwise", **more)
        assert not server.requests
        assert rankings(folder, "bm25", **more)[0]["t"] == BY_BM25


def test_a_topic_that_missing_ratings_leave_without_a_size_is_no_topic_that_found_nothing(folder):
    more = questions_of(folder)
    path = more["data.ratings"][0]
    rows = read_rows(path)
    rows[0]["rating"] = [-2] * len(rows[0]["rating"])
    write_rows(path, rows)
    pipeline = ["bm25", {"cut": {"required": True}}]
    run, manifest = rankings(folder, pipeline, **more)
    [about] = manifest["runs"].values()
    lost = about["failed_topics"]
    assert set(lost.values()) == {"incomplete"}
    assert not set(lost) & {*about["topics_without_passages"], *about["topics_cut_to_nothing"]}
    assert {topic: run[topic] for topic in lost} == {topic: [] for topic in lost}
    (folder / "a.run").rename(folder / "before.run")
    again, _ = rankings(folder, [{"run": {"path": folder / "before.run"}}, "cut 1"])
    assert {topic for topic, names in again.items() if not names} == set(lost)


# What `judge retrieve` and `judge index` replace, keep and refuse to touch.
BM25 = Bm25Step(step="bm25")


@pytest.fixture
def retrieve_files_folder(tmp_path):
    (tmp_path / "topics.txt").write_text("t\tdam\nu\tbees\n", encoding="utf-8")
    texts = {"a": "dam dam dam", "b": "dam dam clay", "c": "dam clay rock", "d": "bees sing"}
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def retrieve_files_config_of(retrieve_files_folder, pipeline="bm25", **more):
    given = {
        "data.topics": retrieve_files_folder / "topics.txt",
        "data.passages": [retrieve_files_folder / "passages.jsonl"],
        "run.cache": retrieve_files_folder / "cache",
        "pipelines" if isinstance(pipeline, dict) else "retrieve": pipeline,
    }
    return load_config(None, {**given, **more})


def names(retrieve_files_folder):
    return sorted(path.name for path in retrieve_files_folder.iterdir())


def test_an_input_is_never_replaced(retrieve_files_folder):
    before = (retrieve_files_folder / "topics.txt").read_bytes()
    for out in (
        retrieve_files_folder / "topics.txt",
        retrieve_files_folder / "none" / ".." / "topics.txt",
    ):
        with pytest.raises(InputError, match=r"topics\.txt: is an input of this run"):
            retrieve(retrieve_files_config_of(retrieve_files_folder), out)
    assert (retrieve_files_folder / "topics.txt").read_bytes() == before


def test_a_manifest_does_not_replace_an_input_either(retrieve_files_folder):
    topics = retrieve_files_folder / "topics.txt"
    topics.rename(retrieve_files_folder / "a.run.manifest.json")
    more = {"data.topics": retrieve_files_folder / "a.run.manifest.json"}
    with pytest.raises(InputError, match="name another --out"):
        retrieve(
            retrieve_files_config_of(retrieve_files_folder, **more), retrieve_files_folder / "a.run"
        )
    assert names(retrieve_files_folder) == ["a.run.manifest.json", "passages.jsonl"]


def test_a_run_that_a_step_reads_is_neither_replaced_nor_removed(retrieve_files_folder):
    retrieve(
        retrieve_files_config_of(retrieve_files_folder, {"one": "bm25"}),
        retrieve_files_folder / "runs",
    )
    run = retrieve_files_folder / "runs" / "one.run"
    before = run.read_bytes()
    read = [{"run": {"path": str(run)}}]
    with pytest.raises(InputError, match=r"one\.run: is an input of this run"):
        retrieve(retrieve_files_config_of(retrieve_files_folder, read), run)
    with pytest.raises(InputError, match=r"one\.run: is an input of this run"):
        retrieve(
            retrieve_files_config_of(retrieve_files_folder, {"two": read}),
            retrieve_files_folder / "runs",
        )
    assert run.read_bytes() == before


OTHERS = {
    "of judge run": '{"fingerprint": "1", "config": {"program": ["support"]}}',
    "of judge build": '{"program": "build"}',
    "of judge generate": '{"program": "generate"}',
    "broken": '{"program": "retr',
    "no object": "[]",
}


@pytest.mark.parametrize("manifest", OTHERS.values(), ids=OTHERS.keys())
def test_results_of_another_program_are_not_written_into(retrieve_files_folder, manifest):
    (retrieve_files_folder / "out").mkdir()
    (retrieve_files_folder / "out" / "manifest.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(InputError, match="was not written by judge retrieve"):
        retrieve(retrieve_files_config_of(retrieve_files_folder), retrieve_files_folder / "out")
    assert names(retrieve_files_folder / "out") == ["manifest.json"]
    assert (retrieve_files_folder / "out" / "manifest.json").read_text(encoding="utf-8") == manifest


def test_a_folder_without_a_manifest_or_with_one_of_retrieve_is_written_into(retrieve_files_folder):
    (retrieve_files_folder / "out").mkdir()
    (retrieve_files_folder / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    retrieve(retrieve_files_config_of(retrieve_files_folder), retrieve_files_folder / "out")
    retrieve(retrieve_files_config_of(retrieve_files_folder), retrieve_files_folder / "out")
    assert names(retrieve_files_folder / "out") == ["bm25.run", "manifest.json", "notes.txt"]


def test_runs_of_before_that_are_no_longer_made_are_removed_and_others_stay(retrieve_files_folder):
    out = retrieve_files_folder / "out"
    retrieve(
        retrieve_files_config_of(retrieve_files_folder, {"one": "bm25 1", "two": "bm25 2"}), out
    )
    (out / "mine.run").write_text("t Q0 a 1 1.0 mine\n", encoding="utf-8")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    manifest["runs"]["../outside"] = {}
    (out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (retrieve_files_folder / "outside.run").write_text("mine", encoding="utf-8")
    retrieve(
        retrieve_files_config_of(retrieve_files_folder, {"two": "bm25 2", "three": "bm25 3"}), out
    )
    assert names(out) == ["manifest.json", "mine.run", "three.run", "two.run"]
    assert (retrieve_files_folder / "outside.run").read_text(encoding="utf-8") == "mine"


def test_a_run_that_met_its_limit_replaces_nothing_and_goes_on_with_a_higher_one(
    retrieve_files_folder,
):
    with MockServer(lambda body: {"order": [2, 1]}) as server:
        model = {"model": "openai/mock", "api_base": server.base_url, "retries": 0}
        step = {"listwise": {"window": 2, "stride": 1}}
        config = {"pipeline": ["bm25", step], "models.default": model}
        retrieve(retrieve_files_config_of(retrieve_files_folder), retrieve_files_folder / "a.run")
        before = {path: path.read_bytes() for path in retrieve_files_folder.glob("a.run*")}
        assert len(before) == 2
        stopped = retrieve(
            retrieve_files_config_of(retrieve_files_folder, **config, **{"run.max_calls": 1}),
            retrieve_files_folder / "a.run",
        )
        assert {path: path.read_bytes() for path in retrieve_files_folder.glob("a.run*")} == before
        assert stopped["limit_reached"]
        assert stopped["runs"]["bm25-listwise"]["file"] is None
        whole = retrieve(
            retrieve_files_config_of(retrieve_files_folder, **config, **{"run.max_calls": 9}),
            retrieve_files_folder / "a.run",
        )
    assert whole["this_time"]["cache_hits"] == 1
    assert (retrieve_files_folder / "a.run").read_bytes() != before[retrieve_files_folder / "a.run"]


def test_a_limit_at_the_first_time_leaves_no_folder(retrieve_files_folder):
    with MockServer(lambda body: {"order": [2, 1]}) as server:
        model = {"model": "openai/mock", "api_base": server.base_url, "retries": 0}
        more = {"models.default": model, "run.max_calls": 1}
        step = {"listwise": {"window": 2, "stride": 1}}
        retrieve(
            retrieve_files_config_of(retrieve_files_folder, ["bm25", step], **more),
            retrieve_files_folder / "out",
        )
    assert not (retrieve_files_folder / "out").exists()


def test_a_place_that_cannot_be_written_is_told_before_anything_is_asked(retrieve_files_folder):
    (retrieve_files_folder / "x.run").mkdir()
    (retrieve_files_folder / "file").write_text("mine", encoding="utf-8")
    (retrieve_files_folder / "out" / "bm25-listwise.run").mkdir(parents=True)
    with MockServer() as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        config = retrieve_files_config_of(
            retrieve_files_folder, "bm25, listwise", **{"models.default": model}
        )
        for path in ("x.run", "file", "file/a.run", "out", "a.run.gz"):
            with pytest.raises(InputError) as error:
                retrieve(config, retrieve_files_folder / path)
            assert "\n" not in str(error.value)
        assert not server.requests
    assert names(retrieve_files_folder) == ["file", "out", "passages.jsonl", "topics.txt", "x.run"]


def test_ids_and_scores_that_no_run_can_hold_leave_no_part_and_what_was_there(
    retrieve_files_folder, monkeypatch
):
    def refuses(path, rows):
        path.write_text("half", encoding="utf-8")
        raise ValueError("topic 't', rank 1: score nan")

    retrieve(retrieve_files_config_of(retrieve_files_folder), retrieve_files_folder / "out")
    before = {path: path.read_bytes() for path in (retrieve_files_folder / "out").iterdir()}
    monkeypatch.setattr("nuggetjudge.programs.pipelines.retrieve.write_trec_run", refuses)
    with pytest.raises(InputError, match="bm25: topic 't', rank 1"):
        retrieve(retrieve_files_config_of(retrieve_files_folder), retrieve_files_folder / "out")
    assert {path: path.read_bytes() for path in (retrieve_files_folder / "out").iterdir()} == before


def test_a_file_in_the_place_of_a_folder_of_indexes_is_one_line(retrieve_files_folder):
    (retrieve_files_folder / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="file: is a file, wanted a folder"):
        make_indexes(
            [BM25], [retrieve_files_folder / "passages.jsonl"], retrieve_files_folder / "file"
        )
    assert (retrieve_files_folder / "file").read_text(encoding="utf-8") == "mine"


def test_a_failed_index_does_not_block_its_folder(retrieve_files_folder):
    passages = retrieve_files_folder / "passages.jsonl"
    good = passages.read_text(encoding="utf-8")
    passages.write_text(good + '\n{"docid": "e f", "text": "dam"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"passages\.jsonl:5: passage 'e f'"):
        make_indexes([BM25], [passages], retrieve_files_folder / "index")
    assert not (retrieve_files_folder / "index" / name_of_index(BM25)).exists()
    passages.write_text(good, encoding="utf-8")
    assert make_indexes([BM25], [passages], retrieve_files_folder / "index")["passages"] == 4


def test_a_folder_of_something_else_is_not_made_one_of_indexes(retrieve_files_folder):
    (retrieve_files_folder / "thesis").mkdir()
    (retrieve_files_folder / "thesis" / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not a folder of indexes"):
        make_indexes(
            [BM25], [retrieve_files_folder / "passages.jsonl"], retrieve_files_folder / "thesis"
        )
    assert names(retrieve_files_folder / "thesis") == ["thesis.tex"]


def test_damage_that_keeps_the_size_of_a_file_is_noticed(retrieve_files_folder):
    make_indexes(
        [BM25], [retrieve_files_folder / "passages.jsonl"], retrieve_files_folder / "index"
    )
    path = retrieve_files_folder / "index" / name_of_index(BM25) / "ids.json"
    path.write_bytes(path.read_bytes().replace(b'"a"', b'"z"'))
    with pytest.raises(InputError, match=r"corrupt index: file ids\.json") as error:
        retrieve(
            retrieve_files_config_of(
                retrieve_files_folder, **{"data.index": retrieve_files_folder / "index"}
            ),
            retrieve_files_folder / "a.run",
        )
    assert "\n" not in str(error.value)
    assert not (retrieve_files_folder / "a.run").exists()


def test_a_folder_of_indexes_is_of_one_collection(retrieve_files_folder):
    make_indexes(
        [BM25], [retrieve_files_folder / "passages.jsonl"], retrieve_files_folder / "index"
    )
    before = (retrieve_files_folder / "index" / "collection.json").read_bytes()
    (retrieve_files_folder / "other.jsonl").write_text(
        '{"docid": "z", "text": "dam"}\n', encoding="utf-8"
    )
    with pytest.raises(InputError, match="made from other passages"):
        make_indexes(
            [BM25], [retrieve_files_folder / "other.jsonl"], retrieve_files_folder / "index"
        )
    assert (retrieve_files_folder / "index" / "collection.json").read_bytes() == before


@pytest.mark.parametrize("n", range(3))
def test_a_manifest_is_of_the_runs_beside_it_wherever_publishing_stops(
    n, retrieve_files_folder, monkeypatch
):
    out, renamed, whole = retrieve_files_folder / "out", [], Path.replace
    retrieve(
        retrieve_files_config_of(retrieve_files_folder, {"one": "bm25 1", "two": "bm25 2"}), out
    )
    before = (out / "manifest.json").read_bytes()

    def replace(self, target):
        if len(renamed) == n:
            raise KeyboardInterrupt
        renamed.append(target)
        return whole(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        retrieve(
            retrieve_files_config_of(retrieve_files_folder, {"one": "bm25 3", "two": "bm25 4"}), out
        )
    assert not (out / "manifest.json").exists()
    monkeypatch.undo()
    retrieve(
        retrieve_files_config_of(retrieve_files_folder, {"one": "bm25 3", "two": "bm25 4"}), out
    )
    assert (out / "manifest.json").read_bytes() != before
    assert names(out) == ["manifest.json", "one.run", "two.run"]
