"""W8: other tools at the same work: `bench` measures, `clients` runs in each tool's environment.

The list of benchmarks may import it.
"""
