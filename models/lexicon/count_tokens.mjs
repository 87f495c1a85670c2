// SPDX-License-Identifier: Apache-2.0
// Tokens that the encodings cl100k and o200k make of each word, for
// make_lexicon.py, and the pairs of letters that both have as one token, for
// src/text/token_count.c.
//
// usage: count_tokens.mjs WORDS.txt > counts.tsv
//        count_tokens.mjs --pairs
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

if (process.argv[2] === '--pairs') {
  pairs();
} else {
  for (const word of readFileSync(process.argv[2], 'utf8').split('\n')) {
    if (!word) continue;
    const capital = word[0].toUpperCase() + word.slice(1);
    const counts = [word, ` ${word}`, capital, ` ${capital}`].map(
      (text) => `${cl100k(text).length}\t${o200k(text).length}`);
    console.log(`${word}\t${counts.join('\t')}`);
  }
}
