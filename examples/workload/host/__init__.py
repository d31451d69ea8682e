"""sample-files: writes some files, and syncs them."""
