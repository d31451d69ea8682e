"""What the checkers and makers of file systems' images share; each format has its own package."""
