#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs every test of the agent and adds up their counts; the last line is
# "N passed, N failed".   usage: run_tests.sh FFSAGENT SANITIZER-DIR
#
# Each part ends with such a line of its own; one that does not has crashed and
# counts as one failure.

agent=$1
san=$2
here=$(dirname "$0")
passed=0
failed=0

part() {
	echo "== $*"
	output=$("$@" 2>&1)
	status=$?
	printf '%s\n' "$output"
	last=$(printf '%s\n' "$output" | tail -n 1)
	case $last in
	[0-9]*" passed, "[0-9]*" failed")
		passed=$((passed + ${last%% *}))
		last=${last#*, }
		failed=$((failed + ${last%% *}))
		[ $status -eq 0 ] || [ "${last%% *}" -gt 0 ] ||
			failed=$((failed + 1))
		;;
	*)
		echo "FAIL: it ended with status $status and without a count"
		failed=$((failed + 1))
		;;
	esac
}

part "$san/test_units"
part "$san/fuzz_plan" 50000 1
part "$san/fuzz_postmark" 50000 1
part "$san/fuzz_memory" 50000 1
part python3 "$here/test_agent.py" "$agent"
part python3 "$here/test_micro.py" "$agent"
part python3 "$here/test_tree.py" "$agent"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
