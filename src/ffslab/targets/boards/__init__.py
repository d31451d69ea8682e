"""What targets share whose guests run on boards: a real kernel, a real flash and a real clock."""
