"""Which metrics this GPU has, as ``ncu --query-metrics`` tells it.

The full list of one chip is 97 MB and takes 20 s; the base names with the launch, source, sampling and group
collections take 4 s once and are then kept on disk. A base name is enough: a suffix that does not exist is simply not
reported, while an unknown bare name ends ncu's run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from triage.asking import Run, ask
from triage.ncu.find import Ncu
from triage.paths import read

COLLECTIONS = ("profiling", "launch", "source", "warpsampling", "groups")
_DEVICE = re.compile(r"^(?:Device|Chip)s?\s+(.+?)(?:\s+\((\w+)\))?\s*$")
_METRIC = re.compile(r"^([A-Za-z][\w.:]*)\s+(?:Counter|Ratio|Throughput|Other|Unknown)\b")
_FORMAT = 1
# Seconds for one list of metrics, which takes a few.
_LIST_S = 120
# Bytes of a cache; the names of one chip are some hundred thousand.
_LARGEST = 64 << 20
# Computed by section files, not collected: ncu ends the run when one of them is asked for by name.
_NOT_BY_NAME = ("derived__",)
# Always in a report, whatever is asked for.
ALWAYS = ("launch__", "device__", "nvlink__", "numa__", "profiler__", "sm__maximum_warps_", "smsp__maximum_warps_")


@dataclass(frozen=True, slots=True)
class Chip:
    """The metrics that every GPU in sight has: base names, and full names of ``group:``. ``device`` is what ncu
    calls the GPU (``NVIDIA H200 (GH100)``). An empty ``metrics`` means that ncu could not be asked, in which case
    everything is assumed to exist."""

    device: str = ""
    metrics: frozenset[str] = frozenset()
    warning: str = ""

    def has(self, metric: str) -> bool:
        """Whether ``metric``, as ``--metrics`` takes it, can be collected here."""
        if metric.startswith(_NOT_BY_NAME):
            return False
        if not self.metrics or metric.startswith(("regex:", *ALWAYS)):
            return True
        name = metric.removeprefix("breakdown:").removeprefix("pmsampling:")
        return name in self.metrics or name.split(".", 1)[0] in self.metrics


def parse(text: str) -> dict[str, set[str]]:
    """The answer of ``--query-metrics``: device to metric names."""
    found: dict[str, set[str]] = {}
    names: set[str] = set()
    for line in text.splitlines():
        if match := _METRIC.match(line):
            names.add(match[1])
        elif match := _DEVICE.match(line):
            names = found.setdefault(match[1] + (f" ({match[2]})" if match[2] else ""), set())
    return found


def query(ncu: Ncu, run: Run = ask) -> Chip:
    """Ask ncu (about 4 s). A collection that an old release does not know is passed over; when nothing at all comes
    back the chip is unknown and ``warning`` holds ncu's own words."""
    chips: dict[str, set[str]] = {}
    words = ""
    for collection in COLLECTIONS:
        command = [str(ncu.path), "--query-metrics"]
        if collection != "profiling":
            if not ncu.has("query-metrics-collection"):
                continue
            command += ["--query-metrics-collection", collection]
        said = run(command, _LIST_S)
        if said.broken:
            # Half a list would make metrics look absent that are there.
            return Chip(warning=f"ncu could not list this GPU's metrics: {said.words('')}")
        for device, names in parse(said.text).items():
            chips.setdefault(device, set()).update(names)
        if collection == "profiling" and not chips:
            words = said.words("no answer")
            break
    if not chips:
        return Chip(warning=f"ncu could not list this GPU's metrics: {words}")
    return Chip(", ".join(chips), frozenset(set.intersection(*chips.values())))


def gpus(root: Path = Path("/")) -> str:
    """A word for the GPUs and the driver, from ``/proc`` so that it costs nothing; empty where there is none."""
    parts = []
    for path in sorted(root.glob("proc/driver/nvidia/gpus/*/information")):
        with suppress(OSError):
            parts += re.findall(r"^(?:Model|Device Minor|GPU Firmware):\s*(.+)$", path.read_text(), re.M)
    with suppress(OSError):
        parts.append((root / "proc/driver/nvidia/version").read_text().splitlines()[0])
    return "|".join(parts)


def cache_folder(env: Mapping[str, str]) -> Path | None:
    """``$XDG_CACHE_HOME/ncu-triage``, by default ``~/.cache/ncu-triage``; ``None`` without either: a folder that other
    users can make first is no place for what decides which counters a GPU has."""
    if base := env.get("XDG_CACHE_HOME"):
        return Path(base) / "ncu-triage"
    return Path(env["HOME"], ".cache", "ncu-triage") if env.get("HOME") else None


def cached(ncu: Ncu, env: Mapping[str, str], root: Path = Path("/"), run: Run = ask) -> Chip:
    """:func:`query`, remembered on disk for this ncu, these GPUs, this driver and this ``CUDA_VISIBLE_DEVICES``.
    A cache that cannot be read or written costs time, never the run."""
    key = "|".join((str(_FORMAT), str(ncu.path), ncu.version_text, gpus(root), env.get("CUDA_VISIBLE_DEVICES", "")))
    folder = cache_folder(env)
    if folder is None:
        return query(ncu, run)
    file = folder / f"metrics-{hashlib.sha256(key.encode()).hexdigest()[:20]}.json"
    chip = _kept(file, key)
    if chip is not None:
        return chip
    chip = query(ncu, run)
    if chip.metrics:
        with suppress(OSError):
            _write(file, json.dumps({"key": key, "device": chip.device, "metrics": sorted(chip.metrics)}))
    return chip


def _kept(file: Path, key: str) -> Chip | None:
    """What the cache says for ``key``; ``None`` for anything that this program of this user did not write."""
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        if hasattr(os, "getuid") and file.stat().st_uid != os.getuid():
            return None
        kept = json.loads(read(file, _LARGEST))
        device, metrics = kept["device"], kept["metrics"]
        texts = isinstance(device, str) and isinstance(metrics, list) and all(isinstance(each, str) for each in metrics)
        if kept["key"] == key and metrics and texts:
            return Chip(device, frozenset(metrics))
    return None


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".metrics-")
    with os.fdopen(handle, "w") as stream:
        stream.write(text)
    Path(name).replace(file)
