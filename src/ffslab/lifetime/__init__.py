"""How long a flash lives: a forecast from the erases of its first days (docs/lifetime.md)."""
