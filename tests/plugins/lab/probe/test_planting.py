"""Faults are planted where their direction is certain, and nowhere else."""

import json

import numpy as np
import pytest
from mock_server import MockServer, input_of, schema_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import EntailmentJudge, NuggetAssigner, RelevanceJudge, SupportJudge
from nuggetjudge.plugins.lab.probe.faults import FORMS, find_form
from nuggetjudge.plugins.lab.probe.planting import (
    PADDING,
    JudgedAnswer,
    JudgedCitation,
    SourceLabels,
    collect_titles,
)
from nuggetjudge.plugins.lab.probe.rewriting import (
    Value,
    Vocabulary,
    another,
    deny,
    negate,
    offsets,
    replace_value,
    split_parts,
    values_in,
)
from nuggetjudge.plugins.lab.probe.variants import (
    list_inputs,
    list_labels,
    with_first_input,
    with_label_order,
    with_lexical,
    without_evidence,
)
from nuggetjudge.records.labels import ItemRow

PLAIN = Vocabulary({}, frozenset())


@pytest.mark.parametrize(
    ("sentence", "opposite"),
    [
        ("The dam was built by hand.", "The dam was not built by hand."),
        ("Kelp can grow two feet a day.", "Kelp cannot grow two feet a day."),
        ("In June, tides are high and fast.", "In June, tides are not high and fast."),
        ("The dam was built and is old.", None),  # two verbs
        ("The dam broke.", None),  # no auxiliary
        ("The dam may be old.", None),  # "may not be" does not contradict
        ("Some dams are old.", None),  # nor do some that are not
        ("Dams are often old.", None),
        ("The dam is not old.", None),
        ("It isn't known who has built the dam.", None),
        ("The dam, which is old, broke.", None),
        ("The guide explains how the dam was built.", None),
        ("Is the dam very old?", None),
        ("He said the dam is old.", None),
        ("Dams, a sketch: what is old", None),
        ("Nobody knows how old it is.", None),
        ("The dam is also old.", None),
        ("The dam (built by hand) is old.", None),
        ("Was the dam built by hand.", None),
    ],
)
def test_a_verb_is_negated_only_where_the_opposite_contradicts(sentence, opposite):
    assert negate(sentence) == opposite


@pytest.mark.parametrize(
    ("sentence", "is_denied"),
    [
        ("The river rose, and two mills fell.", True),
        ("Mills have burnt, and some were rebuilt.", True),
        ("Sign the petition of the mills.", False),  # no statement
        ("It rose by two feet.", False),  # leans on what stands before it
        ("For example, the river rose.", False),
        ("The mills did not burn.", False),
        ("The mayor said the mills burnt.", False),  # somebody's view
        ("The mills burnt, the barns and.", False),  # cut off
        ("The mills: a list", False),
    ],
)
def test_a_whole_sentence_is_denied_only_where_it_is_a_statement_of_its_own(sentence, is_denied):
    denial = deny(sentence, {"the", "mills"})
    assert (denial is not None) is is_denied
    if denial is not None:
        assert denial == f"It is not true that {sentence[0].lower()}{sentence[1:]}"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The span has 240 lamps.", {"number": ["240"]}),
        ("It cost $1,250.50 in all.", {"number": ["1,250.50"]}),
        ("It has two lanes.", {"number": ["two"]}),
        ("More than 240 lamps burn.", {}),  # 500 are more than 240 as well
        ("Up to 240 lamps, about 30 boats.", {}),
        ("Between 20 and 30 boats sail.", {}),
        ("It has 20 to 30 boats.", {}),
        ("Lamps 5-10 burn, as in [3] and (4).", {}),
        ("1. Light the lamps.", {}),
        ("The 240 lamps and 240 boats.", {}),  # stands there twice
        ("It opened in 1932.", {"date": ["1932"]}),
        ("It opened on March 5, 1932.", {"date": ["March"]}),  # 5 is a day, no number
        ("It opened before 1932, after 1930 or by 1931.", {}),
        ("In total 1932 lamps burn.", {}),  # a year or not
        ("It may open on Monday.", {"date": ["Monday"]}),
        ("It may open in May.", {}),
        ("The bridge at Kelso fell.", {"name": ["Kelso"]}),
        ("The bridge at Kelso (Norwick) fell.", {}),  # another name for it
        ("Kelso has a bridge.", {}),  # every sentence begins so
        ("A Bridge At Kelso Falls Again", {}),  # a title
        ("The Kelso-like spans fell.", {}),
    ],
)
def test_values_are_those_that_another_value_would_belie(text, values):
    in_text = values_in(text, Vocabulary({}, frozenset({"the", "like"})))
    by_kind = {}
    for value in in_text:
        by_kind.setdefault(value.kind, []).append(value.text)
    assert by_kind == values


def test_a_word_that_is_written_small_somewhere_is_no_name():
    texts = ["They went to Shadow Work and to Kelso.", "Much shadow fell where they saw Kelso."]
    vocabulary = Vocabulary.of(texts)
    assert list(vocabulary.names) == ["Kelso"]
    assert [value.text for value in values_in(texts[0], vocabulary)] == ["Kelso"]


def test_what_takes_the_place_of_a_value_is_of_its_form_and_stands_nowhere_near():
    rng = np.random.default_rng(0)
    avoid = " ".join(str(n) for n in range(10, 60))
    for _ in range(20):
        assert 60 <= int(another(Value("number", "40", 0), avoid, PLAIN, rng)) <= 99
        year = int(another(Value("date", "1932", 0), "1930 1935", PLAIN, rng))
        assert 3 <= abs(year - 1932) <= 60
        big = another(Value("number", "1,250.50", 0), "", PLAIN, rng)
        assert (big[1], big[5]) == (",", ".")
        assert abs(float(big.replace(",", "")) - 1250.5) > 0.2 * 1250.5
    small = " ".join(map(str, range(10)))
    assert another(Value("number", "4", 0), small, PLAIN, rng) is None
    assert another(Value("number", "two", 0), "3 4 five 6 7 8 nine 10 11", PLAIN, rng) == "twelve"
    names = {"Norwick": frozenset({"at"}), "Anna": frozenset({"by"}), "NASA": frozenset({"at"})}
    vocabulary = Vocabulary(names, frozenset())
    assert another(Value("name", "Kelso", 0, "at"), "Kelso", vocabulary, rng) == "Norwick"
    assert another(Value("name", "Kelso", 0, "at"), "in Norwick", vocabulary, rng) is None


def test_a_value_is_found_and_changed_only_where_it_stands_by_itself():
    text = "The 9/11 report has 11 parts, 110 pages and 1.11 kg; 11, all told."
    assert len(offsets(text, "11")) == 2
    assert replace_value(text, "11", "64").count("64") == 2


def nuggets(answer, *texts, question="what is it"):
    return [
        ItemRow(
            line=i,
            ids={"topic_id": "t", "run_id": "r", "nugget_id": str(i)},
            inputs={"question": question, "answer": answer, "nugget": text},
        )
        for i, text in enumerate(texts)
    ]


def planted(fault, items, labels=None, best="support"):
    of_source = SourceLabels({item.cell: "support" for item in items} | (labels or {}), best)
    others = ["Once we saw Norwick.", "Then we saw Norwick."]
    vocabulary = Vocabulary.of([*(i.inputs["answer"] for i in items), *others])
    parts = (
        find_form(NuggetAssigner("lexical")),
        of_source,
        vocabulary,
        items,
        np.random.default_rng(0),
    )
    return JudgedAnswer(*parts).plant_fault(fault)


ANSWER = "The bridge at Kelso spans deep water. Copper lamps light every pier. Boats pass slowly."
LAMPS, BRIDGE, BOATS = "copper lamps light piers", "the bridge spans water", "boats pass slowly"


def test_the_sentence_that_alone_holds_a_nugget_is_dropped_and_the_others_have_to_stay():
    items = nuggets(ANSWER, LAMPS)
    case = planted("omission", items)
    assert case.before == "Copper lamps light every pier."
    assert case.text == "The bridge at Kelso spans deep water. Boats pass slowly."
    assert case.must == ["down"]
    several = nuggets(ANSWER, LAMPS, BRIDGE, "lamps hang from the bridge", BOATS)
    case = planted("omission", several)
    at = {"Copper": 0, "The": 1, "Boats": 3}[case.before.split()[0]]
    wanted = ["same"] * 4
    wanted[at] = "down"
    wanted[2] = "same" if at == 3 else None  # shares a word with either of the two others
    assert case.must == wanted


@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        (ANSWER + " Lamps of copper.", {}),  # the rest holds two words of four: at most half
        (ANSWER + " Lamps of copper light the night.", None),  # three of four
        (ANSWER.replace("Boats pass", "They let boats pass"), None),  # speaks of the piers
        ("Copper lamps light every pier.", None),  # nothing would be left
        (ANSWER, {("t", "r", "0"): "partial_support"}),
        (ANSWER, {("t", "r", "0"): None}),
    ],
)
def test_nothing_is_dropped_where_the_nugget_need_not_fall(answer, labels):
    items = nuggets(answer, LAMPS)
    case = planted("omission", items, labels)
    assert (case is not None) is (labels == {})


def test_words_of_the_question_do_not_count_as_those_that_one_sentence_alone_holds():
    answer = "Kelso bridge has copper lamps. Kelso bridge has a toll."
    nugget = "Kelso bridge has copper lamps"
    assert planted("omission", nuggets(answer, nugget)) is not None
    asked = nuggets(answer, nugget, question="which lamps has Kelso bridge")
    assert planted("omission", asked) is None  # only copper would tell


def test_a_value_of_a_nugget_is_changed_wherever_the_answer_has_it():
    answer = "The bridge at Kelso opened in 1932. In 1932 the bridge opened at Kelso. Boats pass."
    items = nuggets(answer, "the bridge opened in 1932", "boats pass")
    case = planted("date", items)
    assert case.must == ["down", "same"]
    assert "1932" not in case.text
    assert case.before == "The bridge at Kelso opened in 1932. In 1932 the bridge opened at Kelso."
    other = answer.replace("In 1932 the bridge opened at Kelso.", "In 1932 mills burnt there.")
    assert planted("date", nuggets(other, "the bridge opened in 1932")) is None


def test_a_name_is_changed_only_where_nothing_else_tells_of_it():
    nugget = "the bridge at Kelso fell"
    case = planted("name", nuggets("We saw the bridge at Kelso fall. The bridge fell.", nugget))
    assert (
        case is None
    )  # it is not beside what the nugget says of it, and no name stands behind "at"
    answer = "Once we saw Kelso when the bridge fell."
    case = planted("name", nuggets(answer, "people saw Kelso when the bridge fell"))
    assert case.text == "Once we saw Norwick when the bridge fell."
    for trace in ("The Kelsonians wept.", "A Kelso Bridge song is sung."):
        items = nuggets(f"{answer} {trace}", "people saw Kelso when the bridge fell")
        assert planted("name", items) is None


def test_order_is_changed_by_blocks_and_not_where_it_has_a_meaning():
    text = "Lamps burn. They hang low. Boats pass. Rain falls."
    reordered = {split_parts(text).reorder(np.random.default_rng(seed)) for seed in range(20)}
    assert len(reordered) > 3
    assert all("Lamps burn. They hang low." in other for other in reordered)
    assert text not in reordered
    for listed in ("1. Lamps burn. 2. Boats pass. 3. Rain falls.", "Lamps.\nBoats.\nRain."):
        assert split_parts(listed).reorder(np.random.default_rng(0)) is None
    assert split_parts("Lamps burn. Boats pass.").reorder(np.random.default_rng(0)) is None


def test_what_adds_nothing_has_to_move_no_nugget_of_any_label_but_one_it_may_touch():
    items = nuggets(ANSWER, LAMPS, "an end of the question", BOATS)
    labels = {("t", "r", "2"): "not_support"}
    for fault in ("duplication", "reordering"):
        assert planted(fault, items, labels).must == ["same"] * 3
    padded = planted("padding", items, labels)
    assert padded.must == ["same", None, "same"]
    assert padded.text == f"{ANSWER} {PADDING}"


def cited(*pairs, topic="t"):
    return [
        ItemRow(
            line=i,
            ids={"topic_id": topic, "run_id": "r", "sentence_id": str(i), "passage_id": str(i)},
            inputs={"sentence": sentence, "passage": passage},
        )
        for i, (sentence, passage) in enumerate(pairs)
    ]


SENTENCE = "Copper lamps light every pier at Kelso in 1932."


def planted_in(fault, items, label="full"):
    of_source = SourceLabels({item.cell: label for item in items}, "full")
    texts = [text for item in items for text in item.inputs.values()]
    form, rng = FORMS["support"], np.random.default_rng(0)
    parts = form, of_source, Vocabulary.of(texts), items[:1], rng, collect_titles(form, items)
    return JudgedCitation(*parts).plant_fault(fault)


def test_a_citation_is_swapped_for_a_passage_with_a_quarter_of_the_words_at_most():
    near = "Copper lamps burn at Kelso."  # 3 of 7 content words
    far = "Boats at Kelso pass below."  # 1 of 7
    assert planted_in("citation-swap", cited((SENTENCE, SENTENCE), ("x", near))) is None
    case = planted_in("citation-swap", cited((SENTENCE, SENTENCE), ("x", near), ("y", far)))
    assert (case.changed, case.text, case.must) == ("passage", far, ["down"])
    elsewhere = [*cited((SENTENCE, SENTENCE)), *cited(("y", far), topic="other")]
    assert planted_in("citation-swap", elsewhere) is None
    short = cited(("Copper lamps burn.", SENTENCE), ("y", far))
    assert planted_in("citation-swap", short) is None


@pytest.mark.parametrize(("own", "other"), [("Kelso", "Boats"), ("Kelso", ""), ("", "Boats")])
def test_with_the_passage_of_a_citation_its_title_is_swapped(own, other):
    items = [
        item.model_copy(update={"inputs": {**item.inputs, **({"title": title} if title else {})}})
        for item, title in zip(
            cited((SENTENCE, SENTENCE), ("y", "Boats pass below.")), (own, other), strict=True
        )
    ]
    case = planted_in("citation-swap", items)
    assert [row.inputs.get("title") for row in case.rows(1)] == [other]


def test_a_value_of_a_sentence_is_changed_only_where_the_passage_has_it():
    case = planted_in("date", cited((SENTENCE, f"In 1932 it was so. {SENTENCE}")))
    assert case.changed == "sentence"
    assert case.text.startswith("Copper lamps light every pier at Kelso in ")
    assert "1932" not in case.text
    assert planted_in("date", cited((SENTENCE, "Copper lamps light every pier."))) is None


@pytest.mark.parametrize("fault", ["citation-swap", "negation", "date"])
def test_only_what_had_the_best_label_can_fall(fault):
    far = "Boats pass below the bridge."
    pairs = ((SENTENCE, SENTENCE), ("y", far))
    sentence = "The lamps of every pier at Kelso are copper in 1932."
    pairs = ((sentence, sentence), *pairs) if fault == "negation" else pairs
    items = cited(*pairs)
    for label in ("partial", "none", None):
        assert planted_in(fault, items, label) is None
    assert planted_in("duplication", items, "none").must == ["same"]
    assert planted_in("duplication", items, None) is None


def test_words_that_say_nothing_stand_before_a_statement():
    case = planted_in("padding", cited((SENTENCE, "There copper shines.")))
    opener, _, rest = case.text.partition(", ")
    assert rest == SENTENCE[0].lower() + SENTENCE[1:]
    assert not any(char.isdigit() for char in opener)
    assert planted_in("padding", cited(("- a list", "x"))) is None


# The same judge with its labels or inputs in another order: the words stay, their order moves.
ORDER = ("partial_support", "support", "not_support")


def system_of(body):
    return body["messages"][0]["content"]


@pytest.fixture
def assigned():
    """A server that picks the first label it is offered, and an assigner that asks it."""

    def brain(body):
        offered = schema_of(body)["properties"]["verdicts"]["properties"]["1"]["enum"]
        return {"verdicts": dict.fromkeys(input_of(body)["nuggets"], offered[0])}

    with MockServer(brain) as server:
        yield server, NuggetAssigner(ModelConfig(model="openai/mock", api_base=server.base_url))


def test_labels_move_in_prompt_and_schema_and_keep_their_meaning(assigned):
    server, judge = assigned
    asked = {"question": "why", "answer": "so", "nuggets": ["a", "b"]}
    baseline = with_label_order(judge, ORDER)
    assert list_labels(baseline) == ORDER
    assert judge(**asked).verdicts == ["not_support", "not_support"]
    assert baseline(**asked).verdicts == ["partial_support", "partial_support"]
    before, after = (request.body for request in server.requests)
    assert '"partial_support" | "support" | "not_support"' in system_of(after)
    assert after["response_format"]["json_schema"]["name"] == "AssignNuggets"
    assert sorted(system_of(before)) == sorted(system_of(after))
    assert baseline.scale == judge.scale
    assert list_labels(judge) == ("not_support", "partial_support", "support")


def test_an_input_moves_to_the_front_of_what_is_shown(assigned):
    server, judge = assigned
    baseline = with_first_input(judge, "answer")
    assert list_inputs(baseline) == ("answer", "question", "nuggets")
    baseline(question="why", answer="so", nuggets=["a"])
    assert list(input_of(server.requests[0].body)) == ["answer", "question", "nuggets"]
    assert baseline.prompt("assign").shape({"nuggets": {"1": "a"}}) == (("1",),)


def test_other_spellings_of_a_reordered_label_are_still_read():
    baseline = with_label_order(SupportJudge("lexical"), ("full", "none", "partial"))
    row = baseline.prompt("judge").parse(json.dumps({"verdict": " Full"}), None)
    assert str(row["verdict"]) == "full"


def test_what_has_no_such_order_is_refused():
    grades = RelevanceJudge("lexical")
    assert list_labels(grades) == ()
    with pytest.raises(ValueError, match="wanted the labels"):
        with_label_order(grades, ("3", "2", "1", "0"))
    with pytest.raises(ValueError, match="wanted the labels"):
        with_label_order(SupportJudge("lexical"), ("full", "none"))
    with pytest.raises(ValueError, match="one of passage, title, sentence"):
        with_first_input(SupportJudge("lexical"), "answer")


def test_a_judge_that_quotes_is_asked_for_its_label_alone():
    with MockServer(lambda body: {"verdict": "yes"}) as server:
        judge = EntailmentJudge(ModelConfig(model="openai/mock", api_base=server.base_url))
        baseline = without_evidence(judge)
        prediction = baseline(response="r", key_point="p")
        assert (prediction.verdict, prediction.evidence, prediction.is_quoted) == (
            "yes", None, None,
        )  # fmt: skip
        (sent,) = server.requests
    assert list(schema_of(sent.body)["properties"]) == ["verdict"]
    assert "copied word for word" not in system_of(sent.body)
    assert judge.evidence == {"evidence": "response"}
    assert "copied word for word" in judge.prompt("judge_one").fixed[0]["content"]


def test_the_lexical_judge_stands_beside_a_model_and_not_beside_itself():
    with MockServer(lambda body: {"verdict": "none"}) as server:
        judge = SupportJudge(ModelConfig(model="openai/mock", api_base=server.base_url))
        texts = {"sentence": "Tides rise.", "passage": "Tides rise."}
        assert with_lexical(judge)(**texts).verdict == "full"
        assert judge(**texts).verdict == "none"
        assert len(server.requests) == 1
    assert with_lexical(SupportJudge("lexical")) is None
