"""The report of runs of workload `micro`: response time, erases and wear against the settings of
the requests.
"""
