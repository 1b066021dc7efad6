"""What only a browser can measure: run in its own environment, which `make test-browser` makes.

`.venv-browser/bin/python -m benchmarks.browser`; nothing imports it.
"""
