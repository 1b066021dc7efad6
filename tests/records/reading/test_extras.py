import json

import pytest

from nuggetjudge.records.reading.problems import InputError, need


def test_what_is_installed_is_imported():
    assert need("json", "dense") is json


def test_what_is_not_installed_is_named_with_the_extra_that_brings_it():
    with pytest.raises(InputError) as caught:
        need("no_such_library.part", "dense")
    assert str(caught.value) == (
        "no_such_library is not installed: "
        "pip install '.[dense]' in the folder of nuggetjudge's source"
    )


def test_a_library_that_lacks_one_of_its_own_is_told_by_the_one_that_is_missing(
    tmp_path, monkeypatch
):
    (tmp_path / "half_installed.py").write_text("import its_missing_half\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"its_missing_half is not installed: .*\[lucene\]"):
        need("half_installed", "lucene")
