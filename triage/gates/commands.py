"""``triage check`` and ``triage baseline``. Mounted by :mod:`triage.cli`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triage.compare.commands import Cutoffs, KernelGlob, LaunchRange, RuleFolders

if TYPE_CHECKING:
    from triage.gates.model import Config, Result
    from triage.rules.rulebook import Rulebook

File = Annotated[Path, typer.Argument(help="The report to check.", show_default=False)]
Base = Annotated[Path | None, typer.Option("--baseline", help="A baseline file or a report to compare with.")]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="The triage.yaml with the gates [default: found upwards from here].")
]
SarifFile = Annotated[
    Path | None, typer.Option("--sarif", help="Also write the findings as SARIF 2.1.0 ('-': standard output).")
]
JunitFile = Annotated[
    Path | None, typer.Option("--junit", help="Also write the gates as JUnit XML ('-': standard output).")
]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", help="Also write the summary as Markdown ('-': standard output).")
]
Github = Annotated[
    bool | None,
    typer.Option("--github/--no-github", help="Annotations and step summary [default: within GitHub Actions]."),
]
Root = Annotated[Path, typer.Option("--source-root", help="The repository, to which source paths are relative.")]
Target = Annotated[Path, typer.Option("-o", "--output", help="The baseline file to write ('-': standard output).")]


def check(
    file: File,
    baseline: Base = None,
    config: ConfigFile = None,
    sarif: SarifFile = None,
    junit: JunitFile = None,
    markdown: Markdown = None,
    github: Github = None,
    source_root: Root = Path(),
    rules: RuleFolders = [],  # noqa: B006 - Typer copies it
    profile: Cutoffs = None,
) -> None:
    """Hold a report against the gates of triage.yaml: exit code 10 and one line for each that is violated."""
    from triage import commands
    from triage.compare.commands import raise_if_failed
    from triage.errors import FaultyRules, UsageError
    from triage.gates import output
    from triage.output import is_standard
    from triage.paths import is_dir

    try:
        rulebook = commands.rulebook(rules, profile)
    except FaultyRules:
        # The faults of the file with the gates come first, and all at once.
        configured(config)
        raise
    if not is_dir(source_root):
        raise UsageError(f"the folder {source_root} does not exist", "give --source-root the root of the repository")
    gates = configured(config, rulebook)
    read = [path for path in (config, base_of(baseline, gates)) if path is not None]
    commands.claim([sarif, junit, markdown], [file], [*rules, *read])
    made = judged(file, base_of(baseline, gates), gates, rulebook)
    # A document on standard output stands there alone: what is said beside it goes to standard error.
    aside = any(map(is_standard, (sarif, junit, markdown)))
    output.files(made, source_root, sarif=sarif, junit=junit, markdown=markdown)
    if github if github is not None else os.environ.get("GITHUB_ACTIONS") == "true":
        output.github(made, source_root, aside=aside)
    output.conclude(made, aside=aside)
    raise_if_failed(made.head)


def baseline(
    file: File,
    output: Target = Path("triage-baseline.yaml"),
    launches: LaunchRange = None,
    kernel: KernelGlob = None,
    rules: RuleFolders = [],  # noqa: B006 - Typer copies it
    profile: Cutoffs = None,
) -> None:
    """Write the small text file that `triage check` compares with: commit it, review its diff."""
    from triage import commands
    from triage.compare import commands as comparing
    from triage.compare.selection import parse
    from triage.gates import baseline as text

    commands.claim([output], [file], rules)
    rulebook = commands.rulebook(rules, profile)
    snapshot = comparing.read(file, rulebook, parse(launches)[0], kernel)
    comparing.write(text.dump(snapshot), output)


def configured(path: Path | None, rulebook: Rulebook | None = None) -> Config:
    """The gates in force: those of the file given, else of the nearest triage.yaml, else the defaults. With a
    ``rulebook``, limiters that it cannot say are faults."""
    from triage.gates import config

    limiters = rulebook.limiters if rulebook is not None else None
    return config.load(path if path is not None else config.find(), limiters)


def base_of(asked: Path | None, config: Config) -> Path | None:
    """What to compare with: as asked, else as the gates say."""
    return asked or (Path(config.baseline) if config.baseline else None)


def judged(file: Path, base: Path | None, config: Config, rulebook: Rulebook) -> Result:
    """Read both sides and ask every gate."""
    from triage.compare.commands import read
    from triage.gates.judge import check as ask

    before = read(base, rulebook) if base is not None else None
    return ask(read(file, rulebook), before, config, rulebook)
