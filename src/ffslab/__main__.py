"""`python -m ffslab` is the same command as `ffslab`."""

from ffslab.cli.app import main

if __name__ == "__main__":
    main()
