"""``triage validate``: runs kernels whose limiter is known by construction and compares every verdict with it."""
