# SPDX-License-Identifier: GPL-2.0-only
# What ffscrash is made of: its own files, and those that it shares with the agent.
# The tests have the same, without main.c. SRC is the directory of this file.

SOURCES := $(sort $(patsubst $(SRC)/%,%,$(wildcard $(SRC)/*.c $(SRC)/*/*.c)))
SHARED := core/calls.c core/clock.c core/error.c core/files.c core/random.c \
	core/process.c core/record.c flash/mtd.c
