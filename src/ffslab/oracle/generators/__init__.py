"""Histories for the workloads of power cuts: small, and a function of parameters and a seed.

Each kind is a frozen dataclass whose fields are its parameters; `registry.py` has them by name.
"""
