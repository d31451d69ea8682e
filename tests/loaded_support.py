"""Runs of one workload as its report reads them, for tests of what it makes of them."""

from __future__ import annotations

from pathlib import Path

from ffslab.report.data import Run
from ffslab.report.load import read_figures
from ffslab.workloads.append_log.report import load as append_log
from ffslab.workloads.append_log.report.load import LogRun
from ffslab.workloads.ffsmark.report import load as ffsmark
from ffslab.workloads.micro.report import load as micro
from ffslab.workloads.micro.report.data import MicroRun
from ffslab.workloads.tree.report import load as tree
from ffslab.workloads.tree.report.data import TreeRun


def load_log(run_dir: Path) -> LogRun:
    return append_log.run_of(run_dir, read_figures(run_dir, append_log.figures_of, "append-log"))


def load_run(run_dir: Path) -> Run:
    return ffsmark.run_of(run_dir, read_figures(run_dir, ffsmark.figures_of, "ffsmark"))


def load_micro(run_dir: Path) -> MicroRun:
    return micro.run_of(run_dir, read_figures(run_dir, micro.figures_of, "micro"))


def load_tree(run_dir: Path) -> TreeRun:
    return tree.run_of(run_dir, read_figures(run_dir, tree.figures_of, "tree"))
