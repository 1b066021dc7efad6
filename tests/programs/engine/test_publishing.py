"""Publishing: files of one run under their names, the manifest last, and none of another run."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from nuggetjudge.programs.engine.results import Results
from nuggetjudge.records.judgements import Judged, Provenance, Reason, Unjudged
from nuggetjudge.records.reading.problems import InputError, Problems

NAMES = ("labels.jsonl", "made.jsonl")


def publish(folder, text, names=NAMES):
    with Results(folder, NAMES) as results:
        for name in names:
            with results.open(name) as rows:
                rows.write({"text": text})
        results.publish({"run": text})


def files(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_files_get_their_names_all_at_once(tmp_path):
    with Results(tmp_path, NAMES) as results:
        with results.open("labels.jsonl") as rows:
            rows.write({"text": "a"})
        assert set(files(tmp_path)) == {"labels.jsonl.part", "unjudged.jsonl.part"}
        results.publish({"run": "a"})
    assert set(files(tmp_path)) == {"labels.jsonl", "unjudged.jsonl", "manifest.json"}
    manifest = json.loads(files(tmp_path)["manifest.json"])
    digests = manifest.pop("files")
    assert manifest == {"run": "a"}
    assert digests.keys() == {"labels.jsonl", "unjudged.jsonl"}
    assert digests["labels.jsonl"] == sha256(b'{"text":"a"}\n').hexdigest()


def test_what_an_earlier_run_wrote_and_this_one_did_not_goes(tmp_path):
    publish(tmp_path, "old")
    (tmp_path / "notes.txt").write_text("mine")
    publish(tmp_path, "new", names=["made.jsonl"])
    assert set(files(tmp_path)) == {
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
    assert "manifest.json" not in files(tmp_path)  # neither the old nor the new one
    assert not list(tmp_path.glob("*.part"))
    monkeypatch.undo()
    publish(tmp_path, "again")
    assert {json.loads(t).get("text", "again") for t in files(tmp_path).values() if t} == {"again"}


def test_a_run_that_fails_leaves_the_one_before_and_no_parts(tmp_path):
    publish(tmp_path, "old")
    before = files(tmp_path)
    with pytest.raises(TypeError, match="not JSON serializable"):
        publish(tmp_path, object())
    assert files(tmp_path) == before


@pytest.mark.parametrize("name", [*NAMES, "scores.jsonl", "manifest.json.part"])
def test_files_that_no_run_wrote_are_not_replaced(tmp_path, name):
    (tmp_path / name).write_text("mine")
    if name.endswith(".part"):
        publish(tmp_path, "new")
        return
    with pytest.raises(InputError, match=f"has a {name} that no run wrote"):
        publish(tmp_path, "new")
    assert files(tmp_path) == {name: "mine"}


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
    assert json.loads(files(folder)["labels.jsonl"]) == {"text": "new"}


@pytest.mark.parametrize("name", ["journal", "journal/lock"])
def test_a_journal_is_no_link(name, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (tmp_path / "out" / name).parent.mkdir(parents=True)
    (tmp_path / "out" / name).symlink_to(theirs if name == "journal" else theirs / "lock")
    with pytest.raises(InputError, match=f"{name}: is a link, which is not followed"):
        publish(tmp_path / "out", "new")
    assert list(theirs.iterdir()) == []


def test_outcomes_are_counted_by_what_they_stand_for_and_the_missing_listed(tmp_path):
    call = Provenance(model="m", prompt_tokens=5)
    with Results(tmp_path, NAMES) as results:
        results.judged("a", {"topic_id": "t"}, Judged({}, (call, call)), n=3)
        results.judged("a", {"topic_id": "u"}, Unjudged(Reason.REFUSED, "no", "raw"), n=2)
        results.judged("b", {"topic_id": "u"}, Unjudged(Reason.BUDGET, ""))
        assert (results.n_judged["a"], results.n_unjudged["a"]) == (3, 2)
        assert results.tokens["prompt"] == 10
        assert results.reasons == {"refused": 2, "budget": 1}
        assert results.missing == {"u": ("a", Reason.REFUSED)}
        assert results.share_missing == 3 / 6
        results.list_problems(Problems())
        results.publish({})
    first, second = map(json.loads, files(tmp_path)["unjudged.jsonl"].splitlines())
    assert first == {
        "stage": "a", "topic_id": "u", "n": 2, "reason": "refused", "detail": "no", "raw": "raw",
    }  # fmt: skip
    assert second["stage"] == "b"


def test_of_what_was_not_made_the_largest_share_is_missing_with_all_its_judgements(tmp_path):
    with Results(tmp_path, NAMES) as results:
        results.judged("a", {"topic_id": "t"}, Judged({}), n=98)
        results.not_made("answers", [({"topic_id": "u", "run_id": "a"}, Reason.ERROR)], 3)
        results.not_made("rankings", [({"topic_id": "u"}, Reason.ERROR)], 9)
        assert results.n_unjudged == {"answers": 1, "rankings": 1}
        assert results.share_missing == 1 / 4  # of the answers, and not 2 of 100
