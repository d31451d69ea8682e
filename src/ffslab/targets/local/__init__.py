"""This very computer as a board: its own kernel, its own flash and its own clock, without ssh."""
