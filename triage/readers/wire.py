"""Reads protobuf wire format, fields only: enough for the headers of a report, without a protobuf library."""

from __future__ import annotations

from collections.abc import Iterator


class BadWire(ValueError):
    """The bytes are no protobuf message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The varint at ``at`` and the offset behind it."""
    result = shift = 0
    while shift < 70:
        if at >= len(data):
            raise BadWire("varint runs past the end")
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7
    raise BadWire("varint longer than ten bytes")


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Every ``(field number, value)`` of a message: an int for varints, bytes for everything else.

    Raises :class:`BadWire` where the bytes are no message.
    """
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise BadWire("field number 0")
        if kind == 0:
            value, at = varint(data, at)
            yield number, value
            continue
        if kind == 2:
            size, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise BadWire(f"wire type {kind}")
        if at + size > len(data):
            raise BadWire("field runs past the end")
        yield number, data[at : at + size]
        at += size


def message(data: bytes) -> dict[int, int | bytes]:
    """The message as a mapping; of a repeated field the last one."""
    return dict(fields(data))


def text(value: int | bytes | None) -> str:
    """A string field, undecodable bytes replaced; empty where absent."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
