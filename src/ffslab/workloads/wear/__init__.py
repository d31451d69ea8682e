"""wear: data that stay, and a file written and deleted over and over, block by block."""
