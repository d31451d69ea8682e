"""What a report says about the estimates of the board: which verdicts survive a change of one."""
