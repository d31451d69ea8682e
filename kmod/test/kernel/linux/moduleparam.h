/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: parameters keep their defaults. */
#ifndef USER_LINUX_MODULEPARAM_H
#define USER_LINUX_MODULEPARAM_H

#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)

#endif
