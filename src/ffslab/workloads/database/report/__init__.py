"""database' part of a report."""
