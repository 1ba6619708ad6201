"""From a file name in a report to a file of the repository.

A report names sources as the compiler saw them (``/build/src/a.cu``); a pull request knows ``src/a.cu``. The file of
the repository whose path agrees with the longest tail of the name is the one meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from triage.paths import walk

# A repository larger than this is searched no further: the name alone is used.
_MOST_FILES = 50_000
_NEVER = frozenset({"node_modules", "build", "dist", "__pycache__", "venv"})


class Places:
    """The files under ``root``, listed once when the first name is asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._by_name: dict[str, list[tuple[str, ...]]] | None = None

    def relative(self, file: str) -> str | None:
        """The path of ``file`` under the root, with slashes; ``None`` where no file of the repository is meant, or
        several are equally likely."""
        parts = _parts(file)
        if not parts:
            return None
        if Path(file).is_absolute():
            try:
                inside = Path(file).resolve().relative_to(self.root.resolve())
                if Path(file).is_file():
                    return inside.as_posix()
            except (OSError, ValueError):
                pass
        ranked = sorted((-_tail(candidate, parts), candidate) for candidate in self._named(parts[-1]))
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        return "/".join(ranked[0][1])

    def shown(self, file: str) -> str:
        """The path under the root, else the bare file name: a path of another machine helps nobody."""
        return self.relative(file) or (_parts(file) or ("unknown",))[-1]

    def _named(self, name: str) -> list[tuple[str, ...]]:
        if self._by_name is None:
            self._by_name = {}
            seen = 0
            for folder, below, files in walk(self.root):
                below[:] = [one for one in below if not one.startswith(".") and one not in _NEVER]
                inside = Path(folder).relative_to(self.root).parts
                for one in files:
                    self._by_name.setdefault(one, []).append((*inside, one))
                seen += len(files)
                if seen > _MOST_FILES:
                    break
        return self._by_name.get(name, [])


def _parts(file: str) -> tuple[str, ...]:
    """The parts of a POSIX or Windows path, without root, drive, ``.`` and ``..``."""
    path = PureWindowsPath(file) if "\\" in file else PurePosixPath(file)
    return tuple(part for part in path.parts if part not in (path.anchor, ".", ".."))


def _tail(candidate: Sequence[str], parts: Sequence[str]) -> int:
    """How many trailing parts agree."""
    count = 0
    for ours, theirs in zip(reversed(candidate), reversed(parts), strict=False):
        if ours != theirs:
            break
        count += 1
    return count
