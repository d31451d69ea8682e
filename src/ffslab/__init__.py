"""ffslab, the flash file system laboratory: the host side."""

__version__ = "0.1.0"
