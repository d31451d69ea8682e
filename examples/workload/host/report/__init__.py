"""sample-files' part of a report."""
