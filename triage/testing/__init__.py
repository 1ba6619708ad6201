"""What the pytest plugin gives to tests: kernels under test, the reports they come from, and what a marker asks."""
