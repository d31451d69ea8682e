# SPDX-License-Identifier: GPL-2.0-only
# The pure parts of a file system of ours in user space: unit tests, and seeded fuzz runs of
# all that decodes. A C compiler is all they need. The including Makefile sets ROOT, PART
# and TESTED, which tests/c_tests.mk explains.
#
#   make test      each test_*.c is a program of its own; a short fuzz run
#   make fuzz      a long one; FUZZ_RUNS= and FUZZ_SEED= say how long
SRC := ..
# Functions of a table have the parameters of all.
FLAGS := -std=gnu11 -Wno-unused-parameter
TESTS := $(basename $(wildcard test_*.c))
PROGRAMS := $(TESTS) fuzz_decode $(OTHERS)
FUZZ_RUNS ?= 10000000
include $(ROOT)/tests/c_tests.mk

RUNS := $(TESTS:%=run-%)
.PHONY: $(RUNS) run-fuzz
checks: $(RUNS) run-fuzz

$(RUNS): run-%: $(O)/%
	@$<

run-fuzz: $(O)/fuzz_decode
	$< $(if $(NIGHTLY),$(FUZZ_RUNS),200000) $(FUZZ_SEED)

fuzz: $(O)/fuzz_decode
	$< $(FUZZ_RUNS) $(FUZZ_SEED)
