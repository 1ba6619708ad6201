"""Builds the kernels of ``kernels/`` with nvcc, launches the transposes through CuPy, checks and times them.

Only ``gpu`` and ``peers`` import CuPy and PyTorch, inside their functions; everything else is plain Python
(``matrices`` needs NumPy) and works without a GPU.
"""
