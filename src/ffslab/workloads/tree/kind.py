"""Workload `tree` as a kind of workload."""

from __future__ import annotations

from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.tree.checks import check_tree
from ffslab.workloads.tree.keys import Tree


class TreeType(WorkloadType[Tree]):
    """Metadata benchmarks as a kind of workload."""

    settings = Tree

    def check(self, workload: Tree, setting: Setting) -> None:
        """SpecError for words or a tree that cannot be."""
        check_tree(workload, setting)


WORKLOAD = TreeType()
