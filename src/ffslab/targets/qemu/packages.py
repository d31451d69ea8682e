"""What guests are built and run with."""

from ffslab.lab.packages import ARM_LAB_PACKAGES, DebianPackage

PACKAGES = (
    *ARM_LAB_PACKAGES,
    DebianPackage("qemu-system-arm", "runs guests of the target qemu", "qemu-system-arm"),
)
