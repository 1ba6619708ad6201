"""Metrics as a pandas table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triage import arguments
from triage.model import Profile, Quantity

if TYPE_CHECKING:
    import pandas


def to_frame(profile: Profile) -> pandas.DataFrame:
    """One row a kernel, one column a metric, in base units.

    The leading columns are ``index`` (0-based place in the file), ``name``, ``function``, ``grid``, ``block``
    (tuples of three), ``device`` and ``cc``. A metric that a kernel lacks is NaN, or ``None`` in a column of text.
    ``frame.attrs["units"]`` maps each metric to its unit; a metric whose unit differs between kernels is refused
    with ``ValueError`` rather than mixed. Raises ``TypeError`` for what is no :class:`Profile`.
    """
    import pandas

    arguments.instance(profile, Profile, "profile", "what load(...) returns")
    names: dict[str, None] = {}
    units: dict[str, str] = {}
    for kernel in profile.kernels:
        for name, value in kernel.metrics.items():
            names[name] = None
            if isinstance(value, Quantity):
                units[name] = known = units.get(name) or value.unit
                if value.unit and value.unit != known:
                    raise ValueError(f"metric {name} has the units {known!r} and {value.unit!r}")
    columns: dict[str, list[Any]] = {
        "index": [kernel.index for kernel in profile.kernels],
        "name": [kernel.name for kernel in profile.kernels],
        "function": [kernel.function for kernel in profile.kernels],
        "grid": [kernel.launch.grid for kernel in profile.kernels],
        "block": [kernel.launch.block for kernel in profile.kernels],
        "device": [kernel.device.name for kernel in profile.kernels],
        "cc": [kernel.device.cc for kernel in profile.kernels],
    }
    series: dict[str, Any] = {name: pandas.Series(values, dtype=object) for name, values in columns.items()}
    series["index"] = pandas.Series(columns["index"], dtype="int64")
    for name in names:
        values = [kernel.metrics.get(name) for kernel in profile.kernels]
        if all(value is None or isinstance(value, Quantity) for value in values):
            numbers = [value.value if isinstance(value, Quantity) else None for value in values]
            series[name] = pandas.Series(numbers, dtype="float64")
        else:
            plain = [value.value if isinstance(value, Quantity) else value for value in values]
            series[name] = pandas.Series(plain, dtype=object)
    # One construction from whole columns: adding a thousand columns one by one fragments the table.
    frame = pandas.DataFrame(series)
    frame.attrs["units"] = units
    return frame
