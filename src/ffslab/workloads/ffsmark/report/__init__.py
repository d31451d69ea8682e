"""FFSMark's part of a report."""
