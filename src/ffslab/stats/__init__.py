"""Statistics on results: pure functions, no I/O."""
