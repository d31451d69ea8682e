"""Text, data and bss of file systems and of what they need: pure but for `measure`."""
