// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - see fstree.h.
 */
#include <string.h>

#include "fstree.h"

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "run"))
		return run_script(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "start"))
		return start_script(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "list"))
		return list_tree(argv[2], argv[3]);
	fprintf(stderr, "usage: fstree run|start SCRIPT | fstree list DIR FILE\n");
	return 2;
}
