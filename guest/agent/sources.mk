# SPDX-License-Identifier: GPL-2.0-only
# What ffsagent is made of: its own files, and those that it shares with ffscrash.
# SRC is the directory of this file, COMMON that of what is shared.

# Sorted: the order in which objects are linked is part of the program, and its
# layout moves virtual time.
ALL_SOURCES := $(sort $(foreach depth,* */* */*/*,\
	$(patsubst $(SRC)/%,%,$(wildcard $(SRC)/$(depth).c)) \
	$(patsubst $(COMMON)/%,%,$(wildcard $(COMMON)/$(depth).c))))

# A new workload is to move no figure of the others, so workloads whose table plan/verbs.h
# does not list are in programs of their own: ffsagent-NAME.
LISTED := $(shell sed -n 's/^\tTABLE(\(.*\)_verbs).*/\1/p' $(SRC)/plan/verbs.h)
FURTHER := $(filter-out $(LISTED),$(patsubst workloads/%/verbs.c,%,\
	$(filter workloads/%/verbs.c,$(ALL_SOURCES))))
SOURCES := $(filter-out $(foreach name,$(FURTHER),workloads/$(name)/%),$(ALL_SOURCES))

# The flag with which plan/verbs.c has the tables of the workloads $(1), too.
further_tables = -D'FURTHER_TABLES(TABLE)=$(foreach name,$(1),TABLE($(name)_verbs))'
