"""Entry point: ``triage`` and ``python -m triage``."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command line."""
    from triage import streams

    streams.prepare()
    # The version is told before anything heavy is imported.
    sys.exit(streams.finish(_version if sys.argv[1:] == ["--version"] else _command))


def _version() -> int:
    from triage import __version__

    print(f"triage {__version__}")
    return 0


def _command() -> int:
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        # Whoever ends us (a CI runner at its time limit) gets what Ctrl-C gets: drafts removed, children ended.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    from triage.cli import run

    return run()


if __name__ == "__main__":
    main()
