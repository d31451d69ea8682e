"""The report of scripts: how long they took, and what the flash did for them."""
