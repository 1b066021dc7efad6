"""Annexes, a folder each: the core works without them and may import none of them.

Each comes in by entry points of pyproject.toml, as a package of anybody else does.
"""
