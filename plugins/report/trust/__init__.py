"""Sections that say how far the judge can be trusted, and what is missing.

They may import report/source.py and what that may; sections.py names them.
"""
