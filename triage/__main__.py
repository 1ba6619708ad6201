"""Entry point: ``triage`` and ``python -m triage``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; ``--version`` alone answers before anything heavy is imported."""
    if sys.argv[1:] == ["--version"]:
        from triage import __version__

        print(f"triage {__version__}")
        return
    from triage.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
