"""The command `judge`: reads arguments, runs a task or tool, prints. Parts load when used. This
package may import every folder below; none may import it."""


def main() -> None:
    """Run the command line. From here on SIGTERM ends the process with exit code 143."""
    import os
    import signal

    def end(number: int, frame: object) -> None:
        os._exit(143)  # nothing to clean up, and an exception could get lost during imports

    signal.signal(signal.SIGTERM, end)
    try:
        from .app import main as run

        run()
    finally:
        signal.signal(signal.SIGTERM, end)


__all__ = ["main"]
