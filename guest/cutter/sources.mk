# SPDX-License-Identifier: GPL-2.0-only
# What ffscrash is made of: its own files, and those that it shares with the agent.
# The tests have the same, without main.c. SRC is the directory of this file, COMMON
# that of what is shared.

SOURCES := $(sort $(patsubst $(SRC)/%,%,$(wildcard $(SRC)/*.c $(SRC)/*/*.c)))
SHARED := $(sort $(patsubst $(COMMON)/%,%,$(wildcard $(COMMON)/*/*.c)))
