"""What a report says below its first screen: a section for each question, made of one sentence, its
charts and its tables.

`general` has the sections of every workload, from its criteria, its histograms and the counters of
the chip; a workload's package adds those that it alone has (`report.page.sections`).
"""
