#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs every test of the agent and adds up their counts; the last line is
# "N passed, N failed".   usage: run_tests.sh FFSAGENT PROGRAMS FUZZ-RUNS FUZZ-SEED
#
# The parts run at the same time, since the longest takes as long as all others;
# what they print comes in order. Each ends with a count of its own; one that does
# not has crashed and counts as one failure.

agent=$1
programs=$2
runs=$3
seed=$4
here=$(dirname "$0")
out=$(mktemp -d "$programs/run-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
started=0
passed=0
failed=0

start() {
	started=$((started + 1))
	{
		echo "== $*"
		"$@" 2>&1
		echo $? >"$out/status-$started"
	} >"$out/$started" &
}

report() {
	cat "$out/$1"
	status=$(cat "$out/status-$1")
	last=$(tail -n 1 "$out/$1")
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

start "$programs/test_units"
start "$programs/fuzz_plan" "$runs" "$seed"
start "$programs/fuzz_postmark" "$runs" "$seed"
start "$programs/fuzz_memory" "$runs" "$seed"
for test in "$here"/test_*.py; do
	start python3 "$test" "$agent"
done
wait
part=0
while [ $part -lt $started ]; do
	part=$((part + 1))
	report $part
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
