"""A cascade fitted to stored labels, and what it is worth, without asking anything.

Imports programs, judges and metrics, and how a jury's votes are read; the command imports this.
"""
