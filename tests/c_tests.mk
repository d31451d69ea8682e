# SPDX-License-Identifier: GPL-2.0-only
# What the Makefiles of C tests share: where they build, how they compile, how a run
# begins. Such a Makefile sets
#
#   ROOT      the clone, as seen from its directory
#   PART      the name of its directory below that of all builds
#   SRC       the directory of the sources under test
#   FLAGS     the compiler's flags beside those here
#   PROGRAMS  the programs, all of one file of the same name
#   TESTED    the objects that each program is linked with
#   LIBRARIES what the linker is given beside, if there is something
#
# and states the target `checks`: what runs when all PROGRAMS are there. `make test`
# runs it with as many jobs as there are processors, unless make was given -j; a second
# one in the same clone waits. Nothing is compiled that has not changed.
#
# Paths are relative, so that a clone that was moved or copied with its build/ does not
# look into the other.

.PHONY: all test checks fuzz clean
all: test

ifndef O
O := $(shell $(ROOT)/tests/build_directory.sh $(ROOT))
ifeq ($(O),)
$(error no directory to build in: see above)
endif
override O := $(O)/$(PART)
endif

SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all
CFLAGS = -g -O1 -Wall -Wextra -Werror -I$(SRC) $(SANITIZERS)
# FFSLAB_NIGHTLY=1 makes fuzzers run as long in `make test` as in `make fuzz`.
NIGHTLY := $(filter-out 0,$(FFSLAB_NIGHTLY))
FUZZ_SEED ?= 1
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

test:
	+@mkdir -p $(O) && flock $(O)/lock $(MAKE) --no-print-directory -Otarget \
		$(JOBS) O=$(O) checks

checks: $(PROGRAMS:%=$(O)/%)

# The Makefiles have the flags, so a change in them counts.
$(O)/%.o: %.c $(MAKEFILE_LIST)
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/%.o: $(SRC)/%.c $(MAKEFILE_LIST)
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(PROGRAMS:%=$(O)/%): $(O)/%: $(O)/%.o $(TESTED:%=$(O)/%)
	$(CC) $(CFLAGS) -o $@ $^ -lm $(LIBRARIES)

clean:
	rm -rf $(O)

.SECONDARY:
-include $(wildcard $(O)/*.d $(TESTED:%.o=$(O)/%.d))
