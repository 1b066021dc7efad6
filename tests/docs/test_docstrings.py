"""The public names of Python are documented: the reference is made from their docstrings.

Each function and class has a summary and describes every parameter; a function also says what it
returns, and has an example that tests/test_doctests.py runs.
"""

import dataclasses
import inspect
import re

import pytest

import nuggetjudge as nj

MODULES = {"nj": nj, "nj.metrics": nj.metrics}
NAMES = [(module, name) for module, given in MODULES.items() for name in given.__all__]
SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Warns|Source|Differs|Example):")
ENTRY = re.compile(r" {4}(\w+(?:, \w+)*):")


def read_sections(docstring):
    """Return the lines of each section, by its name."""
    sections, name = {}, ""
    for line in inspect.cleandoc(docstring).split("\n"):
        if found := SECTION.match(line):
            name = found[1]
        elif line and not line.startswith(" "):
            name = ""
        sections.setdefault(name, []).append(line)
    return sections


def list_parameters(thing):
    """Return the names that a caller gives or, for a dataclass, reads."""
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing)]
    parameters = inspect.signature(thing).parameters
    return [name for name in parameters if name != "self"]


def find_gaps(thing):
    """Return what the docstring of a function or class lacks."""
    docstring = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    if not docstring or docstring.startswith(f"{thing.__name__}("):  # a dataclass writes its own
        return ["a docstring"]
    sections = read_sections(docstring)
    summary = docstring.partition("\n\n")[0].strip()
    gaps = [] if summary.endswith(".") and "\n" not in summary else ["a summary in one sentence"]
    lines = sections.get("Args", []) + sections.get("Attributes", [])
    described = {n for line in lines if (e := ENTRY.match(line)) for n in e[1].split(", ")}
    gaps += [f"{name} under Args" for name in list_parameters(thing) if name not in described]
    if inspect.isfunction(thing):
        gaps += [] if "Returns" in sections else ["Returns"]
        gaps += [] if ">>> " in docstring else ["an example"]
    return gaps


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_describes_its_arguments_and_has_an_example(module, name):
    thing = getattr(MODULES[module], name)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        pytest.skip("a module or a constant")
    assert find_gaps(thing) == []


def test_a_fault_is_found():
    def half(one, other):
        """Add numbers.

        Args:
            one: a number.
        """

    assert find_gaps(half) == ["other under Args", "Returns", "an example"]
