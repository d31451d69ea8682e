"""QEMU's ARM machine `virt`: the same code for another processor, its time that of instructions."""
