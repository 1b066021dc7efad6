"""Optional parts, one folder each. The core works without them and never imports them.

Entry points in pyproject.toml connect them to the core, as they connect any other package.
"""
