"""The workloads: one package for each kind, and what they share.

A package has these modules; `ffslab.workloads.registry` finds the package, and loads a module of it
when it is asked for:

    keys      the settings: each key with its default and its meaning
    kind      the kind itself (`WORKLOAD`): which settings cannot be together
    plan      the plans of a case's guests
    result    what the records mean: the workload's part of a result, and how much it measured
    metrics   the figures of a result
    terminal  its columns in the table of a run, and a case in detail
    report    its part of the report (a package)

`ffslab.workloads.modules` says what each has to offer.
"""
