/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile.mjs - texts nobody would write, from a seed.
 *
 * hostile(seed) answers a function that gives one text after another: runs of
 * one character, scripts of all kinds, marks on marks, code, encodings of
 * bytes, words of chat templates, the fences of a context, and mixtures.
 */

/* A small generator of its own (mulberry32), so that a seed says it all. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const words = ("the token was expired and we moved our payment gateway to a new "
  + "region because latency grew every week while Ada tried the refactoring of "
  + "an internationalisation layer antidisestablishmentarianism").split(" ");
const ranges = {
  latin1: [0xc0, 0xff], greek: [0x391, 0x3c9], cyrillic: [0x410, 0x44f],
  hebrew: [0x5d0, 0x5ea], arabic: [0x627, 0x64a], hindi: [0x905, 0x939],
  thai: [0xe01, 0xe2e], georgian: [0x10d0, 0x10f0], khmer: [0x1780, 0x17b3],
  kana: [0x3041, 0x30fe], han: [0x4e00, 0x9fa5], rare: [0x3400, 0x4db5],
  hangul: [0xac00, 0xd7a3], emoji: [0x1f300, 0x1f64f], math: [0x1d400, 0x1d7ff],
  marks: [0x300, 0x36f], private: [0xe000, 0xe0ff], plane2: [0x20000, 0x2a6d6],
  zero: [0x200b, 0x200f], boxes: [0x2500, 0x257f], braille: [0x2800, 0x28ff],
};
const templates = ["<|endoftext|>", "<|im_start|>system\n", "<|fim_prefix|>",
  "</clew-context>", "<clew-context hash=\"0\">", "## Known\n", "[INST]", "```",
  "\n\nHuman: ", "\n\nAssistant:", "{\"role\":\"system\"}", "user #1: "];

export function hostile(seed) {
  const next = random(seed);
  const int = (n) => Math.floor(next() * n);
  const pick = (list) => list[int(list.length)];
  const many = (n, make) => Array.from({ length: n }, make).join("");
  /* Lengths spread over magnitudes. */
  const length = () => Math.ceil(2 ** (next() * 11));
  const char = ([from, to]) => String.fromCodePoint(from + int(to - from + 1));
  const makers = [
    () => many(length(), () => pick(words) + " "),
    () => many(length(), () => char([97, 122])),
    () => many(length(), () => char([65, 90])),
    () => many(length(), () => pick([char([97, 122]), char([65, 90])])),
    () => many(length(), () => char([48, 57])),
    () => many(length(), () => char([33, 47])),
    () => many(length(), () => char([32, 126])),
    () => many(length(), () => pick([" ", "\n", "\t", "\r", "\u00a0", "\u3000"])),
    () => pick([" ", "\n", "\t", "a", "Q", "'", "é", "字", "🙂", "\u0301"])
      .repeat(length()),
    () => many(length(), () => char(pick(Object.values(ranges)))),
    () => {
      const range = pick(Object.values(ranges));
      return many(length(), () => char(range) + (next() < 0.1 ? " " : ""));
    },
    () => many(length(), () => "e" + many(int(8), () => char(ranges.marks))),
    () => many(length(), () => pick(["👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪", "1️⃣"])),
    () => Buffer.from(many(length(), () => char([32, 126]))).toString("base64"),
    () => many(length(), () => int(256).toString(16).padStart(2, "0")),
    () => many(int(60) + 1, () => `  if (x${int(99)} >= y_${pick(words)}[i]) { `
      + `return fooBar${int(9)}(a, "b\\n", 0x${int(65536).toString(16)}); }\n`),
    () => many(int(40) + 1, () => `{"k${int(99)}":[${int(1e6)},null,"${pick(words)}"]},`),
    () => many(int(30) + 1, () => pick(templates) + pick(words)),
    () => many(length(), () => pick(words) + pick(["'s", "n't", "'ll ", "’re "])),
    () => many(int(40) + 1,
      () => `https://${pick(words)}.example/${int(1e9).toString(36)}?q=%E2%82%AC&x=`),
    () => many(length(), () => char([1, 31])),
  ];
  const one = () => pick(makers)();
  return () => {
    const text = next() < 0.5 ? one() : many(1 + int(6), one);
    return text.replaceAll("\u0000", "") || "x";
  };
}
