"""Where a case runs: a User-Mode Linux guest, and later real boards."""
