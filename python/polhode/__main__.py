"""The program: ``python -m polhode run fast-top``."""

from __future__ import annotations

import signal
import sys

from . import _polhode


def main() -> int:
    """Runs the program with the words of the command line."""
    # Its own handlers take requests to stop.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _polhode.run_program(["polhode", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
