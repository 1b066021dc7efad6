"""The command `judge`: reads arguments, calls one program, prints; parts load when used."""

from .app import main

__all__ = ["main"]
