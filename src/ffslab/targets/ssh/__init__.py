"""A real board, reached by ssh: its own kernel, its own flash, and the time of its clock."""
