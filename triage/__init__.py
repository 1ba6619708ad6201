"""Names what limits a CUDA kernel, from any report that Nsight Compute wrote."""

__version__ = "0.1.0"
