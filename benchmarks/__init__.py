"""Cost of the client, without the model: `python -m benchmarks` (docs/benchmarks/speed.md)."""
