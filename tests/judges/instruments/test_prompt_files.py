"""Prompt files: what is sent, letter by letter, and what is refused with file and line."""

import re
from pathlib import Path

import pytest

from nuggetjudge.judges import (
    AnswerabilityGrader,
    EntailmentJudge,
    NuggetAssigner,
    NuggetImportance,
    Nuggetizer,
    RelevanceJudge,
    SupportJudge,
)
from nuggetjudge.judges.instruments.files import read_instrument
from nuggetjudge.records.reading.problems import InputError

ASSIGNER = """\
system: You check facts.
user: |
  {n_nuggets} facts, about "{question}":
  {nuggets}
  Text: {answer}
  Give a list, such as {{"yes", "no"}}.
lists: LISTS
reply:
  form: list
  labels: {yes: support, partly: partial_support, no: not_support}
"""
ASKED = {
    "question": "why {sway}?",
    "answer": "Wind.\n{question}",
    "nuggets": {"11": 'it\'s the "wind"', "12": "a damper"},
}


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("numbered", '1. it\'s the "wind"\n2. a damper'),
        ("bracketed", '[1] it\'s the "wind"\n[2] a damper'),
        ("lines", 'it\'s the "wind"\na damper'),
        ("python", "['it\\'s the \"wind\"', 'a damper']"),
        ("json", '["it\'s the \\"wind\\"", "a damper"]'),
        ("{nuggets: bracketed}", '[1] it\'s the "wind"\n[2] a damper'),
    ],
)
def test_what_is_sent_is_the_file_with_the_inputs_as_they_are(style, expected, written):
    judge = NuggetAssigner("lexical").with_prompt(written(ASSIGNER.replace("LISTS", style)))
    assert judge.prompt("assign").messages(ASKED) == [
        {"role": "system", "content": "You check facts."},
        {
            "role": "user",
            "content": f'2 facts, about "why {{sway}}?":\n{expected}\nText: Wind.\n{{question}}\n'
            'Give a list, such as {"yes", "no"}.\n',
        },
    ]


def test_demonstrations_stand_between_the_system_message_and_the_last(written):
    more = "demonstrations:\n- {user: 'Facts: {a}', assistant: '[\"yes\"]'}\n"
    judge = NuggetAssigner("lexical").with_prompt(written(ASSIGNER.replace("LISTS", "json") + more))
    roles = [(m["role"], m["content"]) for m in judge.prompt("assign").messages(ASKED)]
    assert roles[1:3] == [("user", "Facts: {a}"), ("assistant", '["yes"]')]


def test_half_a_character_is_sent_as_a_question_mark(written):
    prompt = SupportJudge("lexical").with_prompt(written(SUPPORT)).prompt("judge")
    assert prompt.user({"sentence": "a\ud83d", "passage": "b"}) == "a? / b"


SUPPORT = "user: '{sentence} / {passage}'\nreply: {form: label, after: 'Label:'}\n"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("user: [\n", 2, "not YAML"),
        ("- user\n", 1, "wanted settings such as user: and reply:"),
        ("user: '{sentence}'\nusr: x\nreply: {form: label}\n", 2, "usr: no such setting"),
        ("user: hi\n", 1, "reply: wanted reply:, which says how to read"),
        ("reply: {form: label}\n", 1, "user: wanted either user: or template:"),
        (SUPPORT.replace("{passage}", "{pasage}"), 1, "user: line 1: {pasage} is not an input of"),
        (SUPPORT.replace(" / {passage}", ""), 1, "user: the input {passage} is not used"),
        (
            SUPPORT.replace("{passage}", "{passage.text}"),
            1,
            "'{passage.text}' is not a placeholder",
        ),
        (SUPPORT.replace("{passage}", "{passage!r}"), 1, "'{passage!r}' is not a placeholder"),
        (SUPPORT.replace("{passage}", "{0}"), 1, "'{0}' is not a placeholder"),
        (SUPPORT.replace("/ ", "}"), 1, "user: line 1: a single '}'"),
        (SUPPORT + "system: 'Read {passage}'\n", 3, "system: {passage} is allowed in user: only"),
        (SUPPORT + "without: [sentence]\n", 3, "without: 'sentence' is in the template"),
        (SUPPORT + "without: [headline]\n", 3, "without: 'headline' is not an input of the judge"),
        (SUPPORT + "texts:\n  passage: x\n", 4, "texts.passage: an input"),
        (
            SUPPORT + "texts:\n  examples: x\n",
            4,
            "texts.examples: {examples} is not in the template",
        ),
        (SUPPORT + "lists: {passage: json}\n", 3, "lists.passage: the judge has no list"),
        (SUPPORT + "lists: toml\n", 3, "lists"),
        (SUPPORT + "window: 10\n", 3, "window: this judge takes 1 item a call"),
        (SUPPORT.replace("label,", "jinja,"), 2, "reply.form"),
        (SUPPORT.replace("form: label, after: 'Label:'", "form: list"), 2, "one label per call"),
        (
            SUPPORT.replace("after: 'Label:'", "field: O"),
            2,
            "a reply with form label has no fields",
        ),
        (SUPPORT.replace("label,", "list,"), 2, "a reply with form list is read as a whole"),
        (
            SUPPORT.replace("after: 'Label:'", "labels: {yes: fully}"),
            2,
            "reply.labels.yes: the judge has no label 'fully', wanted one of none, partial, full",
        ),
        (
            SUPPORT.replace("after: 'Label:'", "labels: {Yes: full, 'yes ': none}"),
            2,
            "reply.labels: 'yes ' means both full and none",
        ),
        (
            SUPPORT.replace("after: 'Label:'", "labels: {yes: full, yes: none}"),
            2,
            "'yes' occurs twice",
        ),
        ("template: none.yaml\n", None, "none.yaml: cannot be read"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(text, line, what, written):
    path = written(text)
    with pytest.raises(InputError) as caught:
        SupportJudge("lexical").with_prompt(path)
    message = str(caught.value)
    assert what in message
    assert line is None or f"{path}:{line}: " in message


def test_a_reply_of_one_label_is_refused_where_a_call_asks_about_several(written):
    text = "user: '{question}{answer}{nuggets}'\nreply:\n  form: label\n"
    with pytest.raises(
        InputError, match=r"prompt.yaml:3: reply.form: .*up to 10 items; set window: 1"
    ):
        NuggetAssigner("lexical").with_prompt(written(text))
    judge = NuggetAssigner("lexical").with_prompt(written(text + "window: 1\n"))
    assert judge.window == 1
    asked = {**ASKED, "nuggets": {"1": "wind"}}
    (verdict,) = judge.prompt("assign").parse("support", asked)["verdicts"].values()
    assert verdict == "support"


@pytest.mark.whole
def test_a_judge_that_makes_texts_takes_lists_or_its_own_json(written):
    from nuggetjudge.plugins.collections.judges import RequestWriter

    text = "user: '{report}'\nreply: {form: FORM}\n"
    with pytest.raises(InputError, match="use form json without field"):
        RequestWriter("lexical").with_prompt(written(text.replace("FORM", "label")))
    judge = RequestWriter("lexical").with_prompt(written(text.replace("FORM", "json")))
    assert judge.prompt("compose").user({"report": "{x}"}) == "{x}"


@pytest.mark.whole
def test_of_a_judge_with_two_questions_one_has_to_be_named(written):
    from nuggetjudge.plugins.collections.judges import QuestionEvolver

    path = written("user: '{question}'\nreply: {form: json}\n")
    judge = QuestionEvolver("lexical")
    with pytest.raises(ValueError, match="choose one of the judge's questions: depth, width"):
        judge.with_instructions("Make it harder.")
    with pytest.raises(ValueError, match="depth, width"):
        judge.with_prompt(path)
    deeper = judge.with_instructions("Make it harder.", "depth")
    assert deeper.prompt("depth").fixed[0]["content"].startswith("Make it harder.")
    assert deeper.prompt("width").fixed == judge.prompt("width").fixed


@pytest.mark.parametrize(
    ("judge", "text"),
    [
        (AnswerabilityGrader, "user: '{question} {context}'\nreply: {form: number}\nwindow: 5\n"),
        (EntailmentJudge, "user: '{response} {key_point}'\nreply: {form: label}\nwindow: 5\n"),
    ],
)
def test_a_judge_made_for_one_item_a_call_takes_no_window_of_a_file(judge, text, written):
    with pytest.raises(InputError, match=r":3: window: .* create it with window=5"):
        judge("lexical").with_prompt(written(text))


def test_a_new_window_comes_with_the_file(written):
    text = ASSIGNER.replace("LISTS", "json") + "window: 5\n"
    assert NuggetAssigner("lexical").with_prompt(written(text)).window == 5


TOOL = """\
method: anything
system_message: Be brief, {query}.
prefix_user: |-
  {num_nuggets} for {query}: {nuggets}
  In: {context}
"""


@pytest.mark.whole
def test_a_tools_template_is_known_by_its_keys_and_its_system_message_stays(written):
    judge = NuggetAssigner("lexical").with_prompt(written(TOOL))
    assert judge.prompt("assign").messages(ASKED) == [
        {"role": "system", "content": "Be brief, {query}."},
        {
            "role": "user",
            "content": "2 for why {sway}?: ['it\\'s the \"wind\"', 'a damper']\n"
            "In: Wind.\n{question}",
        },
    ]


@pytest.mark.whole
def test_a_tools_placeholder_is_the_input_that_the_judge_has(written):
    text = "prefix_user: '{query} {context} {nuggets} {nuggets_length} {creator_max_nuggets}'\n"
    prompt = Nuggetizer("lexical").with_prompt(written(text)).prompt("update")
    asked = {"question": "Q", "limit": 30, "nuggets": ["n"], "passages": {"11": "a", "12": "b"}}
    assert prompt.user(asked) == "Q [1] a\n[2] b ['n'] 1 30"
    rated = written("prefix_user: '{num_nuggets} {query} {nuggets}'\n")
    asked = {"question": "Q", "nuggets": {"1": "a"}}
    assert NuggetImportance("lexical").with_prompt(rated).prompt("rate").user(asked) == "1 Q ['a']"


@pytest.mark.whole
def test_a_text_file_is_a_template_without_the_white_space_around_it(written):
    path = written("\n Q {query}\nP {passage}\n\n", "qrel.txt")
    prompt = RelevanceJudge("lexical").with_prompt(path).prompt("judge")
    assert prompt.messages({"question": "q", "passage": " p "}) == [
        {"role": "user", "content": "Q q\nP  p "}
    ]


@pytest.mark.whole
def test_what_a_template_lacks_is_given_by_a_file_that_names_it(written):
    template = written("E {examples}\nQ {query}\nP {passage}", "qrel.txt")
    judge = RelevanceJudge("lexical")
    with pytest.raises(InputError, match=re.escape(f"{template}:1: {{examples}} is not an input")):
        judge.with_prompt(template)
    path = written("template: qrel.txt\nsystem: Be fair.\ntexts: {examples: 'no {hole}'}\n")
    with_file = judge.with_prompt(path)
    assert with_file.prompt("judge").messages({"question": "q", "passage": "p"}) == [
        {"role": "system", "content": "Be fair."},
        {"role": "user", "content": "E no {hole}\nQ q\nP p"},
    ]
    assert with_file.instruments["judge"].files == (path, template)


def test_every_word_of_a_file_is_part_of_the_judges_identity(written):
    base = ASSIGNER.replace("LISTS", "json")
    texts = [base, base.replace("facts,", "facts"), base.replace("lists: json", "lists: python")]
    texts += [base.replace("partly: partial_support, ", ""), base.replace("You", "We")]
    judges = [NuggetAssigner("lexical").with_prompt(written(text)) for text in texts]
    judges.append(NuggetAssigner("lexical"))
    assert len({judge.prompt("assign").prompt_hash() for judge in judges}) == len(judges)
    written(base)
    assert (
        judges[0].prompt("assign").prompt_hash()
        == judges[0].deepcopy().prompts()["assign"].prompt_hash()
    )


def test_no_template_code_is_run(written):
    text = "user: '{sentence.__class__} {passage}'\nreply: {form: label}\n"
    with pytest.raises(InputError, match="is not a placeholder"):
        SupportJudge("lexical").with_prompt(written(text))


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"away.yaml: cannot be read"):
        SupportJudge("lexical").with_prompt(tmp_path / "away.yaml")


@pytest.mark.whole
def test_the_example_of_the_page_fits_its_judge(written):
    page = Path(__file__).resolve().parents[3] / "docs" / "instruments.md"
    blocks = re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    whole = next(text for text in blocks if "demonstrations:" in text)
    prompt = NuggetAssigner("lexical").with_prompt(written(whole)).prompt("assign")
    roles = [message["role"] for message in prompt.messages(ASKED)]
    assert roles == ["system", "user", "assistant", "user"]
    assert '[1] it\'s the "wind"\n[2] a damper\n' in prompt.user(ASKED)
    assert "(Braces are written twice: { and }.)" in prompt.user(ASKED)
    verdicts = prompt.parse('["partly", "No"]', ASKED)["verdicts"]
    assert verdicts == {"11": "partial_support", "12": "not_support"}
    named = next(text for text in blocks if text.startswith("template:"))
    written("{examples} {query} {passage}", "qrel_fewshot_bing.txt")
    prompt = RelevanceJudge("lexical").with_prompt(written(named)).prompt("judge")
    assert prompt.user({"question": "q", "passage": "p"}) == "the examples that you draw\n q p"


def test_a_template_of_no_known_project_says_what_is_wanted(tmp_path, monkeypatch):
    path = tmp_path / "theirs.txt"
    path.write_text("{question}", encoding="utf-8")
    monkeypatch.setattr("nuggetjudge.judges.instruments.files.entry_points", lambda group: ())
    with pytest.raises(InputError, match=r"theirs\.txt: no installed package reads such templates"):
        read_instrument(path)
