"""``triage kernels``: list, build, run and bench the transposes and the calibration kernels."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="The transposes and the calibration kernels: list, build, run, bench.")


class Dtype(StrEnum):
    """Element types of the transposes."""

    FLOAT = "float"
    HALF = "half"
    DOUBLE = "double"


Names = Annotated[
    list[str] | None, typer.Argument(help="Variants or kinds, such as padded_32 or padded. Default: all.")
]
Programs = Annotated[list[str] | None, typer.Argument(help="Programs or folders below kernels/. Default: all.")]
Size = Annotated[int | None, typer.Option("--size", "-n", help="Rows and columns of a square matrix.")]
Rows = Annotated[int | None, typer.Option(help="Rows of the input, together with --cols.")]
Cols = Annotated[int | None, typer.Option(help="Columns of the input, together with --rows.")]
Built = Annotated[Path, typer.Option("--build", help="Folder with the cubins that `build` made.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_kernels(as_json: AsJson = False) -> None:
    """Show the programs, their kernels, and what a profile of each transpose should say."""
    from triage.driver import pages, sources

    show = pages.program_json if as_json else pages.program_list
    typer.echo(show(sources.programs()))


@app.command()
def build(
    names: Programs = None,
    arch: Annotated[
        list[str] | None, typer.Option("--arch", "-a", help="sm_90, 90 or 9.0; repeatable. Default: GPU 0.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the programs and cubins.")] = Path(
        "build-kernels"
    ),
    debug: Annotated[bool, typer.Option("--debug", "-G", help="Debug build, for cuda-gdb; never measure one.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the command lines, run nothing.")] = False,
) -> None:
    """Compile the programs with nvcc: machine code and line information for the local GPU or for named ones."""
    from triage.driver import nvcc, session

    for job in session.build(names or [], arch or [], output, debug=debug):
        typer.echo(nvcc.shown(job))
        if not dry_run:
            nvcc.run(job)


@app.command()
def run(
    names: Names = None,
    size: Size = None,
    rows: Rows = None,
    cols: Cols = None,
    dtype: Annotated[list[Dtype] | None, typer.Option(help="Element type; repeatable. Default: all three.")] = None,
    folder: Built = Path("build-kernels"),
) -> None:
    """Launch the transposes once and check them: on one shape, or on a list of awkward ones."""
    from triage.driver import pages, session, shapes

    shape = shapes.requested(size, rows, cols)
    results = session.check(names or [], [d.value for d in dtype or Dtype], shape, folder)
    typer.echo(pages.check_table(results))
    session.judge_check(results, max(s.elements for s in ((shape,) if shape else shapes.CHECK_SHAPES)))


@app.command()
def bench(
    names: Names = None,
    size: Size = None,
    rows: Rows = None,
    cols: Cols = None,
    dtype: Annotated[Dtype, typer.Option(help="Element type.")] = Dtype.FLOAT,
    reps: Annotated[int, typer.Option(help="Launches that count, for each kernel.")] = 100,
    warmup: Annotated[int, typer.Option(help="Launches before them that do not.")] = 10,
    rotate: Annotated[bool, typer.Option("--rotate", help="Take turns with buffers larger than L2.")] = False,
    sweep: Annotated[bool, typer.Option("--sweep", help="Try every tile and block of the kinds named.")] = False,
    peers: Annotated[bool, typer.Option("--peers/--no-peers", help="Measure cuBLAS, CuPy and PyTorch beside.")] = True,
    roofs: Annotated[Path | None, typer.Option(help="File for the measured roofs.")] = Path("triage-roofs.json"),
    no_roofs: Annotated[bool, typer.Option("--no-roofs", help="Write no roofs file.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the measurement as JSON.")] = None,
    folder: Built = Path("build-kernels"),
    cubin: Annotated[Path | None, typer.Option(help="Measure this cubin instead.")] = None,
) -> None:
    """Time the transposes against a device copy and the libraries, in one run, and write the measured roofs."""
    from triage import output
    from triage.driver import pages, session, shapes
    from triage.driver.bench import Setup
    from triage.errors import UsageError

    if output.is_standard(json_file) or (not no_roofs and output.is_standard(roofs)):
        raise UsageError("standard output carries the table of the measurement", "name a file for --json and --roofs")
    output.claim([None if no_roofs else roofs, json_file], others=[cubin] if cubin else [])
    shape = shapes.requested(size, rows, cols) or shapes.Shape(4096, 4096)
    setup = Setup(shape, dtype.value, reps, warmup, rotate)
    chosen = names or []
    result = session.sweep(chosen, setup) if sweep else session.measure(chosen, setup, peers, folder, cubin)
    typer.echo(pages.bench_text(result))
    session.save(result, None if no_roofs else roofs, json_file)
    session.judge_bench(result)
