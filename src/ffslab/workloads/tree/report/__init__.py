"""The page of a run of workload `tree`: images, the times of its steps, memory, what unmounting
costs.
"""
