"""The report of workload `raw`."""
