"""probe's part of a report."""
