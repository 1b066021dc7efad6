"""Annexes: what comes to the core by entry points alone (docs/architecture.md)."""
