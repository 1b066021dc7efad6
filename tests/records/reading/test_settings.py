import pytest

from nuggetjudge.records.reading.settings import DEEPEST, NotYaml, find_line, read_yaml

TEXT = """\
run:
  seed: 3

models:
  - {name: a, "on": yes}
  - name: b
"""


def test_each_setting_has_its_line_and_what_is_not_there_that_of_its_section():
    value, lines = read_yaml(TEXT)
    assert value == {"run": {"seed": 3}, "models": [{"name": "a", "on": True}, {"name": "b"}]}
    assert lines == {
        ("run",): 1,
        ("run", "seed"): 2,
        ("models",): 4,
        ("models", "0"): 5,
        ("models", "0", "name"): 5,
        ("models", "0", "on"): 5,
        ("models", "1"): 6,
        ("models", "1", "name"): 6,
    }
    assert find_line(("models", "1", "price"), lines) == 6
    assert find_line(("other",), lines) == 1


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_a_text_without_settings_is_none(text):
    assert read_yaml(text) == (None, {})


def test_yes_no_on_and_off_are_words_where_words_are_wanted():
    text = "[yes, No, on, off, true, False]"
    assert read_yaml(text, words=True)[0] == ["yes", "No", "on", "off", True, False]
    assert read_yaml(text)[0] == [True, False, True, False, True, False]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", 4, "'c' stands here twice"),
        ("a: 1\n'a': 1\n", 2, "'a' stands here twice"),
        ("a: 1\n? [b]\n: 1\n", 2, "wanted a name before the colon"),
        ("a: &x 1\n\nb: *x\n", 3, "anchors are not taken"),
        ("a: 1\nb: !!python/name:os.system ''\n", 2, "(tag !!python/name:os.system)"),
        ("a: 1\nb: !own x\n", 2, "not YAML of plain values (tag !own)"),
        ("a: {b: 1}\n<<: {c: 1}\n", 2, "not YAML"),
        ("a:\n " + "[" * DEEPEST + "]" * DEEPEST, 2, f"nested deeper than {DEEPEST} levels"),
        ("a: 1\nb: 2024-99-99\n", 2, "'2024-99-99' cannot be read as timestamp"),
        (f"a: 1\nb: {'9' * 5000}\n", 2, f"({'9' * 40 + '...'!r} cannot be read as int)"),
        ("a: 1\nb: [1\nc: 2\n", 3, "not YAML"),
        ("a: 1\nb: \0\n", 2, "not YAML"),
        ("a: 1\n---\nb: 2\n", 2, "another document"),
    ],
)
def test_what_is_not_plain_is_refused_at_its_line(text, line, what):
    with pytest.raises(NotYaml) as caught:
        read_yaml(text)
    assert caught.value.line == line
    assert what in str(caught.value)


def test_the_deepest_nesting_that_is_taken_is_read():
    assert read_yaml("[" * DEEPEST + "]" * DEEPEST)[0] is not None
    assert read_yaml("- [a]\n" * (DEEPEST + 1))[0] == [["a"]] * (DEEPEST + 1)
