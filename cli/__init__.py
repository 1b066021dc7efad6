"""The command `judge`: reads arguments, calls one program, prints; parts load when used. Imports
every folder below; none may import it."""

from .app import main

__all__ = ["main"]
