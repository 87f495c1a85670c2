// SPDX-License-Identifier: Apache-2.0
// Tokens that the encodings cl100k and o200k make of each word, for
// make_lexicon.py; for src/text/token_count.c the pairs of letters that both have
// as one token, for src/text/token_threes.inc the same of three letters, and for
// src/text/token_wide.inc the most tokens that one of them makes of each character
// past ASCII.
//
// usage: count_tokens.mjs WORDS.txt > counts.tsv
//        count_tokens.mjs --pairs
//        count_tokens.mjs --threes > src/text/token_threes.inc
//        count_tokens.mjs --wide > src/text/token_wide.inc
// Needs the npm package gpt-tokenizer 4.0.0 (MIT).
import { readFileSync } from 'node:fs';
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';

function pairs() {
  const lower = 'abcdefghijklmnopqrstuvwxyz';
  const upper = lower.toUpperCase();
  for (const [firsts, seconds] of [[lower, lower], [upper, upper],
    [upper, lower]]) {
    for (const a of firsts) {
      let bits = 0;
      [...seconds].forEach((b, i) => {
        if (cl100k(a + b).length === 1 && o200k(a + b).length === 1) {
          bits += 2 ** i;
        }
      });
      console.log(`0x${bits.toString(16).padStart(7, '0')}, /* ${a} */`);
    }
  }
}

// Bits of three characters, of which the first may be a space: what is one token
// in one of the encodings, and what is in both.
function threes() {
  const letters = ' abcdefghijklmnopqrstuvwxyz';
  const any = [];
  const all = [];
  for (const a of letters) {
    for (const b of letters) {
      let some = 0;
      let both = 0;
      [...letters].forEach((c, i) => {
        if (b === ' ' || c === ' ') return;
        const counts = [cl100k(a + b + c).length, o200k(a + b + c).length];
        if (counts.includes(1)) some += 2 ** i;
        if (Math.max(...counts) === 1) both += 2 ** i;
      });
      any.push(some);
      all.push(both);
    }
  }
  console.log(`/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_threes.inc - three letters, or a space and two, that are one token; made
 * by models/lexicon/count_tokens.mjs --threes. Bit c of row 27 a + b, where a
 * space is 0 and "a" is 1.
 */`);
  for (const [name, rows] of [['threes_any', any], ['threes_both', all]]) {
    console.log(`static const uint32_t ${name}[27 * 27] = {`);
    for (let i = 0; i < rows.length; i += 6) {
      console.log(`    ${rows.slice(i, i + 6)
        .map((bits) => `0x${bits.toString(16).padStart(7, '0')},`).join(' ')}`);
    }
    console.log('};');
  }
}

// Blocks of characters of two and three bytes that people write in.
const BLOCKS = [[0x00a0, 0x052f], [0x0590, 0x06ff], [0x0900, 0x0e7f],
  [0x1e00, 0x206f], [0x3000, 0x30ff], [0x4e00, 0x9fff], [0xac00, 0xd7af],
  [0xff00, 0xffef]];

function wide() {
  const words = [];
  console.log(`/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_wide.inc - the most tokens that cl100k or o200k make of one character
 * past ASCII, two bits each; made by models/lexicon/count_tokens.mjs --wide.
 */
static const struct wide_block {
    uint32_t from;
    uint32_t to;
    uint32_t at; /* of its first word in wide_tokens */
} wide_blocks[] = {`);
  for (const [from, to] of BLOCKS) {
    console.log(`    {0x${from.toString(16)}, 0x${to.toString(16)}, ${words.length}},`);
    for (let first = from; first <= to; first += 16) {
      let bits = 0n;
      for (let i = 0; i < 16; i++) {
        const c = String.fromCodePoint(first + i);
        const most = Math.max(cl100k(c).length, o200k(c).length);
        bits |= BigInt(most) << BigInt(2 * i);
      }
      words.push(`0x${bits.toString(16).padStart(8, '0')},`);
    }
  }
  console.log('};\n\nstatic const uint32_t wide_tokens[] = {');
  for (let i = 0; i < words.length; i += 6) {
    console.log(`    ${words.slice(i, i + 6).join(' ')}`);
  }
  console.log('};');
}

if (process.argv[2] === '--pairs') {
  pairs();
} else if (process.argv[2] === '--threes') {
  threes();
} else if (process.argv[2] === '--wide') {
  wide();
} else {
  for (const word of readFileSync(process.argv[2], 'utf8').split('\n')) {
    if (!word) continue;
    const capital = word[0].toUpperCase() + word.slice(1);
    const counts = [word, ` ${word}`, capital, ` ${capital}`].map(
      (text) => `${cl100k(text).length}\t${o200k(text).length}`);
    console.log(`${word}\t${counts.join('\t')}`);
  }
}
