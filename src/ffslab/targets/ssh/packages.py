"""What a board is reached with."""

from ffslab.lab.packages import DebianPackage

PACKAGES = (DebianPackage("openssh-client", "reaches boards", "ssh"),)
