# SPDX-License-Identifier: GPL-2.0-only
# What ffsagent is made of: its own files, and those that it shares with ffscrash.
# SRC is the directory of this file, COMMON that of what is shared.

# Sorted: the order in which objects are linked is part of the program, and its
# layout moves virtual time.
SOURCES := $(sort $(foreach depth,* */* */*/*,\
	$(patsubst $(SRC)/%,%,$(wildcard $(SRC)/$(depth).c)) \
	$(patsubst $(COMMON)/%,%,$(wildcard $(COMMON)/$(depth).c))))
