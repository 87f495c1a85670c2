/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.mjs - figures for the table of `make bench`, as figure.h writes them,
 * and small things that the benches in this language share.
 */
import fs from "node:fs";
import path from "node:path";

/* A line of BENCH_FIGURES, and one for whoever looks on. */
export function figure(name, value, unit, aim = "") {
  console.log(`${name.padEnd(62)} ${Number(value.toPrecision(4))} ${unit}${aim && `   (aim ${aim})`}`);
  if (process.env.BENCH_FIGURES) {
    fs.appendFileSync(process.env.BENCH_FIGURES, `${name}\t${Number(value.toPrecision(6))}\t${unit}\t${aim}\n`);
  }
}

export const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/* Bytes of a file, or of all files below a folder. */
export function bytesOf(place) {
  const info = fs.statSync(place, { throwIfNoEntry: false });
  if (!info?.isDirectory()) return info?.size ?? 0;
  return fs.readdirSync(place).reduce((sum, name) => sum + bytesOf(path.join(place, name)), 0);
}
