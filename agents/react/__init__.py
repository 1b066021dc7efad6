"""Agents without a fixed plan: a model chooses each turn's tool, of a schema that holds no other.
Imports `agents` and judges; programs may import it."""
