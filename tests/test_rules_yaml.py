"""Rule files are untrusted: what is refused, quickly, with its place."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from triage.rules.yamlfile import read


def faults(tmp_path: Path, content: str | bytes) -> list[str]:
    path = tmp_path / "x.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [str(fault) for fault in read(path, "x.yaml").faults]


BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)
)


@pytest.mark.parametrize(
    ("content", "place", "word"),
    [
        (BOMB, "x.yaml:1:4", "anchor"),
        ("a: !!python/object/apply:os.system ['id']\n", "x.yaml:1:4", "tag"),
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3:1", "duplicate-key"),
        ("a:\n\t- 1\n", "x.yaml:2:1", "yaml"),
        (b"a: \xff\xfe\n", "x.yaml:1:1", "encoding"),
        ("a: 1\n".encode("utf-16") + b"x", "x.yaml:2:1", "encoding"),
        ("a: 1\nb:\n<<<<<<< HEAD\n  c: 1\n=======\n  c: 2\n>>>>>>> main\n", "x.yaml:3:1", "conflict"),
        ("a: 1\n=======\nb: 2\n", "x.yaml:2:1", "conflict"),
        ("a: [1, 2\n", "x.yaml", "yaml"),
        ("[" * 2000 + "]" * 2000, "x.yaml", "yaml"),
        ("a: 1\n---\nb: 2\n", "x.yaml", "yaml"),
        ("x" * 1_000_001, "x.yaml:1:1", "too-large"),
    ],
    ids=[
        "bomb",
        "object",
        "duplicate",
        "tab",
        "encoding",
        "utf-16",
        "conflict",
        "half",
        "open",
        "deep",
        "two documents",
        "large",
    ],
)
def test_refused_with_a_position(tmp_path: Path, content: str | bytes, place: str, word: str) -> None:
    started = time.monotonic()
    found = faults(tmp_path, content)
    assert found
    assert found[0].startswith(place)
    assert f" {word} " in found[0]
    assert time.monotonic() - started < 5


def test_a_missing_file_is_a_fault_not_a_crash(tmp_path: Path) -> None:
    assert "cannot be read" in str(read(tmp_path / "absent.yaml").faults[0])


def test_positions_are_those_of_the_keys(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\nb:\n  c: 2\n  d: [x, y]\n", encoding="utf-8")
    root = read(path).root
    assert root.places == {"a": (1, 1), "b": (2, 1)}
    assert root["b"].places["d"] == (4, 3)
    assert root["b"]["d"].places == [(4, 7), (4, 10)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_what_a_shell_or_editor_makes_of_the_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.yaml"
    mark = "" if encoding in ("utf-16", "utf-8-sig") else "\ufeff"
    path.write_bytes(f"{mark}a: größer\r\n".encode(encoding))
    document = read(path)
    assert document.root == {"a": "größer"} and not document.faults
