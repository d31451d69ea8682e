# SPDX-License-Identifier: GPL-2.0-only
# Builds the module of the including Makefile for a kernel of your own, such as a board's:
#
#	make -C kmod/flashmon KERNEL=/path/to/tree CROSS_COMPILE=arm-linux-gnueabi-
#
# KERNEL is the kernel's tree, or where its objects are if these are elsewhere (O=), or what a
# distribution installs as headers. What the module cannot do without is asked of the tree's
# configuration first: kbuild's own words for it are about something else. ARCH is taken from there,
# too. Objects and module come to lie beside the sources.
#
# The lab does not use this file: for kbuild, Kbuild goes before Makefile.
#
# NEEDS	options of the configuration that the module needs, built in or as modules

CONFIGURATION := $(KERNEL)/include/config/auto.conf
ARCHITECTURES := um:UML arm:ARM arm64:ARM64 mips:MIPS powerpc:PPC riscv:RISCV x86:X86
EXAMPLE := make KERNEL=/path/to/tree CROSS_COMPILE=arm-linux-gnueabi-

ifeq ($(KERNEL),)
$(error KERNEL is not set: $(EXAMPLE))
endif
ifeq ($(filter /%,$(KERNEL)),)
$(error KERNEL=$(KERNEL) is not an absolute path: $(EXAMPLE))
endif
ifeq ($(wildcard $(KERNEL)/Makefile),)
$(error $(KERNEL) is no kernel tree, for it has no Makefile: unpack the board's kernel there, or \
install its headers)
endif
ifeq ($(wildcard $(CONFIGURATION)),)
$(error $(KERNEL) is not configured: copy the board's configuration (/proc/config.gz there) to \
.config in it, then make ARCH=... CROSS_COMPILE=... olddefconfig modules_prepare)
endif
ifeq ($(wildcard $(KERNEL)/scripts/mod/modpost),)
$(error $(KERNEL) is configured, but not ready for modules: make ARCH=... CROSS_COMPILE=... \
modules_prepare in it)
endif

include $(CONFIGURATION)

MISSING := $(strip $(foreach option,CONFIG_MODULES $(NEEDS),$(if $($(option)),,$(option))))
ifneq ($(MISSING),)
$(error the kernel in $(KERNEL) is without $(MISSING): it must be configured and built with it)
endif

WARN_ONLY :=
ifeq ($(wildcard $(KERNEL)/Module.symvers),)
ifdef CONFIG_MODVERSIONS
$(error the kernel in $(KERNEL) checks the versions of symbols (CONFIG_MODVERSIONS), and has no \
Module.symvers with them: build it and its modules first, or copy that file of its build to there)
endif
# Without the list of symbols nobody can say which of them the kernel has.
WARN_ONLY := KBUILD_MODPOST_WARN=1
endif

ifeq ($(ARCH),)
ARCH := $(firstword $(foreach one,$(ARCHITECTURES),$(if $(CONFIG_$(lastword $(subst :, \
,$(one)))),$(firstword $(subst :, ,$(one))))))
endif
ifeq ($(ARCH),)
$(error ARCH is not set, and unknown: name it as the kernel's makefile does)
endif

KBUILD = $(MAKE) -C $(KERNEL) ARCH=$(ARCH) M=$(CURDIR) $(WARN_ONLY)

.PHONY: modules clean
modules:
	$(KBUILD) modules

clean:
	$(KBUILD) clean
