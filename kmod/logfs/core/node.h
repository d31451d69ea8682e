/* SPDX-License-Identifier: GPL-2.0-only */
/* Inodes in use: node.c, file.c. */
#ifndef LOGFS_NODE_H
#define LOGFS_NODE_H

#include "device.h"

/* What the tree counts comes to the node: used bytes, size. */
void logfs_node_refresh(struct logfs_node *node);
/* The file has at least so many bytes. */
int logfs_node_extend(struct logfs_node *node, u64 size);
int logfs_node_set_size(struct logfs_node *node, u64 size);
/* The most inode numbers there are. */
u64 logfs_node_last_ino(const struct logfs_device *dev);

#endif
