"""The report of workload `capacity`."""
