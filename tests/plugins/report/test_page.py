"""The file of a report: what is large in it is packed, and comes back as it was."""

import base64
import gzip
import json
import re

import pytest

from nuggetjudge.plugins.report.page import write_packed_island


@pytest.mark.parametrize(("n", "kind"), [(10, "application/json"), (10_000, "application/gzip")])
def test_data_of_any_size_comes_back_and_cannot_end_its_element(n, kind):
    given = {"texts": [f"</script><b>{i}\u2028" for i in range(n)]}
    text = write_packed_island("data-x", given)
    match = re.fullmatch(r'<script type="([\w/]+)" id="data-x">([^<]*)</script>\n', text)
    assert match is not None
    assert match[1] == kind
    body = match[2]
    if kind.endswith("gzip"):
        body = gzip.decompress(base64.b64decode(body)).decode()
        assert len(text) < len(body) / 2
    assert json.loads(body) == given
