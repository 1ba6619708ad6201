"""The command line: parse, call one function, choose the exit code. No logic."""

from __future__ import annotations

import sys
import traceback
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from triage import __version__, commands
from triage.compare.commands import KernelGlob, diff
from triage.driver.commands import app as kernels_app
from triage.errors import TriageError
from triage.export import export
from triage.gates.commands import baseline, check
from triage.ncu.commands import PROFILE_CONTEXT, doctor, profile
from triage.rules.commands import docs, lint, schema
from triage.validate.commands import validate

app = typer.Typer(
    name="triage",
    help="Names what limits a CUDA kernel: reads any Nsight Compute report, says how it knows and what to try first.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
)
rules_app = typer.Typer(no_args_is_help=True, help="List, show, check, test and document the rules in force.")
app.add_typer(rules_app, name="rules")
app.add_typer(kernels_app, name="kernels")
app.command(context_settings=PROFILE_CONTEXT)(profile)
app.command()(doctor)
for command in (diff, check, baseline, export):
    app.command()(command)
for function in (lint, docs, schema):
    rules_app.command()(function)
app.command()(validate)


class Format(StrEnum):
    """Output formats of a report."""

    html = "html"
    md = "md"
    json = "json"
    text = "text"
    sarif = "sarif"


Files = Annotated[list[Path], typer.Argument(help=".ncu-rep, .ncu-repz or CSV exported by ncu.", show_default=False)]
Rules = Annotated[list[Path], typer.Option("--rules", help="A folder of rule files laid over the shipped ones.")]
Thresholds = Annotated[
    str | None, typer.Option("--profile", help="Threshold profile: guide, playbook or one of the team's.")
]
Roofs = Annotated[list[Path], typer.Option("--roofs", help="Measured roofs, from `triage kernels bench`.")]
SourceMaps = Annotated[
    list[str],
    typer.Option("--source-map", metavar="FROM=TO", help="Read source known as FROM/... below the folder TO."),
]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file ('-': standard output).")]


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", is_eager=True, help="Print the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Options of every command."""
    if version:
        typer.echo(f"triage {__version__}")
        raise typer.Exit


@app.command()
def report(
    files: Files,
    format_: Annotated[Format | None, typer.Option("-f", "--format", help="Output format [default: text].")] = None,
    output: Output = None,
    kernel: KernelGlob = None,
    rules: Rules = [],  # noqa: B006 - Typer copies it
    thresholds: Thresholds = None,
    roofs: Roofs = [],  # noqa: B006
    source_map: SourceMaps = [],  # noqa: B006
) -> None:
    """Name the limiter of every kernel of a report.

    Prints one sentence a kernel; with -o the suffix chooses the format (.html, .md, .json, .txt).
    """
    rulebook = commands.rulebook(rules, thresholds)
    output, chosen = commands.wanted_form(output, format_, page=Path(f"{files[0].stem}.html"))
    commands.claim([output], files, [*rules, *roofs])
    said, whole = commands.said(sys.argv), chosen == "html"
    made = commands.diagnosed(files, rulebook, command=said, every_metric=whole, kernel=kernel)
    made = commands.completed(made, roofs, source_map)
    commands.say_written(commands.render_to(made, chosen, output))
    commands.raise_if_failed(made)


@app.command()
def explain(
    file: Annotated[Path, typer.Argument(help="A report.", show_default=False)],
    kernel: Annotated[str, typer.Option("--kernel", "-k", help="Index of the kernel, or a part of its name.")] = "0",
    rules: Rules = [],  # noqa: B006 - Typer copies it
    thresholds: Thresholds = None,
) -> None:
    """Show the walk along the decision path for one kernel, step by step."""
    rulebook = commands.rulebook(rules, thresholds)
    commands.explain(commands.diagnosed([file], rulebook, command=commands.said(sys.argv)), kernel, rulebook)


@app.command()
def demo(output: Output = None) -> None:
    """Make the report of a bundled capture: transposes on an H200. Needs no GPU."""
    rules = commands.rulebook([], None)
    made = commands.diagnosed([commands.demo_files()], rules, command="triage demo")
    commands.render_to(made, "text", None)
    commands.say_written(commands.render_to(made, "html", output or Path("triage-demo.html")))


@rules_app.command("list")
def rules_list(rules: Rules = [], thresholds: Thresholds = None) -> None:  # noqa: B006 - Typer copies it
    """List the limiters: id, family, title."""
    commands.list_rules(commands.rulebook(rules, thresholds))


@rules_app.command("show")
def rules_show(
    name: Annotated[str, typer.Argument(help="Id of a limiter, question, fact or threshold.", show_default=False)],
    rules: Rules = [],  # noqa: B006 - Typer copies it
    thresholds: Thresholds = None,
) -> None:
    """Show one rule (or question, fact, threshold): what it means, when it fires, with which numbers from where."""
    commands.show_rule(commands.rulebook(rules, thresholds), name)


@rules_app.command("test")
def rules_test(rules: Rules = [], thresholds: Thresholds = None) -> None:  # noqa: B006 - Typer copies it
    """Run the tests that the rule files hold."""
    typer.echo(commands.test_rules_or_fail(rules, thresholds))


def run() -> int:
    """Run the command line and return the exit status; errors are one line and a hint, never a traceback."""
    debug = "--debug" in sys.argv
    try:
        status = app(standalone_mode=False, prog_name="triage")
        sys.stdout.flush()
    except TriageError as error:
        commands.report_error(error)
        if debug:
            traceback.print_exception(error)
        return error.exit_code
    except typer.Exit as done:
        return int(done.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        print("triage: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return commands.closed_pipe()
    except OSError as error:
        return commands.machine_fault(error, debug)
    except Exception as error:
        return commands.unexpected(error, debug)
    if status == 130:
        # Newer versions of Typer turn Ctrl-C into a status.
        print("triage: interrupted", file=sys.stderr)
    return status if isinstance(status, int) else 0
