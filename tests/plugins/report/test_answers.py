"""Facts and runs, and answers with their texts: what stands in the page is what was judged."""

import base64
import gzip
import json
import random
import re
import shutil
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_lines import write_rows
from packed_columns import values_of
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.plugins import report
from nuggetjudge.plugins.report.answers import make_matrix
from nuggetjudge.plugins.report.packing import Column, Texts, bits_for, pack, unpack
from nuggetjudge.plugins.report.page import bundle, island, write_packed_island, write_report
from nuggetjudge.plugins.report.source import Source
from nuggetjudge.plugins.report.texts import (
    CutTexts,
    Wanted,
    in_answer,
    in_text,
    pack_json,
    pack_texts,
    topic_json,
)
from nuggetjudge.records.judgements import make_quote, make_unfound_quote, text_hash
from nuggetjudge.records.reading.problems import InputError, Problems

WEB = Path(report.__file__).parent / "web"
HOSTILE = "</script><script>x()</script><!-- \u2028\u202e\x00 \U0001f30a"
MOON, SUN = "The moon pulls the sea.", "The sun adds to it."


def judged(folder, texts, nuggets=(MOON, SUN), topics=("t",)):
    """Results of a lexical judge over answers of runs, with the same sentences for any topic."""
    folder.mkdir()
    runs = [
        write_rows(
            folder / f"{run}.jsonl",
            [
                {"run_id": run, "topic_id": topic, "references": ["p"]}
                | {"answer": [{"text": text, "citations": [0]} for text in sentences]}
                for topic in topics
            ],
        )
        for run, sentences in texts.items()
    ]
    nj.run(
        program=["nuggets", "support"],
        topics=write_rows(
            folder / "topics.jsonl", [{"id": t, "text": "Why tides?"} for t in topics]
        ),
        runs=[str(run) for run in runs],
        passages=write_rows(
            folder / "passages.jsonl", [{"docid": "p", "text": MOON, "title": HOSTILE}]
        ),
        nuggets=write_rows(
            folder / "nuggets.jsonl",
            [
                {"qid": t, "query": "Why tides?"}
                | {"nuggets": [{"text": text, "importance": "vital"} for text in nuggets]}
                for t in topics
            ],
        ),
        out=folder / "out",
    )
    return folder / "out"


@pytest.fixture(scope="module")
def tides(tmp_path_factory):
    """Two runs on one topic: one states the moon's nugget, the other neither."""
    folder = tmp_path_factory.mktemp("tides") / "in"
    return judged(folder, {"one": [MOON, f"Odd: {HOSTILE}"], "two": ["Lakes are still."]})


def source(*folders, **options):
    return Source(folders, Problems(), **options)


def written(folder, out, wanted=None, **options):
    given = source(folder, **options)
    write_report(given, out, wanted or Wanted())
    page = out.read_text(encoding="utf-8")
    return page, [row for row in given.problems if row.kind == "texts_left_out"]


def index(page):
    return json.loads(re.search(r'id="texts">(.*?)</script>', page, re.S)[1])


def opened(page, number=0):
    packed = re.search(rf'id="texts-{number}">([A-Za-z0-9+/=]*)</script>', page)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def in_node(name, call):
    """What a script of the page gives, in a JavaScript engine."""
    if (node := shutil.which("node")) is None:
        pytest.skip("there is no node to run the page's scripts")
    script = bundle([(name, WEB / f"{name}.js")])
    script += f"\nconsole.log(JSON.stringify({call}));\n}})();"
    ran = subprocess.run([node, "-e", script], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@given(st.integers(1, 8).flatmap(lambda bits: st.tuples(
    st.just(bits), st.lists(st.integers(0, 2**bits - 1), max_size=60))))  # fmt: skip
def test_labels_come_out_as_they_were_packed(packed):
    bits, codes = packed
    assert unpack(pack(codes, bits), bits, len(codes)) == codes


def test_the_page_unpacks_what_was_packed():
    for bits in (1, 2, 3, 7):
        codes = [(7 * i + i // 3) % 2**bits for i in range(50)]
        indices, text = list(range(50)), pack(codes, bits)
        assert in_node("data", f"{indices}.map(modules.data.unpacked({text!r}, {bits}))") == codes


def test_a_code_that_does_not_fit_is_refused_rather_than_cut():
    assert bits_for(4) == 2
    with pytest.raises(ValueError, match="4 does not fit into 2 bits"):
        pack([1, 4], 2)


def test_270_000_labels_take_less_than_100_kB():
    assert len(pack(bytes(270_000), bits_for(4))) == 90_000


def test_the_matrix_has_each_label_of_each_run(tides):
    section = make_matrix(source(tides))
    nuggets, support = section["matrices"]
    [topic] = nuggets["topics"]
    assert [text for _, text, _ in topic["items"]] == [MOON, SUN]
    labels = [nuggets["codes"][code] for code in unpack(nuggets["cells"], nuggets["bits"], 4)]
    rows = [
        json.loads(line) for line in (tides / "assignments.jsonl").read_text().strip().split("\n")
    ]
    by_run = {row["run_id"]: [n["assignment"] for n in row["nuggets"]] for row in rows}
    assert nuggets["runs"] == ["one", "two"]
    assert labels == [by_run[run][n] for n in (0, 1) for run in ("one", "two")]
    assert labels[:2] == ["support", "not_support"]
    assert support["topics"][0]["lengths"] == [2, 1]
    assert support["codes"][unpack(support["cells"], support["bits"], 1)[0]] == "full"


def test_a_run_without_an_answer_is_not_one_that_states_nothing(tides, tmp_path):
    """Not judged, not answered and not stated are three things."""
    forget_digests(shutil.copytree(tides, tmp_path / "out"))
    path = tmp_path / "out" / "assignments.jsonl"
    first, second = (json.loads(line) for line in path.read_text().strip().split("\n"))
    first["nuggets"][0]["assignment"] = None
    other = {**second, "qid": "u"}
    write_rows(path, [first, other])
    nuggets = make_matrix(source(tmp_path / "out"))["matrices"][0]
    assert [topic["absent"] for topic in nuggets["topics"]] == [[1], [0]]
    assert unpack(nuggets["cells"], nuggets["bits"], 1) == [nuggets["codes"].index("unjudged")]


def test_quotes_go_to_the_sentences_they_stand_in_by_code_points():
    sentences = ["\U0001f30a A wave.", "", "Then none."]
    text = " ".join(one for one in sentences if one)
    whole = make_quote("answer", text, 4, 13)
    assert [sentences[n][a:b] for n, a, b in in_answer(whole, sentences)] == ["wave.", "The"]
    assert in_answer(make_unfound_quote("answer", "wave."), sentences) == []
    moved = make_quote("answer", "A wave", 0, 6)  # of another text: searched for
    assert in_answer(moved, sentences) == [(0, 2, 8)]
    assert in_text(make_quote("passage", "old words", 0, 3), "nothing here") is None


def test_the_page_counts_shared_words_by_code_points():
    call = 'modules.el.sharedWords("\U0001f30a\U0001f30a tides of spring", "Spring TIDES")'
    assert [(m["start"], m["end"]) for m in in_node("el", call)] == [(3, 8), (12, 18)]


def test_texts_of_a_topic_are_packed_whole_and_nothing_in_them_ends_their_element(tides, tmp_path):
    page, left = written(tides, tmp_path / "r.html")
    assert HOSTILE not in page
    assert not left
    assert index(page) == {"topics": {"t": [0]}, "left": {"answers": 2}}
    texts = opened(page)
    assert [text for text, _ in texts["answers"]["one"]["sentences"]] == [MOON, f"Odd: {HOSTILE}"]
    assert texts["passages"]["p"] == [HOSTILE, MOON]
    moon = next(one for one in texts["answers"]["one"]["judged"] if one["program"] == "nuggets")
    [[of, quote, spans, _, is_quoted]] = moon["evidence"]
    assert (of, is_quoted) == ("answer", True)
    assert [MOON[start:end] for at, start, end in spans if at == 0] == [quote]
    assert page.index("modules.page.start") < page.index('id="texts-0"')  # drawn before they come


def test_half_a_surrogate_pair_stays_what_it_was():
    """UTF-8 cannot hold it, and one in any text would leave no report at all."""
    half = {"text": "wave \ud83c"}
    assert json.loads(gzip.decompress(base64.b64decode(pack_json(half)))) == half
    assert json.loads(re.search(r">(.*)</script>", island("x", half))[1]) == half


def test_what_there_is_no_room_for_is_cut_to_evidence_then_left_out_and_counted(tides, tmp_path):
    page, left = written(tides, tmp_path / "r.html", Wanted(max_mb=0))
    assert index(page) == {"topics": {}, "left": {"answers": 2, "none": 2}}
    assert 'id="texts-0"' not in page
    assert "2 are left out" in str(left[0])
    whole, _ = written(tides, tmp_path / "r.html")
    size = len(re.search(r'id="texts-0">([^<]*)<', whole)[1])
    page, left = written(tides, tmp_path / "r.html", Wanted(max_mb=(size - 1) / 1e6))
    assert index(page)["left"] == {"answers": 2, "evidence": 2}
    assert opened(page)["passages"] == {}
    assert "2 are cut to their evidence" in str(left[0])


def test_texts_that_nobody_wants_are_not_read_and_not_complained_about(tides, tmp_path):
    page, left = written(tides, tmp_path / "r.html", Wanted("none"))
    assert index(page)["topics"] == {}
    assert not left
    page, left = written(tides, tmp_path / "r.html", Wanted("evidence"))
    assert index(page)["left"] == {"answers": 2, "evidence": 2}
    assert not left


def test_evidence_keeps_the_sentences_that_judgements_are_about(tides):
    from nuggetjudge.programs.analysis.answers.views import AnswerView, Judged, Sentence

    sentences = (Sentence(MOON, ("p",)), Sentence("Nobody asked about this."))
    one = Judged("support", "citation", "0 p", MOON, "full", sentence=0, docid="p", passage=MOON)
    answer = AnswerView("one", "t", "Why tides?", sentences, (one,), 9)
    texts = topic_json([answer], str, is_whole=False)
    assert texts["answers"]["one"]["sentences"] == [[MOON, ["p"]], [None, []]]
    assert texts["passages"] == {}


def test_half_a_report_does_not_stay_where_labels_are_of_something_else(tides, tmp_path):
    labels = write_rows(
        tmp_path / "labels.jsonl",
        [{"topic_id": "t", "key_point_id": "k", "run_id": "one", "label": "yes"}],
    )
    with pytest.raises(InputError):
        written(tides, tmp_path / "r.html", labels=[labels])
    assert not list(tmp_path.glob("r.html*"))


def test_memory_does_not_grow_with_the_number_of_topics(tides, tmp_path):
    """The texts of one topic are held, and not those of all."""
    manifest = json.loads((tides / "manifest.json").read_text())
    row = json.loads((tides / "assignments.jsonl").read_text().split("\n")[0])
    manifest["config"]["data"]["runs"] = []  # texts are those of the assignments
    manifest["config"]["program"] = ["nuggets"]
    del manifest["files"]
    peaks = []
    for n in (2, 40):
        folder = tmp_path / str(n)
        forget_digests(shutil.copytree(tides, folder))
        topics = [f"t{i}" for i in range(n)]
        manifest["data"]["topic_ids"] = topics
        write_rows(folder / "manifest.json", [manifest])
        texts = [f"{topic} {random.Random(topic).randbytes(20_000).hex()}" for topic in topics]
        write_rows(
            folder / "assignments.jsonl",
            [{**row, "qid": t, "answer_text": x} for t, x in zip(topics, texts, strict=True)],
        )
        given = source(folder)
        given.scores  # noqa: B018
        tracemalloc.start()
        packed = pack_texts(given, Wanted(), CutTexts())
        sizes = []
        for one in packed:
            sizes.append(len(one.packed))
            text_hash.cache_clear()  # which holds the last 4,096 texts
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(sizes) == n
        assert min(sizes) > 20_000
    assert peaks[1] < peaks[0] + 10 * 40_000  # of 38 more texts of 40,000 characters


# Long lists for a page: columns of codes, and texts as far as they fit.
@pytest.mark.parametrize(("n", "size"), [(256, 1), (257, 2), (65_537, 4)])
def test_every_value_comes_back_however_many_there_are(n, size):
    values = [f"x{i}" for i in range(n)] + [None, "x0"]
    packed = Column(values).pack()
    assert values_of(packed) == values
    assert packed["bytes"] == (size if n != 256 else 2)  # None is a value too


def test_codes_are_in_the_order_of_the_values_so_that_a_page_sorts_by_them():
    assert Column(["t10", None, "t9", "t10"]).pack()["values"] == ["t9", "t10", None]
    assert Column([0.5, 2, None, 0.25]).pack()["values"] == [0.25, 0.5, 2, None]
    assert Column([]).pack()["values"] == []


def test_texts_that_do_not_fit_are_left_out_and_counted():
    rows = [{"short": "ab", "long": "c" * 9}, {"short": "ab", "long": "c" * 9}, {"long": "d"}]
    texts = Texts(["short", "long", "none"], most=4)
    for row in rows:
        texts.add(row)
    columns, n_left = texts.pack()
    assert n_left == 2
    assert values_of(columns["short"]) == ["ab", "ab", None]  # one text, however many have it
    assert values_of(columns["long"]) == [None, None, "d"]
    assert set(columns) == {"short", "long"}


def test_texts_of_the_first_name_are_kept_where_both_would_fit_alone():
    texts = Texts(["nugget", "answer"], most=5)
    for row in ({"answer": "aaa", "nugget": "n"}, {"answer": "bb", "nugget": "mm"}) * 2:
        texts.add(row)
    columns, n_left = texts.pack()
    assert values_of(columns["nugget"]) == ["n", "mm"] * 2
    assert values_of(columns["answer"]) == [None, "bb"] * 2
    assert n_left == 2  # the rows that have it


# The file of a report: what is large in it is packed, and comes back as it was.
@pytest.mark.parametrize(("n", "kind"), [(10, "application/json"), (10_000, "application/gzip")])
def test_data_of_any_size_comes_back_and_cannot_end_its_element(n, kind):
    given = {"texts": [f"</script><b>{i}\u2028" for i in range(n)]}
    text = write_packed_island("data-x", given)
    match = re.fullmatch(r'<script type="([\w/]+)" id="data-x">([^<]*)</script>\n', text)
    assert match is not None
    assert match[1] == kind
    body = match[2]
    if kind.endswith("gzip"):
        body = gzip.decompress(base64.b64decode(body)).decode()
        assert len(text) < len(body) / 2
    assert json.loads(body) == given
