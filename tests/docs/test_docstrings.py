"""The public names of Python are documented: the reference is made from their docstrings.

Each function and class has a summary and describes every parameter; a function also says what it
returns, and has an example that tests/test_doctests.py runs. Classes of judges and programs have an
example, too, and their methods and functions name the errors that they raise.
"""

import ast
import dataclasses
import enum
import functools
import importlib
import inspect
import re
import textwrap

import pytest

import nuggetjudge as nj

MODULES = {"nj": nj, "nj.metrics": nj.metrics}
# Those that a judge or a task of another package imports: their classes are checked in full.
BASES = (
    "nuggetjudge.judges",
    "nuggetjudge.programs.protocols.program",
    "nuggetjudge.programs.protocols.judged_items",
    "nuggetjudge.programs.engine.stage",
    "nuggetjudge.programs.engine.label_sheet",
    "nuggetjudge.programs.inputs",
)
MODULES |= {name: importlib.import_module(name) for name in BASES}
NAMES = [(module, name) for module, given in MODULES.items() for name in given.__all__]
OF_ENTRY_POINTS = {  # docs/reference/entry-points.md
    "nuggetjudge.judges.table": ("Kind", "Variant"),
    "nuggetjudge.programs.config.base": ("Input", "JudgeSettings", "Section"),
    "nuggetjudge.programs.partial": ("OtherFolder",),
    "nuggetjudge.records.kinds": ("Kind",),
}
SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Warns|Source|Differs|Example):")
ENTRY = re.compile(r" {4}(\w+(?:, \w+)*):")
# Made for a task; the examples of `Program` and `load_collection` read them.
MADE_FOR_YOU = ("Collection", "Run")
PROPERTIES = (property, functools.cached_property)
KINDS = {"JudgeOutputError": "JudgeError", "NotImplementedError": ""}  # "": needs no name
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


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
    """Return the names that a caller gives or, for a class of fields, reads."""
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing)]
    if fields := getattr(thing, "model_fields", None) or getattr(thing, "_fields", None):
        return list(fields)
    if is_protocol(thing):
        return []
    if not inspect.isclass(thing):
        return [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]
    names, rest = [], []
    for base in thing.__mro__:
        if base.__module__.startswith("nuggetjudge") and "__init__" in vars(base):
            given = list(inspect.signature(base.__init__).parameters.values())[1:]
            rest = [
                each.name for each in given if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
            ]
            names += [each.name for each in given if each.name not in rest]
            if not rest:
                break
    return names + rest


def is_protocol(thing):
    """Return whether a class is a typing.Protocol, whose constructor Python writes."""
    return getattr(thing, "_is_protocol", False)


def read_docstring(thing):
    """Return the docstring that a function or class has itself, "" for one written by dataclass."""
    docstring = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    is_made = docstring and docstring.startswith(f"{thing.__name__}(")
    return "" if is_made else docstring or ""


def find_gaps(thing, is_base=False):
    """Return what the docstring of a function or class lacks.

    Args:
        is_base: check the errors of functions, and the examples and methods of classes, too.
    """
    docstring = read_docstring(thing)
    if not docstring:
        return ["a docstring"]
    gaps = find_missing_parts(docstring)
    if inspect.isclass(thing) and issubclass(thing, enum.Enum):
        return gaps  # a model reads this docstring: it is part of prompts
    gaps += find_undescribed(thing, docstring)
    if inspect.isfunction(thing):
        gaps += find_missing_results(thing, docstring)
    has_example = ">>> " in docstring or (inspect.isclass(thing) and not is_base)
    gaps += [] if has_example or thing.__name__ in MADE_FOR_YOU else ["an example"]
    if not is_base:
        return gaps
    if inspect.isfunction(thing):
        return gaps + find_unnamed_errors(thing, docstring)
    if "__init__" in vars(thing) and not (dataclasses.is_dataclass(thing) or is_protocol(thing)):
        gaps += find_unnamed_errors(thing.__init__, docstring)
    return gaps + [gap for name in list(vars(thing)) for gap in find_gaps_of_method(thing, name)]


def find_missing_parts(docstring):
    """Return whether the docstring lacks a summary."""
    summary = docstring.partition("\n\n")[0].strip()
    return [] if summary.endswith(".") and "\n" not in summary else ["a summary in one sentence"]


def find_undescribed(thing, docstring):
    """Return the parameters that the docstring does not describe."""
    sections = read_sections(docstring)
    lines = sections.get("Args", []) + sections.get("Attributes", [])
    described = {n for line in lines if (e := ENTRY.match(line)) for n in e[1].split(", ")}
    return [f"{name} under Args" for name in list_parameters(thing) if name not in described]


def find_missing_results(function, docstring):
    """Return whether the docstring lacks what a function returns."""
    returns = inspect.signature(function).return_annotation
    return [] if returns in (None, "None") or "Returns" in read_sections(docstring) else ["Returns"]


def find_unnamed_errors(function, docstring):
    """Return the errors that a function raises itself, and that the docstring does not name."""
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    inner = [f for f in ast.walk(tree) if f is not tree and isinstance(f, FUNCTIONS)]
    skipped = {node for each in inner for node in ast.walk(each)}
    raised = [n.exc for n in ast.walk(tree) if isinstance(n, ast.Raise) and n not in skipped]
    calls = [each.func for each in raised if isinstance(each, ast.Call)]
    names = {each.id for each in calls if isinstance(each, ast.Name) and each.id[0].isupper()}
    kinds = {KINDS.get(name, name) for name in names}
    return [f"{name} under Raises" for name in sorted(kinds) if name not in docstring]


def find_gaps_of_method(kind, name):
    """Return what the docstring of a public method lacks; an override may leave it to its base."""
    member = vars(kind)[name]
    method = getattr(member, "func", None) or getattr(member, "fget", None)
    method = method or getattr(member, "__func__", member)
    is_own = inspect.isfunction(method) and method.__qualname__ == f"{kind.__qualname__}.{name}"
    if name.startswith("_") or not is_own:
        return []
    docstring = method.__doc__ or ""
    if not docstring or docstring.startswith("See "):
        bases = [vars(base).get(name) for base in kind.__mro__[1:]]
        is_inherited = any(base is not None and base.__doc__ for base in bases)
        return [] if is_inherited else [f"{name}: a docstring"]
    gaps = find_missing_parts(docstring) + find_undescribed(method, docstring)
    is_said = isinstance(member, PROPERTIES) or docstring.startswith(("Return ", "Yield "))
    gaps += [] if is_said else find_missing_results(method, docstring)
    gaps += find_unnamed_errors(method, docstring + read_docstring(kind))
    return [f"{name}: {gap}" for gap in gaps]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_describes_its_arguments_and_has_an_example(module, name):
    thing = getattr(MODULES[module], name)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        pytest.skip("a module or a constant")
    assert find_gaps(thing, is_base=module in BASES) == []


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, names in OF_ENTRY_POINTS.items() for name in names],
)
def test_a_class_of_an_entry_point_is_described(module, name):
    assert find_gaps(getattr(importlib.import_module(module), name), is_base=True) == []


def test_a_fault_is_found():
    def half(one, other):
        """Add numbers.

        Args:
            one: a number.
        """

    assert find_gaps(half) == ["other under Args", "Returns", "an example"]


def test_a_fault_of_a_class_and_of_its_methods_is_found():
    class Half:
        """Adds numbers.

        Args:
            one: a number.
        """

        def __init__(self, one, other):
            self.sum = one + other

        def add(self, more):
            """Add a number."""
            if more is None:
                raise ValueError("wanted a number")
            return self.sum + more

        def take(self):
            return self.sum

        @property
        def total(self):
            """Return the sum."""
            return self.sum

    Half.__module__ = "nuggetjudge.half"
    of_add = ["add: more under Args", "add: Returns", "add: ValueError under Raises"]
    assert find_gaps(Half, is_base=True) == [
        "other under Args",
        "an example",
        *of_add,
        "take: a docstring",
    ]
