"""A results folder holds one whole run, or the one before it; nothing else is touched."""

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from json_lines import write_rows
from mock_server import MockServer, Status

import nuggetjudge as nj
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.programs.analysis.cell_texts import cell_texts
from nuggetjudge.programs.engine.folders import (
    CHANGED,
    GONE,
    check_writable,
    check_writable_file,
    check_writable_folder,
    find_inputs,
)
from nuggetjudge.programs.engine.results import Results
from nuggetjudge.programs.inputs import expand_runs, load_collection
from nuggetjudge.records.judgements import Judged, Provenance, Reason, Unjudged
from nuggetjudge.records.reading.problems import InputError, Problems


def answer(run_id, text):
    return {
        "run_id": run_id, "topic_id": "t1", "topic": "-", "references": ["p1"],
        "response_length": len(text.split()), "answer": [{"text": text, "citations": [0]}],
    }  # fmt: skip


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "topics.tsv").write_text("t1\twhy tides\n", encoding="utf-8")
    rows = [answer("good", "The moon pulls."), answer("bad", "The sea is green.")]
    write_rows(tmp_path / "run.jsonl", rows)
    (tmp_path / "passages.jsonl").write_text(
        '{"docid": "p1", "text": "The moon pulls the sea."}\n', encoding="utf-8"
    )
    bank = {"qid": "t1", "query": "-", "nuggets": [{"text": "moon pulls", "importance": "vital"}]}
    (tmp_path / "bank.jsonl").write_text(json.dumps(bank) + "\n", encoding="utf-8")
    return {
        "program": "nuggets,support", "topics": tmp_path / "topics.tsv",
        "runs": str(tmp_path / "run.jsonl"), "passages": tmp_path / "passages.jsonl",
        "nuggets": tmp_path / "bank.jsonl", "out": tmp_path / "out", "run.cache": False,
    }  # fmt: skip


def files(folder):
    paths = [p for p in folder.iterdir() if p.is_file() and p.name != "spend.jsonl"]
    return {p.name: p.read_bytes() for p in paths}


def test_inputs_that_change_during_a_run_end_it_without_results(settings, tmp_path):
    run = tmp_path / "run.jsonl"

    def brain(body):
        run.write_text(
            "".join(sorted(run.read_text(encoding="utf-8").splitlines(keepends=True))),
            encoding="utf-8",
        )
        return {"verdict": "full"} if "pulls." in str(body) else {"verdict": "none"}

    with MockServer(brain=brain) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        with pytest.raises(InputError, match=r"run\.jsonl: changed while the run went on"):
            nj.run(**{**settings, "program": "support", "model": model})
        assert files(tmp_path / "out") == {}
        result = nj.run(**{**settings, "program": "support", "model": model})
    scores = {r: result.score(r, "support_precision") for r in ("good", "bad")}
    assert scores == {"good": 1.0, "bad": 0.0}


def test_a_run_that_fails_leaves_the_results_before_it(settings, tmp_path):
    nj.run(**settings)
    before = files(tmp_path / "out")
    bank = tmp_path / "bank.jsonl"
    bank.write_text(
        bank.read_text(encoding="utf-8").replace("moon pulls", "sea is blue"), encoding="utf-8"
    )
    with MockServer(faults=lambda index, body: Status(401)) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        extra = {"models.strict": model, "judges.support": {"model": "strict"}}
        with pytest.raises(EndpointUnusable):
            nj.run(**settings, **extra, force=True)
    assert files(tmp_path / "out") == before


def test_files_that_are_not_ours_stay(settings, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.part").write_text("keep", encoding="utf-8")
    with MockServer(faults=lambda index, body: Status(401)) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        with pytest.raises(EndpointUnusable):
            nj.run(**settings, model=model)
    assert files(tmp_path / "out") == {"mine.part": b"keep"}


def test_a_run_does_not_write_over_what_it_reads(settings, tmp_path):
    nj.run(**settings)
    with pytest.raises(InputError, match="is read by this run, which writes that file"):
        nj.run(**{**settings, "nuggets": tmp_path / "out" / "nuggets.jsonl"})


def test_results_of_another_program_are_not_removed(settings):
    nj.run(**{**settings, "program": "nuggets"})
    with pytest.raises(InputError, match=r"holds results of nuggets.*run nuggets,support together"):
        nj.run(**{**settings, "program": "support"})
    assert set(nj.run(**settings).judgements) == {"nuggets", "assignments", "support"}


def test_a_changed_recording_is_read_anew(settings, tmp_path):
    from nuggetjudge.judges import SupportJudge

    prompt = SupportJudge("lexical").prompt("judge")
    recording = tmp_path / "recording.jsonl"

    def record(verdict):
        rows = []
        for sentence in ("The moon pulls.", "The sea is green."):
            inputs = {"passage": "The moon pulls the sea.", "sentence": sentence}
            text = json.dumps({"verdict": verdict})
            rows.append({"messages": prompt.messages(inputs), "text": text})
        write_rows(recording, rows)

    model = {"model": "any", "engine": "recorded", "recording": str(recording)}
    scores = []
    for verdict in ("full", "none"):
        record(verdict)
        result = nj.run(**{**settings, "program": "support", "model": model})
        scores.append(result.score("good", "support_precision"))
    assert scores == [1.0, 0.0]


def test_a_folder_without_a_manifest_has_no_results(settings, tmp_path):
    whole = nj.run(**settings)
    os.remove(tmp_path / "out" / "manifest.json")
    with pytest.raises(InputError, match="manifest"):
        nj.Result(tmp_path)
    with pytest.warns(UserWarning, match="partial"):  # as a run that was stopped at its end
        again = nj.Result(tmp_path / "out")
    assert (again.manifest["partial"], again.scores) == (True, whole.scores)


# Publishing: files of one run under their names, the manifest last, and none of another run.
NAMES = ("labels.jsonl", "made.jsonl")


def publish(folder, text, names=NAMES):
    with Results(folder, NAMES) as results:
        for name in names:
            with results.open(name) as rows:
                rows.write({"text": text})
        results.publish({"run": text})


def publishing_files(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_files_get_their_names_all_at_once(tmp_path):
    with Results(tmp_path, NAMES) as results:
        with results.open("labels.jsonl") as rows:
            rows.write({"text": "a"})
        assert set(publishing_files(tmp_path)) == {"labels.jsonl.part", "unjudged.jsonl.part"}
        results.publish({"run": "a"})
    assert set(publishing_files(tmp_path)) == {"labels.jsonl", "unjudged.jsonl", "manifest.json"}
    manifest = json.loads(publishing_files(tmp_path)["manifest.json"])
    digests = manifest.pop("files")
    assert manifest == {"run": "a"}
    assert digests.keys() == {"labels.jsonl", "unjudged.jsonl"}
    assert digests["labels.jsonl"] == sha256(b'{"text":"a"}\n').hexdigest()


def test_what_an_earlier_run_wrote_and_this_one_did_not_goes(tmp_path):
    publish(tmp_path, "old")
    (tmp_path / "notes.txt").write_text("mine")
    publish(tmp_path, "new", names=["made.jsonl"])
    assert set(publishing_files(tmp_path)) == {
        "made.jsonl", "unjudged.jsonl", "manifest.json", "notes.txt",
    }  # fmt: skip


@pytest.mark.parametrize("n", range(4))
def test_a_folder_with_a_manifest_holds_one_whole_run_wherever_publishing_stops(
    tmp_path, monkeypatch, n
):
    publish(tmp_path, "old")
    renamed, whole = [], Path.replace

    def replace(self, target):
        if len(renamed) == n:
            raise KeyboardInterrupt
        renamed.append(target.name)
        return whole(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        publish(tmp_path, "new")
    assert "manifest.json" not in publishing_files(tmp_path)  # neither the old nor the new one
    assert not list(tmp_path.glob("*.part"))
    monkeypatch.undo()
    publish(tmp_path, "again")
    assert {
        json.loads(t).get("text", "again") for t in publishing_files(tmp_path).values() if t
    } == {"again"}


def test_a_run_that_fails_leaves_the_one_before_and_no_parts(tmp_path):
    publish(tmp_path, "old")
    before = publishing_files(tmp_path)
    with pytest.raises(TypeError, match="not JSON serializable"):
        publish(tmp_path, object())
    assert publishing_files(tmp_path) == before


@pytest.mark.parametrize("name", [*NAMES, "scores.jsonl", "manifest.json.part"])
def test_files_that_no_run_wrote_are_not_replaced(tmp_path, name):
    (tmp_path / name).write_text("mine")
    if name.endswith(".part"):
        publish(tmp_path, "new")
        return
    with pytest.raises(InputError, match=f"has a {name} that no run wrote"):
        publish(tmp_path, "new")
    assert publishing_files(tmp_path) == {name: "mine"}


@pytest.mark.parametrize("name", ["labels.jsonl", "labels.jsonl.part", "manifest.json.part"])
def test_no_link_in_the_folder_is_followed(name, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    folder = tmp_path / "out"
    publish(folder, "old")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(theirs)
    publish(folder, "new")
    assert theirs.read_text() == "theirs"
    assert not any(path.is_symlink() for path in folder.iterdir())
    assert json.loads(publishing_files(folder)["labels.jsonl"]) == {"text": "new"}


@pytest.mark.parametrize("name", ["journal", "journal/lock"])
def test_a_journal_is_no_link(name, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (tmp_path / "out" / name).parent.mkdir(parents=True)
    (tmp_path / "out" / name).symlink_to(theirs if name == "journal" else theirs / "lock")
    with pytest.raises(InputError, match=f"{name}: is a link, and links are not followed"):
        publish(tmp_path / "out", "new")
    assert list(theirs.iterdir()) == []


def test_outcomes_are_counted_by_what_they_stand_for_and_the_missing_listed(tmp_path):
    call = Provenance(model="m", prompt_tokens=5)
    with Results(tmp_path, NAMES) as results:
        results.count_outcome("a", {"topic_id": "t"}, Judged({}, (call, call)), n=3)
        results.count_outcome("a", {"topic_id": "u"}, Unjudged(Reason.REFUSED, "no", "raw"), n=2)
        results.count_outcome("b", {"topic_id": "u"}, Unjudged(Reason.BUDGET, ""))
        assert (results.n_judged["a"], results.n_unjudged["a"]) == (3, 2)
        assert results.tokens["prompt"] == 10
        assert results.reasons == {"refused": 2, "budget": 1}
        assert results.missing == {"u": ("a", Reason.REFUSED)}
        assert results.share_missing == 3 / 6
        results.list_problems(Problems())
        results.publish({})
    first, second = map(json.loads, publishing_files(tmp_path)["unjudged.jsonl"].splitlines())
    assert first == {
        "stage": "a", "topic_id": "u", "n": 2, "reason": "refused", "detail": "no", "raw": "raw",
    }  # fmt: skip
    assert second["stage"] == "b"


def test_of_what_was_not_made_the_largest_share_is_missing_with_all_its_judgements(tmp_path):
    with Results(tmp_path, NAMES) as results:
        results.count_outcome("a", {"topic_id": "t"}, Judged({}), n=98)
        results.count_failed("answers", [({"topic_id": "u", "run_id": "a"}, Reason.ERROR)], 3)
        results.count_failed("rankings", [({"topic_id": "u"}, Reason.ERROR)], 9)
        assert results.n_unjudged == {"answers": 1, "rankings": 1}
        assert results.share_missing == 1 / 4  # of the answers, and not 2 of 100


# Inputs of results are found from anywhere, moved or not, and never used where they changed.
DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"
CELL = ("demo-bees", "complete", "0", "bees-1")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with data/ and, judged from within it by relative paths, results/."""
    home = tmp_path / "project"
    shutil.copytree(DEMO, home / "data")
    (home / "data" / "runs" / "README.md").write_text("no run", encoding="utf-8")
    monkeypatch.chdir(home)
    result = nj.run(
        "data/judge.yaml", program=["support"], out="results/one", **{"data.runs": ["data/runs"]}
    )
    assert result.is_complete
    monkeypatch.chdir(tmp_path)
    return home


def texts(folder, problems):
    (cell,) = [
        (row["topic_id"], row["run_id"], str(row["sentence"]), row["citation"])
        for row in nj.Result(folder).judgements["support"][:1]
    ]
    return cell_texts(folder, "support", [cell], problems)[cell]


def moved(project, how):
    results = project / "results" / "one"
    if how == "the whole project":
        return (project.rename(project.parent / "elsewhere")) / "results" / "one"
    if how == "the results alone":
        return results.rename(project.parent / "one")
    if how == "a link to the results":
        (project.parent / "deep" / "er").mkdir(parents=True)
        link = project.parent / "deep" / "er" / "link"
        link.symlink_to(results)
        return link
    return results


@pytest.mark.parametrize(
    "how", ["not at all", "the whole project", "the results alone", "a link to the results"]
)
def test_what_was_judged_is_found_from_another_directory(project, how):
    folder = moved(project, how)
    inputs = find_inputs(folder)
    assert (dict(inputs.changed), inputs.config.run.out) == ({}, folder)
    config = inputs.check("nothing")
    assert [p.name for p in expand_runs(config.data.runs)][::3] == ["complete.jsonl", "thin.jsonl"]
    assert load_collection(config.data, None).n_answers > 3
    problems = Problems()
    assert texts(folder, problems).keys() >= {"sentence", "passage"}
    assert not problems.rows


@pytest.mark.parametrize(
    ("change", "reason"), [(lambda path: path.write_text("x\n"), CHANGED), (os.remove, GONE)]
)
def test_a_file_that_changed_or_is_gone_is_named_with_what_is_lost(project, change, reason):
    folder = project / "results" / "one"
    change(project / "data" / "passages.jsonl")
    assert find_inputs(folder).changed == {"data/passages.jsonl": reason}
    problems = Problems()
    assert "passage" not in texts(folder, problems)
    (problem,) = problems.rows
    assert f"data/passages.jsonl: {reason}; its texts are not shown" in problem.what
    with pytest.raises(InputError, match=f"data/passages.jsonl: {reason}; nothing can be proven"):
        find_inputs(folder).check("nothing can be proven")
    runs = expand_runs(find_inputs(folder).config.data.runs)
    assert find_inputs(folder).check("repairs need the answers", of=runs)


def test_another_file_of_the_same_name_is_not_taken_for_the_one_that_was_read(project, tmp_path):
    shutil.copytree(DEMO, tmp_path / "data")
    (tmp_path / "data" / "topics.tsv").write_text("x\ty\n", encoding="utf-8")
    inputs = find_inputs(project / "results" / "one")
    assert not inputs.changed
    assert inputs.config.data.topics == project / "data" / inputs.config.data.topics.name


def test_runs_that_came_into_the_folder_later_are_not_among_those_that_were_judged(project):
    one = project / "data" / "runs" / "thin.jsonl"
    shutil.copy(one, one.with_name("later.jsonl"))
    names = [p.name for p in expand_runs(find_inputs(project / "results" / "one").config.data.runs)]
    assert "later.jsonl" not in names
    assert "thin.jsonl" in names


def test_results_of_before_are_read_as_before(project, monkeypatch):
    folder = project / "results" / "one"
    manifest = json.loads((folder / "manifest.json").read_bytes())
    fingerprint = manifest["fingerprint"]
    del manifest["made_in"]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert set(find_inputs(folder).changed.values()) == {GONE}
    monkeypatch.chdir(project)
    assert not find_inputs(folder).changed
    again = nj.run(
        "data/judge.yaml", program=["support"], out="results/one", **{"data.runs": ["data/runs"]}
    )
    assert again.manifest["fingerprint"] == fingerprint


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Judges support of the demo's data, copied beside `out`."""
    shutil.copytree(DEMO, tmp_path / "data")
    monkeypatch.chdir(tmp_path)

    def judged(**settings):
        given = {"runs": "data/runs", "topics": "data/topics.tsv", "program": "support"}
        given |= {"passages": "data/passages.jsonl", "model": "lexical", "out": "out"}
        given |= {name.replace("__", "."): value for name, value in settings.items()}
        return nj.run(**given)

    return judged


def bytes_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


OTHER = {"model": "openai/gpt-4o", "api_base": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": OTHER}, "judges.support.model.model: was lexical, is openai/gpt-4o"),
        ({"support__citations": "all"}, "support.citations: was first, is all"),
        ({"judges__support__titles": False}, "judges.support.titles: was True, is False"),
        ({"explain": True}, "run.explain: was False, is True"),
        ({"limit": 1}, "its topic demo-bees and 3 more of 5 would be lost"),
        ({"runs": "data/runs/thin.jsonl"}, "its run complete and 2 more of 4 would be lost"),
        (
            {"program": "relevance", "candidates": DEMO / "candidates.jsonl"},
            "holds results of support, which this run would remove",
        ),
    ],
)
def test_results_of_another_run_stay_unless_it_is_forced(run, tmp_path, change, reason):
    run()
    before = bytes_of(tmp_path / "out")
    with pytest.raises(InputError) as refused:
        run(**change)
    message = str(refused.value)
    assert reason in message
    assert (message.count("\n"), message.startswith("out: "), "--force" in message) == (0, 1, 1)
    assert "name another --out" in message
    assert bytes_of(tmp_path / "out") == before


def test_forced_it_takes_their_place(run):
    run()
    result = run(runs="data/runs/thin.jsonl", limit=1, force=True)
    assert (result.manifest["data"]["run_ids"], result.manifest["data"]["topics"]) == (["thin"], 1)


def test_the_same_run_goes_on_with_what_changed_and_with_more(run, tmp_path):
    first = run(runs="data/runs/thin.jsonl", limit=1)
    run(runs="data/runs/thin.jsonl", limit=2, concurrency=3, max_calls=9, allow_missing=0.1)
    data = {name: tmp_path / "data" / name for name in ("runs", "topics.tsv", "passages.jsonl")}
    run(runs=str(data["runs"]), topics=data["topics.tsv"], passages=data["passages.jsonl"])
    thin = data["runs"] / "thin.jsonl"
    thin.write_text(thin.read_text(encoding="utf-8").replace("bees", "wasps"), encoding="utf-8")
    shutil.copy(data["topics.tsv"], tmp_path / "same.tsv")
    pool = {"candidates": DEMO / "candidates.jsonl", "qrels": DEMO / "qrels.txt"}
    whole = run(topics="same.tsv", program=["support", "nuggets"], **pool)
    assert whole.manifest["data"]["runs"] == 4
    assert whole.n_judged > first.n_judged


def test_inputs_are_the_same_wherever_the_command_is_given(run, tmp_path, monkeypatch):
    bank = {"program": ["nuggets"], "nuggets": "data/nuggets.jsonl"}
    run(**bank)
    monkeypatch.chdir(tmp_path / "data")
    there = {"runs": "runs", "topics": "topics.tsv", "passages": "passages.jsonl", "out": "../out"}
    run(**bank | there | {"nuggets": "nuggets.jsonl"})
    other = tmp_path / "other.jsonl"
    other.write_text((DEMO / "nuggets.jsonl").read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"data.nuggets: was nuggets.jsonl, is /.*"):
        run(**bank | there | {"nuggets": other})


def test_a_new_or_old_place_in_a_folder_is_fine_and_stays_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text("mine", encoding="utf-8")
    for path in (tmp_path, tmp_path / "a" / "b", type(tmp_path)("old.json"), tmp_path / "old.json"):
        check_writable(path)
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("old.json", "mine")
    ]


def test_a_place_under_a_file_or_with_too_long_a_name_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for name in ("notes.txt/j.json", "notes.txt/a/j.json", "x" * 300):
        with pytest.raises(InputError, match="cannot be written"):
            check_writable(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_others_own_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="is not a writable folder"):
        check_writable(tmp_path / "j.json")


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path):
    (tmp_path / "x.run").mkdir()
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    check_writable_file(tmp_path / "file")
    check_writable_folder(tmp_path / "new" / "folder")
    with pytest.raises(InputError, match=r"x\.run: is a folder, wanted a file"):
        check_writable_file(tmp_path / "x.run")
    with pytest.raises(InputError, match="file: is a file, wanted a folder"):
        check_writable_folder(tmp_path / "file")
