/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How what decodes a format is fuzzed: main() of a program RUNS SEED that states its
 * fuzz_targets. The first byte of an input chooses the target, the rest are the bytes it
 * gets. Also a libFuzzer target (LLVMFuzzerTestOneInput).
 *
 * Run n depends on SEED and n only: fuzz_decode 1 SEED N repeats it. There is no
 * feedback from coverage; instead, most inputs are valid ones with some changes.
 */
#ifndef KMOD_TEST_FUZZ_H
#define KMOD_TEST_FUZZ_H

#include "../../tests/replay.h"
#include "harness.h"

#define FUZZ_INPUT_BYTES	1024

/**
 * struct target - something that decodes
 * @try: decodes the bytes and judges what comes out
 * @seed: makes valid ones of random bytes, where it can
 * @bytes: that both get, at most FUZZ_INPUT_BYTES
 */
struct target {
	void (*try)(u8 *bytes);
	void (*seed)(u8 *bytes);
	u32 bytes;
};

/* The program's. */
extern const struct target fuzz_targets[];
extern const u32 n_fuzz_targets;

static void judge(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_decode: %s\n", what);
	abort();
}

static __maybe_unused void seed_none(u8 *bytes)
{
	(void)bytes;
}

/* Bytes before those of the function: the first chooses it, all keep alignment. */
#define HEAD 8

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct target *target;
	u8 bytes[FUZZ_INPUT_BYTES] = { 0 };
	u8 *input;

	if (size < HEAD)
		return 0;
	target = &fuzz_targets[data[0] % n_fuzz_targets];
	memcpy(bytes, data + HEAD, min_t(size_t, size - HEAD, target->bytes));
	input = exact_copy(bytes, target->bytes);
	target->try(input);
	free(input);
	return 0;
}

/* A bit, a byte, a word that means something, or the rest of the input. */
static void mutate(u64 *state, u8 *bytes, u32 n)
{
	static const u32 words[] = {
		0, 1, 4, 5, 6, 0x21, 0x101, 0x3ffff, 0x40000, 0x7fffffff,
		0x80000000, 0x80000001, 0x30000001, 0xe0000001, 0xffffffff,
		0x80, 0x01000000, 0x10000000, 0xffff0000,
	};
	u32 at = draw_below(state, n);

	switch (draw_below(state, 8)) {
	case 0:
		draw_bytes(state, bytes + at, n - at);
		break;
	case 1:
	case 2:
		bytes[at] = (u8)draw(state);
		break;
	case 3:
	case 4:
		bytes[at] ^= (u8)(1u << draw_below(state, 8));
		break;
	case 5:
		bytes[at] = 0;
		break;
	default:
		at &= ~3u;
		if (at + 4 <= n)
			put32(bytes, at, words[draw_below(state,
							  ARRAY_SIZE(words))]);
	}
}

static void run(void)
{
	u64 state = replay.seed * 0x9e3779b97f4a7c15ull ^ replay.run;
	u8 input[HEAD + FUZZ_INPUT_BYTES] __aligned(8) = { 0 };
	const struct target *target;
	u32 changes;

	draw(&state);
	input[0] = (u8)draw_below(&state, n_fuzz_targets);
	target = &fuzz_targets[input[0]];
	draw_bytes(&state, input + HEAD, target->bytes);
	if (draw_below(&state, 8))
		target->seed(input + HEAD);
	for (changes = draw_below(&state, 6); changes; changes--)
		mutate(&state, input + HEAD, target->bytes);
	LLVMFuzzerTestOneInput(input, HEAD + target->bytes);
}

#ifndef LIBFUZZER
int main(int argc, char **argv)
{
	u64 runs;

	replay_begin("fuzz_decode", argc, argv, 100000);
	for (runs = 0; replay.run < replay.end; replay.run++, runs++)
		run();
	printf("fuzz_decode: %llu inputs\n", (unsigned long long)runs);
	return 0;
}
#endif

#endif
