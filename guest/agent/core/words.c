// SPDX-License-Identifier: GPL-2.0-only
/*
 * words.c - see words.h.
 */
#include <string.h>

#include "core/random.h"
#include "core/words.h"

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u
#define WORDS 512
#define WEIGHT_UNIT ((uint64_t)1 << 32)

/* The longest has fourteen letters. */
static const char list[] =
	"the of and to a in is that it was for on are as with his they at be "
	"this from have or by one had not but what all were when we there "
	"can an your which their said if do will each about how up out them "
	"then she many some so these would other into has more her two like "
	"him see time could no make than first been its who now people my "
	"made over did down only way find use may water long little very "
	"after words called just where most know get through back much "
	"before go good new write our used me man too any day same right "
	"look think also around another came come work three word must "
	"because does part even place well such here take why things help "
	"put years different away again off went old number great tell men "
	"say small every found still between name should home big give air "
	"line set own under read last never us left end along while might "
	"next sound below saw something thought both few those always looked "
	"show large often together asked house world going want school "
	"important until form food keep children feet land side without boy "
	"once animals life enough took sometimes four head above kind began "
	"almost live page got earth need far hand high year mother light "
	"parts country father let night following picture being study second "
	"eyes soon times story boys since white days ever paper hard near "
	"sentence better best across during today others however sure means "
	"knew try told young miles sun ways thing whole hear example heard "
	"several change answer room sea against top turned learn point city "
	"play toward five using himself usually money seen car morning body "
	"upon family later turn move face door cut done group half red fish "
	"plants living run eat short united order open ground cold really "
	"table remember tree course front space inside ago sad early learned "
	"brought close nothing though started idea call lived makes became "
	"looking add become grow draw yet less wind behind cannot letter "
	"among able dog shown mean english rest perhaps certain six feel "
	"fire ready green built special ran full town complete oh person hot "
	"anything hold state list stood hundred ten fast felt kept notice "
	"strong voice probably area horse matter stand box start class piece "
	"surface river common stop am talk whether fine round dark past ball "
	"girl tried road questions blue meaning coming instead either held "
	"friends already warm gone finally summer understand moon animal "
	"mind outside power problem longer winter deep heavy carefully "
	"follow beautiful everyone leave everything game system bring watch "
	"shell dry within floor ice ship themselves begin fact third quite "
	"carry distance although sat possible heart real simple snow rain "
	"suddenly leaves easy lay size wild weather miss pattern sky walked "
	"main someone center field stay boat question wide least tiny hour "
	"happened foot care low else gold build glass rock tall alone bottom "
	"walk check fall poor map friend language job music buy window";

/* What follows a word, by four random bits; a line ends after some 90 bytes. */
static const struct separator {
	char text[4];
	uint8_t length;
} separators[16] = {
	{ " ", 1 }, { " ", 1 }, { " ", 1 }, { " ", 1 }, { " ", 1 },
	{ " ", 1 }, { " ", 1 }, { " ", 1 }, { " ", 1 }, { " ", 1 },
	{ " ", 1 }, { " ", 1 }, { " ", 1 }, { "\n", 1 }, { ", ", 2 },
	{ ". ", 2 },
};

/* 1 / (rank + 2.7) with rank from 1 on. */
static uint64_t weight(unsigned int rank)
{
	return WEIGHT_UNIT * 10 / (10 * rank + 27);
}

void words_init(struct word_table *table)
{
	uint64_t total = 0, sum = 0;
	const char *next = list;
	unsigned int rank;
	size_t place = 0;

	memset(table, 0, sizeof(*table));
	for (rank = 1; rank <= WORDS; rank++)
		total += weight(rank);
	for (rank = 1; rank <= WORDS; rank++) {
		size_t length = strcspn(next, " "), end;

		sum += weight(rank);
		end = (size_t)(sum * WORD_PLACES / total);
		for (; place < end; place++) {
			memcpy(table->places[place].text, next, length);
			table->places[place].length = (uint8_t)length;
		}
		next += length + (next[length] == ' ');
	}
}

/* A piece of a text that is made from its start. */
struct piece {
	unsigned char *out;
	size_t skip, end;	/* in the text */
	size_t at;		/* how far it was made */
};

/* @text is @room long, @length of it count. */
static void put(struct piece *piece, const char *text, size_t room,
		size_t length)
{
	size_t i, start = piece->at;

	piece->at += length;
	/* Copies of a fixed size are single instructions. */
	if (start >= piece->skip && start + room <= piece->end) {
		memcpy(piece->out + (start - piece->skip), text, room);
		return;
	}
	for (i = 0; i < length; i++)
		if (start + i >= piece->skip && start + i < piece->end)
			piece->out[start + i - piece->skip] =
				(unsigned char)text[i];
}

void words_fill(const struct word_table *table, uint64_t key, size_t skip,
		unsigned char *out, size_t bytes)
{
	struct piece piece = { .out = out, .skip = skip, .end = skip + bytes };
	uint64_t bits = 0;
	size_t n;

	for (n = 0; piece.at < piece.end; n++) {
		const struct separator *separator;
		const struct word *word;

		if (n % 4 == 0) {
			key += GOLDEN_GAMMA;
			bits = rng_mix(key);
		}
		word = &table->places[bits % WORD_PLACES];
		separator = &separators[bits >> 12 & 15];
		bits >>= 16;
		put(&piece, word->text, sizeof(word->text), word->length);
		put(&piece, separator->text, sizeof(separator->text),
		    separator->length);
	}
}
