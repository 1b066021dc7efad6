"""Sections about what was retrieved.

They may import report/source.py and what that may; sections.py names them.
"""
