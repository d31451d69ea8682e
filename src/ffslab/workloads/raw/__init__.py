"""Workload `raw`: the flash erased, written and read as a device, without a file system."""
