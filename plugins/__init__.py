"""Annexes: what comes to the core by entry points alone (docs/architecture.md). Each may import the
core; nothing of the core imports them."""
