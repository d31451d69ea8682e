#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the tests of ffscrash one after the other and adds up their counts; the last
# line is "N passed, N failed".   usage: run_tests.sh FFSCRASH PROGRAMS FUZZ-RUNS FUZZ-SEED

crash=$1
programs=$2
runs=$3
seed=$4
here=$(dirname "$0")
passed=0
failed=0

# A part that ends without a count has crashed and counts as one failure.
run() {
	echo "== $*"
	output=$("$@" 2>&1)
	status=$?
	echo "$output"
	last=$(echo "$output" | tail -n 1)
	case $last in
	[0-9]*" passed, "[0-9]*" failed")
		passed=$((passed + ${last%% *}))
		last=${last#*, }
		failed=$((failed + ${last%% *}))
		[ "$status" -eq 0 ] || [ "${last%% *}" -gt 0 ] ||
			failed=$((failed + 1))
		;;
	*)
		echo "FAIL: it ended with status $status and without a count"
		failed=$((failed + 1))
		;;
	esac
}

run "$programs/test_units"
run "$programs/fuzz_texts" "$runs" "$seed"
run python3 "$here/test_ffscrash.py" "$crash"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
