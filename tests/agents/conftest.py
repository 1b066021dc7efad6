"""The program of tests/seeking.py, known while a test runs."""

from seeking import add_seek

__all__ = ["add_seek"]
