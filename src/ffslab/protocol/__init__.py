"""The bytes that host and guest share: plan, records, the chip's file, the trace.

Nothing else knows them. docs/plan-format.md, kmod/vnand/image_format.h and
kmod/flashmon/trace_format.h define them.
"""
