"""Where a run puts its files, and that it can."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from triage.errors import UsageError
from triage.ncu.ranks import Rank

_SUFFIXES = {"html": ".html", "json": ".json", "md": ".md", "sarif": ".sarif", "text": ".txt"}


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one run: ``folder/stem.*``, with the rank in the name where there are several."""

    folder: Path
    stem: str
    rank: Rank | None = None

    @property
    def base(self) -> Path:
        """The common part, without a rank."""
        return self.folder / self.stem

    @property
    def name(self) -> str:
        return self.stem + (self.rank.suffix if self.rank else "")

    @property
    def report(self) -> Path:
        """The report that ncu writes."""
        return self.folder / f"{self.name}.ncu-rep"

    @property
    def log(self) -> Path:
        """What ncu said in the profiling run."""
        return self.folder / f"{self.name}.ncu.log"

    @property
    def survey_log(self) -> Path:
        """What ncu said in the survey run; the durations of all launches stand in it."""
        return self.folder / f"{self.name}.survey.log"

    def page(self, format: str) -> Path:
        """The report in ``format``."""
        return self.folder / f"{self.name}{_SUFFIXES.get(format, '.' + format)}"

    @property
    def table(self) -> Path:
        """The report as ncu turns it into a CSV, where it cannot be read directly."""
        return self.folder / f"{self.name}.csv"

    @property
    def taken(self) -> bool:
        """Whether something stands where one of the files is to be: an earlier report, a file that the user keeps there
        (app.json), or a folder or a pipe in the place of a log."""
        own = (self.report, self.table, *map(self.page, _SUFFIXES))
        return any(path.exists() for path in own) or (self.survey_log.exists() and not self.survey_log.is_file())


def program_name(program: Sequence[str]) -> str:
    """A file name for a program: its base name, or that of the script that an interpreter runs."""
    words = list(program)
    name = Path(words[0]).name
    if re.fullmatch(r"python[\d.]*|torchrun|bash|sh", name):
        scripts = [word for word in words[1:] if word.endswith((".py", ".sh"))]
        module = words[words.index("-m") + 1 : words.index("-m") + 2] if "-m" in words else []
        name = Path((scripts or module or [name])[0]).name
    stem = re.sub(r"\.(py|sh|exe|out)$", "", name)
    return re.sub(r"[^\w.+-]", "_", stem).strip(".") or "program"


def reserve(folder: Path, program: Sequence[str], rank: Rank | None) -> Files:
    """A fresh name in ``folder``, which is made where it is missing: ``app``, then ``app.2``, ``app.3`` ... so that
    no earlier report is overwritten. Raises ``UsageError`` when nothing can be written there."""
    if "%" in str(folder):
        raise UsageError(f"the folder {folder} has a % in its name, which ncu would replace", "choose another --output")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stem = program_name(program)
        for number in range(1, 100_000):
            files = Files(folder, stem if number == 1 else f"{stem}.{number}", rank)
            if not files.taken and _claim(files.log):
                return files
    except OSError as fault:
        raise UsageError(f"cannot write to {folder}: {fault.strerror}", "choose a folder with --output") from fault
    raise UsageError(f"{folder} is full of reports of {stem}", "choose another folder with --output")


def _claim(log: Path) -> bool:
    try:
        os.close(os.open(log, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        return False
    return True
