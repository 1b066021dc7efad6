"""`python -m nuggetjudge` is the command `judge`."""

from .cli import main

if __name__ == "__main__":
    main()
