"""Everything that knows the ``ncu`` program: find it, plan what to collect, run it, understand what it prints."""
