"""What a page keeps deflated until its script unfolds it: the words that a hundred kernels share take little room."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field


@dataclass(slots=True)
class Packed:
    """Collects parts of a page while it is being made.

    ``paths`` maps a kernel's place to HTML (already escaped), ``metrics`` is the block of
    :func:`triage.renderers.metrics.block` or ``None`` where plain tables serve; ``markdown`` maps a place to what the
    copy button puts on the clipboard.
    """

    metrics: dict[str, object] | None = None
    paths: dict[str, str] = field(default_factory=dict)
    markdown: dict[str, str] = field(default_factory=dict)

    def path(self, place: int, markup: str) -> str:
        """Keeps the walked path of one kernel for later; prints nothing where the template calls it."""
        self.paths[str(place)] = str(markup)
        return ""

    def text(self) -> str:
        """JSON, deflated (zlib), in Base64: letters that cannot end a ``<script>`` element. Empty without any part."""
        if self.metrics is None and not self.paths and not self.markdown:
            return ""
        parts = {"metrics": self.metrics, "paths": self.paths, "markdown": self.markdown}
        kept = json.dumps(parts, separators=(",", ":"), allow_nan=False)
        return base64.b64encode(zlib.compress(kept.encode())).decode()
