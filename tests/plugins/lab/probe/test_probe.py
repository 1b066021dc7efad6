"""Judges with a known bias: the probe sees it, and puts its size to the hand count."""

import itertools
import json
import re

import pytest
from json_lines import write_rows
from mock_server import MockServer, Supports, input_of

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
from nuggetjudge.records.reading.problems import InputError, Problems


def probe(source, judge, *given):
    return probing_conditions(source, [judge], *given).ask()


YES, PART, NO = "support", "partial_support", "not_support"
N_NUGGETS = 10


@pytest.fixture
def nuggets(tmp_path):
    """Two runs, two topics: four answers of ten nuggets each."""
    rows = [
        {"topic_id": topic, "run_id": run, "nugget_id": f"n{i}", "question": f"why {topic}",
         "answer": f"{run} on {topic}", "nugget": f"fact {i} of {topic}"}
        for run in ("a", "b") for topic in ("t1", "t2") for i in range(N_NUGGETS)
    ]  # fmt: skip
    return write_rows(tmp_path / "nuggets.jsonl", rows)


@pytest.fixture
def claims(tmp_path):
    """Ten cited sentences of two topics and two runs."""
    rows = [
        {"topic_id": f"t{i % 2}", "run_id": f"run{i // 5}", "sentence_id": str(i),
         "passage_id": "p", "sentence": f"claim {i}", "passage": "all that is known"}
        for i in range(10)
    ]  # fmt: skip
    return write_rows(tmp_path / "claims.jsonl", rows)


def rows_by_name(report):
    return {row["condition"]: row for row in report.of("cost")}


def lenient_with_the_first(body):
    """Finds the first nugget of every call, and no other."""
    keys = list(input_of(body)["nuggets"])
    return {"verdicts": {key: YES if key == keys[0] else NO for key in keys}}


def test_position_bias_is_seen_in_batches_and_orders(nuggets, config_for):
    with MockServer(lenient_with_the_first) as server:
        options = Options(kinds=("batch", "order"))
        report = probe(nuggets, "assigner", config_for(server), Problems(), options)
        firsts = [input_of(request.body)["nuggets"]["1"] for request in server.requests]
        answers = [input_of(request.body)["answer"] for request in server.requests]
    rows = rows_by_name(report)
    assert rows["base"]["labels"] == {NO: 36, PART: 0, YES: 4}
    # One by one all 40 are first, by fives 8: the four of the base and four more.
    alone, fives = rows["batch-1"], rows["batch-5"]
    assert (alone["n"], alone["changed"]["value"]) == (40, 36 / 40)
    assert alone["best"]["value"] == alone["gain"]["value"] == pytest.approx(36 / 40)
    assert (alone["best"]["low"], alone["best"]["high"]) == pytest.approx((0.9, 0.9))
    assert (alone["runs"]["n"], alone["runs"]["largest"]) == (2, pytest.approx(0.9))
    assert fives["changed"]["value"] == pytest.approx(4 / 40)
    # Agree 36; yes 4 and 8: kappa = (36/40 - (4*8 + 36*32)/1600) / (1 - 1184/1600).
    assert fives["kappa"]["unweighted"]["value"] == pytest.approx((0.9 - 0.74) / 0.26)
    assert [each.name for each in report.skipped] == ["batch-20"]
    # Another order puts another nugget first: two labels of the answer change, none in sum.
    first = dict(zip(answers[:4], firsts[:4], strict=True))
    at = 4 + 40 + 8
    for n in (1, 2, 3):
        asked = range(at + 4 * (n - 1), at + 4 * n)
        moved = sum(firsts[i] != first[answers[i]] for i in asked)
        row = rows[f"order-{n}"]
        assert row["changed"]["value"] == pytest.approx(2 * moved / 40)
        assert row["best"]["value"] == 0
    assert sum(rows[f"order-{n}"]["changed"]["value"] for n in (1, 2, 3)) > 0
    assert [row["cost"]["calls"] for row in report.of("cost")] == [4, 40, 8, 4, 4, 4]
    assert rows["batch-1"]["cost"]["calls_of_base"] == 10
    assert len(server.requests) == 4 + 40 + 8 + 3 * 4


def first_option(body):
    """Gives the label that the prompt lists first, whatever it is asked."""
    system = body["messages"][0]["content"]
    return {"verdict": re.search(r'"verdict": "(\w+)" \|', system)[1]}


def test_a_judge_that_takes_the_first_option_moves_with_the_order_of_the_labels(claims, config_for):
    with MockServer(first_option) as server:
        options = Options(kinds=("labels", "schema", "input"), repeats=5)
        report = probe(claims, "support", config_for(server), Problems(), options)
    rows = rows_by_name(report)
    orders = {row["what"] for name, row in rows.items() if name.startswith("labels-")}
    assert len(orders) == 5  # all there are but the given one
    gains = {"none": 0.0, "partial": 0.5, "full": 1.0}
    for name, row in rows.items():
        if name.startswith("labels-"):
            first = re.match(r"labels (\w+),", row["what"])[1]
            assert row["changed"]["value"] == (first != "none")
            assert row["gain"]["value"] == gains[first]
            assert row["best"]["value"] == (first == "full")
    for name in ("schema-none", "input-sentence"):
        assert rows[name]["changed"]["value"] == 0
    assert rows["base"]["share_best"] == 0


def test_replicates_are_compared_with_the_base_and_with_each_other(claims, config_for):
    seen = {}

    def restless(body):
        """The k-th time it is asked, from 0, the first k of the ten claims go to the other side."""
        number = int(input_of(body)["sentence"].split()[1])
        times = seen[number] = seen.get(number, -1) + 1
        return {"verdict": "full" if (number % 2 == 0) != (number < times) else "none"}

    with MockServer(restless) as server:
        options = Options(kinds=("replicates",))
        config = config_for(server)
        report = probe(claims, "support", config, Problems(), options)
        assert len(server.requests) == 4 * 10
        assert len({json.dumps(request.body) for request in server.requests}) == 10
        again = probe(claims, "support", config, Problems(), options)
        assert len(server.requests) == 4 * 10  # each replicate is kept as one of its own
    assert again.of("cost") == report.of("cost")
    rows = rows_by_name(report)
    assert [rows[f"replicate-{k}"]["changed"]["value"] for k in (1, 2, 3)] == [0.1, 0.2, 0.3]
    among = rows["replicates"]
    pairs = list(itertools.combinations(range(4), 2))
    assert (among["n"], among["against"]) == (60, "pairwise")
    assert among["changed"]["value"] == pytest.approx(sum(b - a for a, b in pairs) / 60)
    # Base 5 full; after the first claim went over, 4: kappa = (0.9 - 0.5) / 0.5.
    assert rows["replicate-1"]["kappa"]["unweighted"]["value"] == pytest.approx(0.8)
    assert rows["replicate-1"]["best"]["value"] == pytest.approx(-0.1)


def test_what_a_budget_leaves_is_counted_never_compared_and_asked_the_next_time(claims, config_for):
    options = Options(kinds=("replicates",), repeats=1)
    with MockServer(first_option) as server:
        part = probe(
            claims, "support", config_for(server, **{"run.max_calls": 14}), Problems(), options
        )
        assert len(server.requests) == 14
        assert part.limit_reached == "max_calls 14"
        base, again = part.of("cost")
        assert (base["n_judged"], again["n_judged"], again["n"]) == (10, 4, 4)
        assert (part.n_unjudged, again["unjudged"]) == (6, {"budget": 6})
        assert again["changed"]["value"] == 0
        whole = probe(claims, "support", config_for(server), Problems(), options)
        assert len(server.requests) == 20
        assert (whole.n_unjudged, whole.of("cost")[1]["n"]) == (0, 10)
        assert (whole.spent["base"].requests, whole.spent["base"].cache_hits) == (0, 10)
    away = config_for(server, **{"run.offline": True})
    assert probe(claims, "support", away, Problems(), options).of("cost") == whole.of("cost")


def test_replies_that_fall_apart_without_a_schema_are_lost_not_labels(claims, config_for):
    def chatty(body):
        return {"verdict": "full"} if "response_format" in body else "I would say full!"

    with MockServer(chatty) as server:
        settings = {"models.default.reasks": 0}
        report = probe(
            claims, "support", config_for(server, **settings), Problems(),
            Options(kinds=("schema",)),
        )  # fmt: skip
    (_, row) = report.of("cost")
    assert row["condition"] == "schema-none"
    assert (row["n"], row["n_judged"], row["unjudged"]) == (0, 0, {"unparseable": 10})
    assert row["kappa"]["unweighted"]["value"] is row["changed"]["value"] is None


def test_a_form_of_reply_that_the_endpoint_refuses_is_skipped(claims, config_for):
    with MockServer(first_option, supports=Supports(schema=False)) as server:
        settings = {"models.default.schema": "none"}
        report = probe(
            claims, "support", config_for(server, **settings), Problems(),
            Options(kinds=("schema",)),
        )  # fmt: skip
    assert [row["condition"] for row in report.of("cost")] == ["base"]
    ((name, reason),) = [(each.name, each.reason) for each in report.skipped]
    assert name == "schema-json_schema"
    assert reason


def test_the_plan_has_the_calls_that_are_then_made(nuggets, config_for):
    with MockServer(lenient_with_the_first) as server:
        config = config_for(server)
        planned, skipped = probing_conditions(nuggets, ["assigner"], config, Problems()).plan()
        assert server.requests == []
        report = probe(nuggets, "assigner", config, Problems())
    assert skipped == report.skipped
    assert [each.calls for each in planned] == [
        row["cost"]["calls"] for row in report.of("cost") if row["cost"]
    ]
    assert sum(each.calls for each in planned) == len(server.requests)
    assert planned[0].cost is None  # no price is known, which is not 0


def test_a_sample_has_whole_answers_of_all_topics_and_is_the_same_again(nuggets, config_for):
    with MockServer(lenient_with_the_first) as server:
        options = Options(kinds=(), limit=25)
        one, two = (
            probe(nuggets, "assigner", config_for(server), Problems(), options) for _ in range(2)
        )
        other = probe(
            nuggets, "assigner", config_for(server), Problems(),
            Options(kinds=(), limit=25, seed=7),
        )  # fmt: skip
        with pytest.raises(InputError, match=r"--sample 9: .* stay together; wanted 10 or more"):
            probe(nuggets, "assigner", config_for(server), Problems(), Options(limit=9))
    assert len(one.items) == 20
    assert {item.ids["topic_id"] for item in one.items} == {"t1", "t2"}
    assert one.items == two.items
    assert len(other.items) == 20


def test_the_judge_without_a_model_is_the_same_under_every_condition(nuggets):
    report = probe(nuggets, "assigner", load_config(None, {}), Problems())
    assert {row["changed"]["value"] for row in report.of("cost")[1:]} == {0.0}
    assert {each.name for each in report.skipped} == {"batch-20", "schema", "passages", "citation"}
    for effect in report.of("effect"):
        assert (effect["gain"]["value"], effect["best"]["value"]) == (0, 0)
    grades = nuggets.with_name("grades.csv")
    grades.write_text(
        "topic_id,passage_id,question,passage\nt1,p1,why,so\nt2,p2,why,because\n", encoding="utf-8"
    )
    options = Options(kinds=("labels", "order", "batch", "input"))
    graded = probe(grades, "relevance", load_config(None, {}), Problems(), options)
    assert [row["condition"] for row in graded.of("cost")] == ["base", "input-passage"]
    assert {each.name for each in graded.skipped} == {"labels", "order", "batch"}
    assert graded.of("cost")[1]["runs"] is None


OWN = """
name: grounded
question: Say whether the source carries the claim.
inputs: {claim: a statement, source: a text}
labels: [no, partly, yes]
"""


def test_a_judge_of_ones_own_is_probed_by_its_file(tmp_path, config_for):
    (tmp_path / "own.yaml").write_text(OWN, encoding="utf-8")
    rows = [{"topic_id": f"t{i}", "question_id": "q", "said": "x", "source": "y"} for i in (1, 2)]
    source = write_rows(tmp_path / "rows.jsonl", rows)

    def brain(body):
        listed = re.search(r'"label": "(\w+)" \|', body["messages"][0]["content"])[1]
        return {"label": listed}

    with MockServer(brain) as server:
        options = Options(kinds=("labels", "input"), repeats=9, fields={"claim": "said"})
        own = str(tmp_path / "own.yaml")
        report = probe(source, own, config_for(server), Problems(), options)
    rows = rows_by_name(report)
    assert set(rows) == {"base", *(f"labels-{i}" for i in range(1, 6)), "input-source"}
    assert sorted(rows[f"labels-{i}"]["gain"]["value"] for i in range(1, 6)) == [0, 0.5, 0.5, 1, 1]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"topic_id": "t1", "sentence": "x"}], "1: .*passage"),
        ([{"sentence": "x", "passage": "y"}], "1: .*topic_id"),
        ([{"topic_id": "t1", "sentence": "x", "passage": "y"}] * 2, "2: item t1 is also in line 1"),
        (
            [
                {"topic_id": "t1", "sentence": "x", "passage": "y"},
                {"topic_id": "t1", "run_id": "a", "sentence": "x", "passage": "y"},
            ],
            "2: its ids are topic_id, run_id",
        ),
        ([{"topic_id": "t1", "sentence": " ", "passage": "y"}], "no item has the texts"),
        ([{"run_id": "a", "topic_id": "t", "nuggets": []}], "contains assignments"),
    ],
    ids=["no text", "no id", "twice", "other ids", "blank", "other kind"],
)
def test_a_source_that_cannot_be_judged_says_where_and_why(tmp_path, rows, message):
    source = write_rows(tmp_path / "rows.jsonl", rows)
    with pytest.raises(InputError, match=message):
        probe(source, "support", load_config(None, {}), Problems())


def test_dollars_are_not_spent_where_their_price_is_not_known(claims, config_for):
    with MockServer(first_option) as server:
        with pytest.raises(InputError, match="max_cost: the price of model 'openai/mock'"):
            probe(claims, "support", config_for(server, **{"run.max_cost": 1.0}), Problems())
        assert server.requests == []
        price = {"models.default.price": {"input": 1.0, "output": 1.0}, "run.max_cost": 1e-9}
        report = probe(claims, "support", config_for(server, **price), Problems())
        assert server.requests == []
    assert report.limit_reached.startswith("max_cost")
    assert report.of("cost")[0]["unjudged"] == {"budget": 10}


def test_a_judge_that_does_not_exist_is_named_with_those_that_do(claims):
    with pytest.raises(
        InputError, match="--judge nuggetizer: unknown; wanted assigner, support, relevance"
    ):
        probe(claims, "nuggetizer", load_config(None, {}), Problems())


# Judges that go by length, place, rank, name or order alone: effects have that size and sign.
@pytest.fixture
def effects_nuggets(tmp_path):
    """Six topics, one run, five nuggets each: an answer of 8 words and a filler."""
    rows = [
        {"topic_id": f"t{t}", "run_id": "mine", "nugget_id": f"n{i}", "question": f"why {t}",
         "answer": f"Rivers carry silt into the delta number {t}. I hope this helps!",
         "nugget": f"fact {i} of {t}"}
        for t in range(6) for i in range(5)
    ]  # fmt: skip
    return write_rows(tmp_path / "nuggets.jsonl", rows)


@pytest.fixture
def effects_claims(tmp_path):
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


def test_a_judge_that_rewards_words_is_seen_by_padding_alone(effects_nuggets, config_for):
    def by_length(inputs):
        n = len(inputs["answer"].split())
        return YES if n > 15 else PART if n > 10 else NO

    with MockServer(all_alike(by_length)) as server:
        options = Options(kinds=("length",))
        report = probe(effects_nuggets, "assigner", config_for(server), Problems(), options)
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


def test_the_effect_of_place_is_the_slope_from_first_to_last(effects_nuggets, config_for):
    def falls_with_position(body):
        keys = list(input_of(body)["nuggets"])  # five: the first two full, the third partial
        return {"verdicts": dict(zip(keys, [YES, YES, PART, NO, NO], strict=True))}

    with MockServer(falls_with_position) as server:
        options = Options(kinds=("order",), repeats=40)
        report = probe(effects_nuggets, "assigner", config_for(server), Problems(), options)
    (row,) = report.of("effect")
    # Over equal numbers of each place: slope of 1, 1, .5, 0, 0 on 0, .25, .5, .75, 1.
    positions, gains = [0, 0.25, 0.5, 0.75, 1], [1, 1, 0.5, 0, 0]
    slope = sum((x - 0.5) * y for x, y in zip(positions, gains, strict=True)) / 0.625
    assert slope == -1.2
    assert row["effect"] == "position"
    assert row["gain"]["value"] == pytest.approx(-1.2, abs=0.01)
    assert row["gain"]["low"] < row["gain"]["value"] < row["gain"]["high"] < -1.1
    assert (row["n"], row["n_unjudged"], row["n_topics"]) == (30 * 41, 0, 6)


def test_a_judge_that_goes_by_rank_or_by_name_shows_it(effects_claims, effects_nuggets, config_for):
    def by_rank(body):
        return {"verdict": "full" if input_of(body).get("citation_rank", "1")[0] == "1" else "none"}

    with MockServer(by_rank) as server:
        options = Options(kinds=("citation",))
        report = probe(effects_claims, "support", config_for(server), Problems(), options)
        system = server.requests[-1].body["messages"][0]["content"]
    (row,) = report.of("effect")
    assert values(row) == (-1.0, -1.0)
    assert "- citation_rank: which citation of its sentence the passage is" in system

    def by_name(inputs):
        return {PLAIN: NO, KNOWN: YES}.get(inputs.get("written_by"), PART)

    with MockServer(all_alike(by_name)) as server:
        options = Options(kinds=("name",))
        report = probe(effects_nuggets, "assigner", config_for(server), Problems(), options)
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


def test_what_was_not_judged_is_counted_apart_and_in_no_effect(effects_claims, config_for):
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
        report = probe(
            effects_claims, "support", config_for(server, **settings), Problems(), options
        )
    (row,) = report.of("effect")
    assert (row["n"], row["n_unjudged"], values(row)) == (8, 2, (0.0, 0.0))
    assert report.n_unjudged == 2


def test_what_makes_no_sense_for_a_judge_is_skipped_with_the_reason(
    tmp_path, effects_claims, effects_nuggets
):
    lexical, kinds = load_config(None, {}), ("passages", "length", "citation", "name")
    plain = Options(kinds=kinds)
    skipped = {each.name: each.reason for each in probing_conditions(
        effects_claims, ["support"], lexical, Problems(), plain
    ).plan()[1]}  # fmt: skip
    assert set(skipped) == {"passages", "length"}
    assert "reads no answer" in skipped["length"]
    skipped = {
        each.name
        for each in probing_conditions(
            effects_nuggets, ["assigner"], lexical, Problems(), plain
        ).plan()[1]
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
