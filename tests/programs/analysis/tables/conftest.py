"""What tables of analyses have to do in any window."""

import pytest

from nuggetjudge.views.terminal import Terminal, view_text


@pytest.fixture
def check_fits():
    """No line is longer than the window, and every word of the verdict and of heads is whole."""

    def check(view):
        for width in (60, 80, 120):
            lines = view_text(view, Terminal(width)).splitlines()
            assert max(map(len, lines)) <= width, (width, max(lines, key=len))
            words = {word for line in lines for word in line.split()}
            assert set(view.verdict.split()) <= words
        assert view.verdict.endswith(".")

    return check
