import gzip
import os
import subprocess
import sys

import orjson
import pytest
from json_lines import write_rows

from nuggetjudge.records import Passage, Problems, read_passages
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.corpus import passage_text, stream_passages
from nuggetjudge.retrieval.index_files import IndexInfo, new_index, open_index, read_ids, write_ids


def make(folder, text="first", kind="toy", **settings):
    with new_index(folder, kind, settings) as draft:
        (draft.path / "deep").mkdir()
        (draft.path / "deep" / "data.txt").write_text(text, encoding="utf-8")
        draft.n_passages = len(text)


def text_of(folder):
    open_index(folder, "toy")
    return (folder / "deep" / "data.txt").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "indexes" / "toy"


def test_an_index_says_how_it_was_made_and_leaves_nothing_beside_it(folder):
    make(folder, "first", k1=0.9, names=("a", "b"))
    wanted = IndexInfo(settings={"k1": 0.9, "names": ["a", "b"]}, n_passages=5)
    assert open_index(folder, "toy") == wanted
    assert open_index(folder, "toy", {"names": ("a", "b")}) == wanted
    assert os.listdir(folder.parent) == ["toy"]


def test_an_index_or_an_empty_folder_is_replaced(folder):
    folder.mkdir(parents=True)
    make(folder, "first")
    make(folder, "second")
    assert text_of(folder) == "second"
    assert os.listdir(folder.parent) == ["toy"]


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_index_and_nothing_else(folder, fault):
    make(folder, "first")
    with pytest.raises(fault):
        fail_half_way(folder, fault)
    assert text_of(folder) == "first"
    assert os.listdir(folder.parent) == ["toy"]


def test_a_link_in_the_place_of_the_work_folder_is_not_followed(folder, tmp_path):
    theirs = tmp_path / "theirs"
    (theirs / "new").mkdir(parents=True)
    (theirs / "new" / "mine.txt").write_text("mine", encoding="utf-8")
    folder.parent.mkdir()
    (folder.parent / ".toy.part").symlink_to(theirs)
    with pytest.raises(InputError, match="toy: the index cannot be written"):
        make(folder)
    assert (theirs / "new" / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_a_kill_leaves_the_old_index_and_its_part_goes_with_the_next(folder):
    make(folder, "first")
    kill_a_builder(folder)
    assert (folder.parent / ".toy.part" / "new" / "half").exists()
    assert text_of(folder) == "first"
    make(folder, "second")
    assert text_of(folder) == "second"
    assert os.listdir(folder.parent) == ["toy"]


def test_the_first_index_that_was_killed_is_not_finished(folder):
    kill_a_builder(folder)
    with pytest.raises(InputError) as caught:
        open_index(folder, "toy")
    what = "the index is unfinished; create it with `judge index`"
    assert str(caught.value) == f"{folder}: {what}"


def test_a_kill_between_the_two_moves_of_a_replacement_loses_nothing(folder):
    make(folder, "first")
    part = folder.parent / ".toy.part"
    (part / "new").mkdir(parents=True)
    folder.rename(part / "old")
    assert text_of(folder) == "first"
    assert os.listdir(folder.parent) == ["toy"]


def test_two_cannot_make_the_same_index_at_once(folder):
    with new_index(folder, "toy", {}) as draft:
        draft.n_passages = 1
        with pytest.raises(InputError, match="another process is making this index"):
            make(folder)
    assert open_index(folder, "toy").n_passages == 1


def test_a_folder_that_holds_anything_else_is_never_touched(folder):
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        make(folder)
    what = "holds thesis.tex, which is not part of an index; choose another folder"
    assert str(caught.value) == f"{folder}: {what}"
    assert os.listdir(folder) == ["thesis.tex"]


def test_a_file_that_a_user_put_into_an_index_is_not_deleted(folder):
    make(folder, "first")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds notes\.txt"):
        make(folder, "second")
    assert text_of(folder) == "first"


def test_a_file_in_the_place_of_the_folder_is_refused(folder):
    folder.parent.mkdir()
    folder.write_text("a file", encoding="utf-8")
    with pytest.raises(InputError, match="a file, wanted a folder"):
        make(folder)
    with pytest.raises(InputError, match="not an index of nuggetjudge"):
        open_index(folder, "toy")


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"the index cannot be written \("):
        make(tmp_path / "file" / "toy")


def test_a_full_disk_is_told_and_other_faults_of_the_builder_are_its_own(folder):
    with pytest.raises(InputError, match="cannot be written"), new_index(folder, "toy", {}):
        raise OSError(28, "No space left on device")
    with pytest.raises(ConnectionError), new_index(folder, "toy", {}):
        raise ConnectionError("no network")


def test_no_index_there_says_how_to_make_one(folder):
    with pytest.raises(InputError) as caught:
        open_index(folder, "toy")
    assert str(caught.value) == f"{folder}: there is no index; create it with `judge index`"


def test_another_folder_is_no_index(folder):
    folder.mkdir(parents=True)
    with pytest.raises(InputError, match="not an index of nuggetjudge, or corrupt"):
        open_index(folder, "toy")
    (folder / "index.json").write_text('{"n_passages": 3}', encoding="utf-8")
    with pytest.raises(InputError, match="not an index of nuggetjudge, or corrupt"):
        open_index(folder, "toy")


@pytest.mark.parametrize("text", ["firs", "fiRst"])
def test_a_file_that_is_missing_or_has_changed_makes_it_corrupt(folder, text):
    make(folder, "first")
    path = folder / "deep" / "data.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        open_index(folder, "toy")
    what = "file deep/data.txt has changed; create it again with `judge index`"
    assert str(caught.value) == f"{folder}: corrupt index: {what}"
    path.unlink()
    with pytest.raises(InputError, match=r"file deep/data\.txt is missing; create it again"):
        open_index(folder, "toy")
    make(folder, "second")
    assert text_of(folder) == "second"


@pytest.mark.parametrize("field", ["kind", "settings", "n_passages", "files"])
def test_an_index_that_does_not_say_all_about_itself_is_corrupt(folder, field):
    make(folder)
    about = orjson.loads((folder / "index.json").read_bytes())
    for broken in ({k: v for k, v in about.items() if k != field}, about | {field: None}):
        (folder / "index.json").write_bytes(orjson.dumps(broken))
        with pytest.raises(InputError, match="or corrupt; choose another, or delete it"):
            open_index(folder, "toy")


def test_an_index_of_the_format_before_is_made_again(folder):
    make(folder)
    about = orjson.loads((folder / "index.json").read_bytes())
    before = about | {"nuggetjudge_index": 1, "files": {"deep/data.txt": 5}}
    (folder / "index.json").write_bytes(orjson.dumps(before))
    with pytest.raises(InputError, match="index format 1, wanted 2; create it again"):
        open_index(folder, "toy")
    make(folder, "second")
    assert text_of(folder) == "second"


def test_another_kind_format_or_setting_is_named(folder):
    make(folder, encoder="minilm", k=3)
    with pytest.raises(InputError, match="an index of kind toy, wanted bm25"):
        open_index(folder, "bm25")
    with pytest.raises(InputError, match="made with encoder 'minilm', wanted 'mpnet'"):
        open_index(folder, "toy", {"encoder": "mpnet"})
    with pytest.raises(InputError, match="made with pooling None, wanted 'max'"):
        open_index(folder, "toy", {"pooling": "max"})
    about = orjson.loads((folder / "index.json").read_bytes())
    (folder / "index.json").write_bytes(orjson.dumps(about | {"nuggetjudge_index": 99}))
    with pytest.raises(InputError, match="index format 99, wanted 2; create it again"):
        open_index(folder, "toy")


def test_an_index_of_nothing_is_refused(folder):
    with pytest.raises(ValueError, match="0 passages, wanted 1 or more"):
        make(folder, "")
    assert not folder.exists()


def test_ids_of_any_characters_come_back_in_their_order(tmp_path):
    passage_ids = ["b", "a", "é 日", "two\nlines", '"']
    write_ids(tmp_path, iter(passage_ids))
    assert read_ids(tmp_path) == passage_ids


def fail_half_way(folder, fault):
    with new_index(folder, "toy", {}) as draft:
        (draft.path / "half").write_text("half", encoding="utf-8")
        raise fault


def kill_a_builder(folder):
    """Begin an index in another process and kill it half way."""
    code = (
        "import sys, time; from pathlib import Path;"
        "from nuggetjudge.retrieval.index_files import new_index\n"
        "with new_index(Path(sys.argv[1]), 'toy', {}) as draft:\n"
        "    (draft.path / 'half').write_text('half'); print('begun', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.kill()


@pytest.fixture
def write(tmp_path):
    def write_file(name, *rows):
        path = tmp_path / name
        write_rows(path, rows)
        return path

    return write_file


@pytest.fixture
def problems():
    return Problems()


def test_a_passage_is_found_by_its_title_too():
    assert passage_text(Passage(id="a", text="Low tide.", title="Harbour")) == "Harbour\nLow tide."
    assert passage_text(Passage(id="a", text="Low tide.")) == "Low tide."


def test_files_are_read_one_after_the_other(write, problems, tmp_path):
    one = write("one.jsonl", {"id": "b", "text": "B", "title": "T"}, {"docid": 7, "contents": "S"})
    two = tmp_path / "two.jsonl.gz"
    with gzip.open(two, "wt") as stream:
        stream.write('{"_id": "a", "segment": "A"}\n')
    assert list(stream_passages([one, two], problems)) == [
        Passage(id="b", text="B", title="T"),
        Passage(id="7", text="S"),
        Passage(id="a", text="A"),
    ]
    assert len(problems) == 0


def test_the_passages_and_problems_are_those_of_read_passages(write, problems):
    rows = [{"id": "a", "text": "A"}, {"id": "b", "text": " "}, {"id": "c", "text": "C"}]
    path = write("p.jsonl", *rows, rows[0])
    whole = Problems()
    assert {p.id: p for p in stream_passages([path], problems)} == read_passages(path, whole)
    reported = [(row.line, row.kind, row.action) for row in problems]
    assert reported == [(2, "empty_passage", "skipped"), (4, "duplicate_passage", "kept")]
    assert reported == [(row.line, row.kind, row.action) for row in whole]


def test_a_passage_that_another_file_repeats_is_left_out_and_mentioned(write, problems):
    paths = [write(name, {"id": "a", "text": "A"}) for name in ("one.jsonl", "two.jsonl")]
    assert [passage.id for passage in stream_passages(paths, problems)] == ["a"]
    assert [str(row) for row in problems] == [
        f"{paths[1]}:1: passage 'a' occurs twice with the same text; left out"
    ]


def test_one_id_with_two_texts_ends_the_reading_with_the_line(write, problems):
    path = write("p.jsonl", {"id": "a", "text": "A"}, {"id": "a", "text": "B"})
    with pytest.raises(InputError) as caught:
        list(stream_passages([path], problems))
    what = "passage 'a' has two different texts, wanted one text per id"
    assert str(caught.value) == f"{path}:2: {what}"


@pytest.mark.parametrize("name", ["a b", "a\tb", "a\u00a0b", "a\u0000b", "a\u0085b"])
def test_an_id_that_no_run_can_hold_is_an_error_with_its_line(write, problems, name):
    path = write("p.jsonl", {"id": "a", "text": "A"}, {"id": name, "text": "B"})
    with pytest.raises(InputError) as caught:
        list(stream_passages([path], problems))
    what = "has an id that does not fit into a TREC run, wanted no white space and no control "
    what += "characters"
    assert str(caught.value) == f"{path}:2: passage {name!r} {what}"


def test_a_file_with_errors_is_told_before_the_next_is_read(write, problems, tmp_path):
    path = write("p.jsonl", {"id": "a", "text": "A"}, {"text": "B"})
    with pytest.raises(InputError, match=r"p\.jsonl:2: field 'docid' or"):
        list(stream_passages([path, tmp_path / "missing.jsonl"], problems))


def test_no_passage_at_all_is_an_error(write, problems):
    path = write("p.jsonl", {"id": "a", "text": ""})
    with pytest.raises(InputError, match=r"p\.jsonl: no passage with text"):
        list(stream_passages([path], problems))
    with pytest.raises(InputError, match="no files: no passage"):
        list(stream_passages([], problems))
