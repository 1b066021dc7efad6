"""What the client costs beside the model: `python -m benchmarks`; see docs/benchmarks/speed.md."""
