"""Workload `probe`: single operations of flash and kernel, from which a board is calibrated."""
