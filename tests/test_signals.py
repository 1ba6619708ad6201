"""Being told to end: one line, an exit code, no draft and no process left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from captures import DATA

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
CAPTURE = DATA / "limiters_h200.csv"
ROOT = Path(__file__).parent.parent
# Of 30 kernels each: more than are told in full, so that workers read them.
FILES = 60


def as_from_a_terminal() -> None:
    """A shell that runs in the background has interrupts ignored, nohup hang-ups, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def start(*words: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "triage", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(cwd)},
        preexec_fn=as_from_a_terminal,
    )  # fmt: skip


def below(pid: int) -> list[int]:
    from triage.ncu.processes import descendants

    return descendants(pid)[1:]


def alive(pid: int) -> bool:
    """Whether a process is there and no mere entry that nobody asked for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def with_workers(folder: Path) -> subprocess.Popen[str]:
    """A report over many files, once its workers are at work."""
    for number in range(FILES):
        shutil.copy(CAPTURE, folder / f"r{number}.csv")
    child = start("report", ".", "-f", "html", "-o", "r.html", cwd=folder)
    until = time.monotonic() + 60
    while len(below(child.pid)) < 2 and child.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    if child.poll() is not None:
        child.communicate()
        pytest.skip("too little memory or too few cores here for workers")
    return child


def test_an_interrupt_while_the_command_line_is_still_being_loaded(tmp_path: Path) -> None:
    # The modules take a quarter of a second; an impatient Ctrl-C falls there.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'triage.commands':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    words = [sys.executable, "-m", "triage", "rules", "list"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "triage: interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_runner_at_its_time_limit_ends_everything(number: signal.Signals, tmp_path: Path) -> None:
    child = with_workers(tmp_path)
    workers = below(child.pid)
    os.kill(child.pid, number)
    # Both pipes end: whoever reads them (tee, a test) goes on.
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130 and said.splitlines()[-1] == "triage: interrupted"
    assert "Traceback" not in said and "leaked" not in said
    until = time.monotonic() + 20
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, workers))
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".csv") in ([], ["r.html"])


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    child = with_workers(tmp_path)
    os.kill(child.pid, signal.SIGKILL)
    begun = time.monotonic()
    child.communicate(timeout=60)
    assert time.monotonic() - begun < 20


def test_ignored_signals_stay_ignored(tmp_path: Path) -> None:
    # nohup
    done = subprocess.run(
        ["bash", "-c", f"trap '' HUP; {sys.executable} -m triage --version; kill -HUP $$; {sys.executable} -c "
         "'import signal; from triage import __main__, cli; cli.run = lambda: 0; __main__._command(); "
         "print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)'"],
        capture_output=True, text=True, timeout=60, check=True, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout.endswith("True\n")


def test_a_folder_of_reports_runs_no_code(tmp_path: Path) -> None:
    for name in ("multiprocessing", "pickle", "enum", "threading"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise SystemExit(3)\n")
    for number in range(FILES):
        shutil.copy(CAPTURE, tmp_path / f"r{number}.csv")
    triage = shutil.which("triage", path=str(Path(sys.executable).parent))
    # As the installed command runs: `python -m` takes the working directory as the place of modules by itself.
    code = "import sys; sys.path.pop(0); sys.path.insert(0, sys.argv.pop(1)); from triage.__main__ import main; main()"
    words = [triage] if triage else [sys.executable, "-P", "-c", code, str(ROOT)]
    done = subprocess.run([*words, "report", "."], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{30 * FILES} kernel" in done.stdout.replace(",", "").replace("\n", " ")
    assert not (tmp_path / "ran").exists()
