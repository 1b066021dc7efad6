"""Files written for one test, and what a reader found wrong in them."""

from record_fixtures import kinds, problems, write

__all__ = ["kinds", "problems", "write"]
