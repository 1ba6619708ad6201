"""``rules.lock`` as a file: what cannot be read locks nothing and says so; nothing outside of the folder is touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from triage.errors import FaultyRules, UsageError
from triage.ncu.sets import load_sets
from triage.rules.layers import Layer, folder_layer
from triage.rules.lint import lint
from triage.rules.lint.lock import NAME, write_lock

THRESHOLDS = "thresholds:\n  conflict_pct: {value: 99, source: our own measurements}\n"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "pk"
    folder.mkdir()
    (folder / "thresholds.yaml").write_text(THRESHOLDS, encoding="utf-8")
    return folder


def layer(folder: Path) -> Layer:
    return folder_layer(folder, "pack", "pk")


def faults(folder: Path) -> list[str]:
    return [str(fault) for fault in lint([layer(folder)]) if fault.file == f"pk/{NAME}"]


def test_a_lock_that_was_written_is_read(pack: Path) -> None:
    write_lock(layer(pack), pack)
    assert faults(pack) == []
    (pack / NAME).write_bytes(b"\xef\xbb\xbf" + (pack / NAME).read_bytes().replace(b"\n", b"\r\n"))
    assert faults(pack) == []


@pytest.mark.parametrize("content", [b"", b"# What these rules say.\n", b"\n\n"])
def test_a_lock_without_an_entry(pack: Path, content: bytes) -> None:
    (pack / NAME).write_bytes(content)
    assert faults(pack) == [f"pk/{NAME}:1:1: lock holds no entry: write it with `triage rules lint --lock`"]


@pytest.mark.parametrize("content", [b"\xff\xfe", "thresholds/mine 0".encode("utf-16")])
def test_a_lock_in_another_encoding(pack: Path, content: bytes) -> None:
    (pack / NAME).write_bytes(content)
    assert [line.split(": ")[1][:8] for line in faults(pack)] == ["encoding"]
    write_lock(layer(pack), pack)
    assert faults(pack) == []


@pytest.mark.parametrize("kind", ["pipe", "folder", "nowhere", "out", "circle"])
def test_what_is_no_file_of_the_folder_is_neither_read_nor_written(pack: Path, kind: str) -> None:
    outside = pack.parent / "precious"
    outside.write_text("mine\n", encoding="utf-8")
    if kind == "pipe":
        os.mkfifo(pack / NAME)
    elif kind == "folder":
        (pack / NAME).mkdir()
    else:
        target = {"nowhere": pack / "absent", "out": outside, "circle": pack / NAME}[kind]
        (pack / NAME).symlink_to(target)
    (line,) = faults(pack)
    assert line.startswith(f"pk/{NAME}:1:1: {'outside points' if kind == 'out' else 'unreadable cannot be read'}")
    with pytest.raises(UsageError, match="outside of its folder" if kind == "out" else "not a file"):
        write_lock(layer(pack), pack)
    assert outside.read_text(encoding="utf-8") == "mine\n"


def test_sets_behind_a_link_that_leads_out_are_refused(pack: Path) -> None:
    (pack.parent / "sets.yaml").write_text("sets:\n  mine: {title: a, about: b, metrics: [a__b.sum]}\n")
    (pack / "sets.yaml").symlink_to(pack.parent / "sets.yaml")
    with pytest.raises(FaultyRules, match=r"outside points to a file outside of its folder"):
        load_sets([pack])
    assert "mine" in load_sets([pack.parent / "sets.yaml"])
    assert [fault.code for fault in lint([layer(pack)]) if fault.file == "pk/sets.yaml"] == ["outside"]
