"""Judges that go by length, place, rank, name or order alone: effects have that size and sign."""

import json

import pytest
from mock_server import MockServer, input_of

from nuggetjudge.judges.lexical.overlap import content_words
from nuggetjudge.plugins.lab.probe.conditions import (
    CLOSERS,
    FILLERS,
    KNOWN,
    PLAIN,
    padding,
    without_fillers,
)
from nuggetjudge.plugins.lab.probe.probing import Options
from nuggetjudge.plugins.lab.probe.shifts import probing_conditions
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import Problems


def probe(source, judge, *given):
    return probing_conditions(source, [judge], *given).ask()


YES, PART, NO = "support", "partial_support", "not_support"


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def nuggets(tmp_path):
    """Six topics, one run, five nuggets each: an answer of 8 words and a filler."""
    rows = [
        {"topic_id": f"t{t}", "run_id": "mine", "nugget_id": f"n{i}", "question": f"why {t}",
         "answer": f"Rivers carry silt into the delta number {t}. I hope this helps!",
         "nugget": f"fact {i} of {t}"}
        for t in range(6) for i in range(5)
    ]  # fmt: skip
    return write_rows(tmp_path / "nuggets.jsonl", rows)


@pytest.fixture
def claims(tmp_path):
    """Ten cited sentences of five topics."""
    rows = [
        {"topic_id": f"t{i % 5}", "run_id": "mine", "sentence_id": str(i), "passage_id": "p",
         "sentence": f"claim {i}", "passage": "all that is known"}
        for i in range(10)
    ]  # fmt: skip
    return write_rows(tmp_path / "claims.jsonl", rows)


def effects_of(report):
    return {row["effect"]: row for row in report.of("effect")}


def values(row):
    return row["gain"]["value"], row["best"]["value"]


def all_alike(label):
    """Says of each nugget what `label` says of the inputs."""
    return lambda body: {
        "verdicts": dict.fromkeys(input_of(body)["nuggets"], label(input_of(body)))
    }


def test_a_judge_that_rewards_words_is_seen_by_padding_alone(nuggets, config_for):
    def by_length(inputs):
        n = len(inputs["answer"].split())
        return YES if n > 15 else PART if n > 10 else NO

    with MockServer(all_alike(by_length)) as server:
        options = Options(kinds=("length",))
        report = probe(nuggets, "assigner", config_for(server), Problems(), options)
        answers = [input_of(request.body)["answer"] for request in server.requests]
    rows = effects_of(report)
    # 12 words as given (partial), 20 or more padded (full), 8 without the filler (none).
    assert values(rows["length-start"]) == values(rows["length-end"]) == (0.5, 1.0)
    assert values(rows["length-cut"]) == (-0.5, 0.0)
    assert (rows["length-end"]["gain"]["low"], rows["length-end"]["gain"]["high"]) == (0.5, 0.5)
    assert {row["n"] for row in rows.values()} == {30}
    assert {row["n_topics"] for row in rows.values()} == {6}
    given, before, after, cut = (set(answers[6 * i : 6 * i + 6]) for i in range(4))
    assert {len(answers.split()) for answers in given} == {12}
    assert all(text.endswith("I hope this helps!") and len(text.split()) > 15 for text in before)
    assert all(text.startswith("Rivers carry silt") and len(text.split()) > 15 for text in after)
    assert cut == {f"Rivers carry silt into the delta number {t}." for t in range(6)}


def test_the_effect_of_place_is_the_slope_from_first_to_last(nuggets, config_for):
    def falls_with_position(body):
        keys = list(input_of(body)["nuggets"])  # five: the first two full, the third partial
        return {"verdicts": dict(zip(keys, [YES, YES, PART, NO, NO], strict=True))}

    with MockServer(falls_with_position) as server:
        options = Options(kinds=("order",), repeats=40)
        report = probe(nuggets, "assigner", config_for(server), Problems(), options)
    (row,) = report.of("effect")
    # Over equal numbers of each place: slope of 1, 1, .5, 0, 0 on 0, .25, .5, .75, 1.
    positions, gains = [0, 0.25, 0.5, 0.75, 1], [1, 1, 0.5, 0, 0]
    slope = sum((x - 0.5) * y for x, y in zip(positions, gains, strict=True)) / 0.625
    assert slope == -1.2
    assert row["effect"] == "position"
    assert row["gain"]["value"] == pytest.approx(-1.2, abs=0.01)
    assert row["gain"]["low"] < row["gain"]["value"] < row["gain"]["high"] < -1.1
    assert (row["n"], row["n_unjudged"], row["n_topics"]) == (30 * 41, 0, 6)


def test_a_judge_that_goes_by_rank_or_by_name_shows_it(claims, nuggets, config_for):
    def by_rank(body):
        return {"verdict": "full" if input_of(body).get("citation_rank", "1")[0] == "1" else "none"}

    with MockServer(by_rank) as server:
        options = Options(kinds=("citation",))
        report = probe(claims, "support", config_for(server), Problems(), options)
        system = server.requests[-1].body["messages"][0]["content"]
    (row,) = report.of("effect")
    assert values(row) == (-1.0, -1.0)
    assert "- citation_rank: which citation of its sentence the passage is" in system

    def by_name(inputs):
        return {PLAIN: NO, KNOWN: YES}.get(inputs.get("written_by"), PART)

    with MockServer(all_alike(by_name)) as server:
        options = Options(kinds=("name",))
        report = probe(nuggets, "assigner", config_for(server), Problems(), options)
        assert len(server.requests) == 3 * 6
    (row,) = report.of("effect")
    assert values(row) == (1.0, 1.0)
    shifts = {row["condition"]: row["gain"]["value"] for row in report.of("cost")[1:]}
    assert shifts == {"name-plain": -0.5, "name-known": 0.5}


LISTS = """
name: grounded
question: Does the context carry the claim?
inputs: {claim: a statement, context: passages}
labels: [no, yes]
"""


def test_a_judge_that_reads_the_first_passage_alone_moves_when_they_are_reversed(
    tmp_path, config_for
):
    (tmp_path / "own.yaml").write_text(LISTS, encoding="utf-8")
    texts = [["it stands here", "nothing"], ["nothing", "it stands here"], ["nothing"]]
    rows = [
        {"topic_id": f"t{t}", "question_id": f"q{i}", "claim": f"x{t}{i}", "context": text}
        for t in range(4) for i, text in enumerate(texts)
    ]  # fmt: skip
    source = write_rows(tmp_path / "rows.jsonl", rows)

    def first_alone(body):
        return {"label": "yes" if input_of(body)["context"].startswith("it stands") else "no"}

    with MockServer(first_alone) as server:
        options = Options(kinds=("passages",))
        own = str(tmp_path / "own.yaml")
        report = probe(source, own, config_for(server), Problems(), options)
        # What has one passage is not asked about again.
        assert len(server.requests) == 12 + 8
    (row,) = report.of("effect")
    assert (row["n"], row["n_unjudged"], values(row)) == (8, 0, (0.0, 0.0))
    assert report.of("cost")[1]["changed"]["value"] == 1.0
    assert (report.of("cost")[1]["n_judged"], report.of("cost")[1]["n_unjudged"]) == (8, 0)


def test_what_was_not_judged_is_counted_apart_and_in_no_effect(claims, config_for):
    def silent_on_the_later(body):
        inputs = input_of(body)
        if (
            inputs.get("citation_rank", "").startswith("3")
            and inputs["sentence"] in "claim 1claim 2"
        ):
            return "I would rather not."
        return {"verdict": "full"}

    with MockServer(silent_on_the_later) as server:
        settings = {"models.default.reasks": 0}
        options = Options(kinds=("citation",))
        report = probe(claims, "support", config_for(server, **settings), Problems(), options)
    (row,) = report.of("effect")
    assert (row["n"], row["n_unjudged"], values(row)) == (8, 2, (0.0, 0.0))
    assert report.n_unjudged == 2


def test_what_makes_no_sense_for_a_judge_is_skipped_with_the_reason(tmp_path, claims, nuggets):
    lexical, kinds = load_config(None, {}), ("passages", "length", "citation", "name")
    plain = Options(kinds=kinds)
    skipped = {each.name: each.reason for each in probing_conditions(
        claims, ["support"], lexical, Problems(), plain
    ).plan()[1]}  # fmt: skip
    assert set(skipped) == {"passages", "length"}
    assert "reads no answer" in skipped["length"]
    skipped = {
        each.name
        for each in probing_conditions(nuggets, ["assigner"], lexical, Problems(), plain).plan()[1]
    }
    assert skipped == {"passages", "citation"}
    rows = [{"topic_id": "t", "passage_id": "p", "question": "q", "passage": "p"}]
    pool = write_rows(tmp_path / "pool.jsonl", rows)
    skipped = {
        each.name
        for each in probing_conditions(pool, ["relevance"], lexical, Problems(), plain).plan()[1]
    }
    assert skipped == set(kinds)


def test_a_name_that_the_judge_has_for_an_input_of_its_own_is_not_shown(tmp_path):
    own = LISTS.replace("context: passages", "written_by: who")
    (tmp_path / "own.yaml").write_text(
        own + "lexical: {look_for: claim, in: written_by, cuts: [0.5]}\n", encoding="utf-8"
    )
    rows = [{"topic_id": "t", "run_id": "r", "question_id": "q", "claim": "x", "written_by": "y"}]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    options = Options(kinds=("name",))
    judge = str(tmp_path / "own.yaml")
    report = probe(source, judge, load_config(None, {}), Problems(), options)
    assert {(each.name, each.reason) for each in report.skipped} == {
        ("name", "'written_by' is a field of the grounded judge")
    }


def test_padding_shares_no_content_word_with_what_is_looked_for():
    every = padding(10_000, [])
    assert every == " ".join(FILLERS)
    matter = ["a moment of silence", "how to read an argument step by step"]
    filler = padding(10_000, matter)
    assert filler
    assert not content_words(filler) & (content_words(matter[0]) | content_words(matter[1]))
    assert len(padding(8, []).split()) in range(8, 17)
    assert padding(0, []) == padding(50, FILLERS) == ""


def test_only_sentences_known_to_say_nothing_are_taken_out():
    text = "It rained in May.\n\nThe dam held. I hope this helps! Let me know if it rains."
    assert without_fillers(text) == "It rained in May.\n\nThe dam held. Let me know if it rains."
    assert without_fillers("The dam held.") == "The dam held."
    assert without_fillers(CLOSERS[0]) == CLOSERS[0]
