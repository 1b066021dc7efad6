"""The command `judge`: reads arguments, calls one program, prints; parts load when used. Imports
every folder below; none may import it."""


def main() -> None:
    """Run the command line, which SIGTERM ends with 143 from here on."""
    import os
    import signal

    def end(number: int, frame: object) -> None:
        os._exit(143)  # nothing is to be put away, and loading modules may keep what is raised

    signal.signal(signal.SIGTERM, end)
    try:
        from .app import main as run

        run()
    finally:
        signal.signal(signal.SIGTERM, end)


__all__ = ["main"]
