"""Workload `capacity`: one file until the partition is full, and what comes back of it."""
