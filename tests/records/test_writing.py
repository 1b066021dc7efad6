"""A new file is whole or an error that names it, and stands where its name says."""

import errno
import gzip
import json
import os
import random
import resource

import pytest

from nuggetjudge.records import (
    InputError,
    Passage,
    Topic,
    natural_order,
    read_nugget_banks,
    read_passages,
    read_topics,
)
from nuggetjudge.records.nuggets import bank_row
from nuggetjudge.records.traces import read_folder_traces
from nuggetjudge.records.writing import Appending, NewFile, own_folder, rename, write_file, writing


def test_what_the_disk_refuses_names_the_place_and_the_reason(tmp_path):
    path = tmp_path / "none" / "j.json"
    with pytest.raises(InputError) as error, writing(path):
        path.write_text("x", encoding="utf-8")
    assert str(error.value) == f"{path}: cannot be written (No such file or directory)"


@pytest.mark.parametrize("target", ["there", "gone"])
def test_a_file_stands_in_the_place_of_a_link_and_not_where_it_points(target, tmp_path):
    other, path = tmp_path / "other", tmp_path / "mine"
    if target == "there":
        other.write_text("theirs", encoding="utf-8")
    path.symlink_to(other)
    write_file(path, "mine")
    assert (path.is_symlink(), path.read_text(encoding="utf-8")) == (False, "mine")
    assert not other.exists() or other.read_text(encoding="utf-8") == "theirs"


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_full_device_is_named_when_it_is_written_and_when_it_is_closed(size, tmp_path):
    file = NewFile(tmp_path / "rows.jsonl")
    full = open("/dev/full", "wb")  # noqa: SIM115
    os.dup2(full.fileno(), file._stream.fileno())
    full.close()
    with pytest.raises(InputError) as error, file:
        file.write(b"x" * size)
    what = os.strerror(errno.ENOSPC)
    assert str(error.value) == f"{tmp_path / 'rows.jsonl'}: cannot be written ({what})"


def test_a_name_that_cannot_be_given_is_named(tmp_path):
    (tmp_path / "a").write_text("", encoding="utf-8")
    (tmp_path / "b").mkdir()
    with pytest.raises(InputError, match="b: cannot be written"):
        rename(tmp_path / "a", tmp_path / "b")


def test_a_folder_of_ours_is_no_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "journal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="journal: is a link, and links are not followed"):
        own_folder(tmp_path / "journal")
    assert own_folder(tmp_path / "a" / "b").is_dir()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal" / "lines.jsonl"


@pytest.fixture
def room():
    """`room(100)`: no file of this process grows beyond 100 bytes; None: any may."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size):
        most = before[0] if size is None else size
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))

    yield limit
    limit(None)


@pytest.mark.parametrize("size", [15, 16, 20, 24])
def test_half_a_line_of_a_full_disk_is_gone_before_the_next_is_written(size, path, room):
    file = Appending(path, 0)
    file.write(b"first line 1234\n")
    room(size)
    with pytest.raises(InputError) as error:
        file.write(b"second\n" * 3)
    assert str(error.value) == f"{path}: cannot be written (File too large)"
    assert path.read_bytes() == b"first line 1234\n"
    room(None)
    file.write(b"third\n")
    file.close()
    assert path.read_bytes() == b"first line 1234\nthird\n"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_what_could_not_be_cut_off_at_once_is_cut_off_before_the_next_line(code, path, monkeypatch):
    def half(file, data):
        monkeypatch.setattr(os, "write", lambda file, data: fail())
        return write(file, bytes(data)[:3])

    def fail(*_):
        raise OSError(code, os.strerror(code))

    write, cut = os.write, os.ftruncate
    file = Appending(path, 0)
    monkeypatch.setattr(os, "write", half)
    monkeypatch.setattr(os, "ftruncate", fail)
    with pytest.raises(InputError, match=os.strerror(code)):
        file.write(b"torn line\n")
    assert path.read_bytes() == b"tor"
    monkeypatch.setattr(os, "write", write)
    with pytest.raises(InputError, match=os.strerror(code)):
        file.write(b"glued to it\n")
    monkeypatch.setattr(os, "ftruncate", cut)
    file.write(b"whole\n")
    file.close()
    assert path.read_bytes() == b"whole\n"


def test_a_write_that_the_system_takes_in_parts_is_whole(path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, bytes(data)[:2]))
    file = Appending(path, 0)
    file.write(bytearray(b"a long line\n"))
    file.close()
    assert path.read_bytes() == b"a long line\n"


def test_what_stands_behind_the_end_goes(path):
    path.parent.mkdir()
    path.write_bytes(b"whole\nto")
    file = Appending(path, 6)
    file.write(b"next\n")
    file.close()
    assert path.read_bytes() == b"whole\nnext\n"


@pytest.mark.parametrize("linked", ["lines.jsonl", "."])
def test_no_link_is_followed(linked, path, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "lines.jsonl").write_bytes(b"theirs\n")
    if linked == ".":
        path.parent.symlink_to(other)
    else:
        path.parent.mkdir()
        path.symlink_to(other / "lines.jsonl")
    with pytest.raises(InputError, match="link"):
        Appending(path, 0)
    assert (other / "lines.jsonl").read_bytes() == b"theirs\n"


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("2031-77\twhy do bridges sway", Topic(id="2031-77", text="why do bridges sway")),
        ({"id": 12, "title": "tidal power"}, Topic(id="12", text="tidal power")),
        ({"id": "12", "narrative": "How it works."}, Topic(id="12", text="How it works.")),
        (
            {
                "request_id": "leaf",
                "title": "why leaves fall",
                "problem_statement": "Explain to a child.",
                "background": "Parent of two.",
                "limit": 2000,
            },
            Topic(
                id="leaf", text="why leaves fall: Explain to a child.", background="Parent of two."
            ),
        ),
        ({"id": "news-3", "request": "Report on it."}, Topic(id="news-3", text="Report on it.")),
        ({"example_id": "d1", "topic": "Floods"}, Topic(id="d1", text="Floods")),
        (
            {"id": "7", "title": "Why?", "domain": " health ", "category": "cause"},
            Topic(id="7", text="Why?", domain="health", category="cause"),
        ),
        ({"id": "7", "title": "Why?", "domain": None}, Topic(id="7", text="Why?")),
    ],
)
def test_every_layout_gives_the_topic(line, topic, write, problems):
    assert read_topics(write(line), problems) == {topic.id: topic}
    assert len(problems) == 0


def test_gzip_is_told_by_its_suffix(tmp_path, problems):
    path = tmp_path / "topics.tsv.gz"
    path.write_bytes(gzip.compress(b"1\tone\n\n2\ttwo\n"))
    assert [topic.text for topic in read_topics(path, problems).values()] == ["one", "two"]


def test_bad_lines_are_all_reported_with_their_place(write, problems, kinds):
    path = write("1\tone", "no tab here", "2\t", "1\tother", "1\tone", "3\ta\tb", name="t.tsv")
    assert list(read_topics(path, problems)) == ["1", "3"]
    assert kinds() == [
        (2, "bad_topic", "error"),
        (3, "bad_topic", "error"),
        (6, "extra_column", "kept"),
        (4, "duplicate_topic", "error"),
        (5, "duplicate_topic", "kept"),
    ]
    with pytest.raises(
        InputError, match=r"t\.tsv:2: 'no tab here' is not a topic; wanted id, one tab"
    ):
        problems.raise_errors()


def test_a_record_without_id_or_with_a_text_of_another_type_is_an_error(write, problems, kinds):
    assert read_topics(write({"title": "x"}, {"id": 1, "title": ["x"]}), problems) == {}
    assert kinds() == [
        (1, "missing_field", "error"),
        (2, "bad_field", "error"),
        (1, "empty_file", "error"),
    ]


def test_a_domain_or_category_that_is_no_text_is_not_used_and_listed(write, problems, kinds):
    row = {"id": "7", "title": "Why?", "domain": ["health"], "category": 3}
    assert read_topics(write(row), problems) == {"7": Topic(id="7", text="Why?")}
    assert kinds() == [(1, "bad_group", "kept")] * 2
    assert str(problems.rows[0]).endswith("domain is ['health'], wanted text; ignored")


def test_a_topic_again_with_another_category_is_an_error(write, problems, kinds):
    rows = [{"id": "7", "title": "Why?", "category": category} for category in ("a", "b")]
    read_topics(write(*rows), problems)
    assert kinds() == [(2, "duplicate_topic", "error")]
    assert "two different versions of its background, domain or category" in str(problems.rows[0])


def test_an_empty_file_has_no_topics_and_is_an_error(write, problems):
    read_topics(write(), problems)
    with pytest.raises(InputError, match="no topics"):
        problems.raise_errors()


@pytest.mark.parametrize("id_field", ["docid", "id", "_id", "docno"])
@pytest.mark.parametrize("text_field", ["text", "contents", "segment"])
def test_every_spelling_of_the_fields_is_read(id_field, text_field, write, problems):
    path = write({id_field: 7, text_field: "Tide.", "title": "T", "url": "u"})
    assert read_passages(path, problems) == {"7": Passage(id="7", text="Tide.", title="T")}


def test_only_wanted_passages_are_loaded_and_checked(write, problems):
    path = write({"id": "a", "text": "A"}, {"id": "b", "text": ""}, {"id": "c", "text": "C"})
    assert list(read_passages(path, problems, wanted={"c"})) == ["c"]
    assert len(problems) == 0


def test_one_id_with_two_texts_is_an_error_and_with_one_text_is_mentioned(write, problems, kinds):
    rows = [{"id": "a", "text": text} for text in ("A", "A", "B")]
    assert read_passages(write(*rows), problems)["a"].text == "A"
    assert kinds() == [(2, "duplicate_passage", "kept"), (3, "duplicate_passage", "error")]


def test_a_passage_without_text_is_skipped_and_listed(write, problems, kinds):
    path = write({"id": "a", "text": " "}, '{"id": "b", "text": NaN}', {"id": "c"}, {"text": "x"})
    assert read_passages(path, problems) == {}
    assert kinds() == [
        (1, "empty_passage", "skipped"),
        (2, "empty_passage", "skipped"),
        (3, "missing_field", "error"),
        (4, "missing_field", "error"),
    ]


def test_digits_in_passage_ids_are_compared_as_numbers():
    ids = ["t9:0#0", "t10:0#0", "t:0#0", "t:2#9", "t:2#10", "t:10#1", "t:10#2", "u"]
    shuffled = random.Random(0).sample(ids, len(ids))
    assert sorted(shuffled, key=natural_order) == ids


def test_the_natural_order_of_plain_numbers_is_theirs():
    numbers = [*map(str, range(25)), "099", "100", "1" + "0" * 5000]  # longer than int() takes
    assert sorted(sorted(numbers), key=natural_order) == numbers


TOPIC = {"id": "12", "narrative": "How does tidal power work and what does it cost?"}


@pytest.mark.parametrize("field", ["sub_narratives", "subnarratives", "sub-narratives"])
@pytest.mark.parametrize("key", [None, "text", "sub_narrative"])
def test_a_topic_keeps_the_parts_of_its_narrative(write, problems, field, key):
    parts = ["how it works", "what it costs"]
    listed = parts if key is None else [{key: part, "importance": "vital"} for part in parts]
    topics = read_topics(write({**TOPIC, field: listed}), problems)
    assert topics["12"].sub_narratives == ("how it works", "what it costs")
    assert topics["12"].text == TOPIC["narrative"]
    assert len(problems) == 0


def test_what_is_no_text_or_there_twice_is_listed_and_not_used(write, problems, kinds):
    topics = read_topics(write({**TOPIC, "sub_narratives": ["a", 7, "a", " "]}), problems)
    assert topics["12"].sub_narratives == ("a",)
    assert kinds() == [(1, "bad_sub_narratives", "kept")] * 3


def test_one_topic_with_two_lists_is_an_error(write, problems, kinds):
    rows = [{**TOPIC, "sub_narratives": names} for names in (["a"], ["b"])]
    read_topics(write(*rows), problems)
    assert kinds() == [(2, "duplicate_topic", "error")]
    assert "two different versions of its list of sub-narratives" in str(problems.rows[0])


def test_the_quotation_marks_of_rag25_nuggets_are_no_part_of_the_name(write, problems):
    nuggets = [
        {"text": "tides turn turbines", "mapped_sub_narrative": '"How it works"'},
        {"text": "it costs more", "mapped_sub_narrative": "What it costs"},
        {"text": "fish swim"},
    ]
    row = {"qid": "12", "query": "q", "nuggets": [{**n, "importance": "vital"} for n in nuggets]}
    bank = read_nugget_banks(write(row), problems)["12"]
    assert [n.sub_narrative for n in bank.nuggets] == ["How it works", "What it costs", ""]
    written = bank_row(bank)["nuggets"]
    assert [n.get("mapped_sub_narrative") for n in written] == [
        "How it works", "What it costs", None,
    ]  # fmt: skip
    assert read_nugget_banks(write(json.loads(json.dumps(bank_row(bank)))), problems)["12"] == bank


def test_the_released_nuggets_have_the_sub_narratives_of_their_readme(shared_data, problems):
    banks = read_nugget_banks(shared_data / "rag25_nuggets" / "nuggets_nist.jsonl", problems)
    nuggets = [nugget for bank in banks.values() for nugget in bank.nuggets]
    assert (len(banks), len(nuggets)) == (13, 760)
    assert all(n.sub_narrative and n.sub_narrative[0] not in "\"'" for n in nuggets)


# trace.jsonl: a broken file is named, never read as fewer steps.
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"path": "0.1", "agent": None}, "before its first"),
        ({"item": "t1"}, "an object of ids"),
        ({"path": "0.x"}, "wanted a path such as"),
        ({}, "do not end"),
        ({"kind": None}, "'kind' is missing"),
        ({"agent": None}, "'agent' is missing"),
        ({"tokens": [1, "2"]}, "two whole numbers"),
    ],
)
def test_a_broken_trace_is_named_by_file_and_line(tmp_path, change, says):
    row = {"stage": "s", "item": {"t": "1"}, "agent": "a", "path": "0", "kind": "agent"}
    row |= {"name": "finder", **change}
    row = {name: value for name, value in row.items() if value is not None}
    end = {**row, "path": "0.0", "kind": "end"} if change.keys() == {"agent"} else row
    rows = dict.fromkeys(map(json.dumps, (row, end)))
    (tmp_path / "trace.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    with pytest.raises(InputError, match=rf"trace\.jsonl:1: .*{says}"):
        list(read_folder_traces(tmp_path))
