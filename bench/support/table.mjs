/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.mjs - what the benches measured, in one table beside what was kept.
 *
 *     node bench/support/table.mjs FIGURES LAST          print
 *     node bench/support/table.mjs --keep FIGURES LAST   write LAST
 *
 * Both files have a figure a line: name, value, unit, aim, separated by tabs;
 * lines with # say where they come from. Kept figures of the same machine stay
 * where this run has none.
 */
import fs from "node:fs";

function read(file) {
  const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  return {
    notes: lines.filter((line) => line.startsWith("#")),
    figures: new Map(lines.filter((line) => !line.startsWith("#")).map((line) => {
      const [name, value, unit, aim] = line.split("\t");
      return [name, { value: Number(value), unit, aim }];
    })),
  };
}

const machineOf = ({ notes }) => notes.find((note) => note.startsWith("# machine:"));

function verdict({ value, aim }) {
  const [, sign, bound] = /^([<>]=) ([\d.]+)$/.exec(aim ?? "") ?? [];
  if (!sign) return "";
  return (sign === "<=" ? value <= Number(bound) : value >= Number(bound)) ? "met" : "missed";
}

const shown = (value) => {
  if (value === undefined) return "";
  return value >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
};

function print(now, last) {
  const width = Math.max(...[...now.figures.keys()].map((name) => name.length));
  for (const note of now.notes) console.log(note.slice(2));
  for (const note of last.notes) console.log(`last kept, ${note.slice(2)}`);
  if (last.notes.length && machineOf(now) !== machineOf(last)) console.log("the kept figures are of another machine: compare ratios only");
  console.log(`\n${"".padEnd(width)} ${"now".padStart(10)} ${"".padEnd(5)} ${"aim".padEnd(9)} ${"".padEnd(6)} ${"last kept".padStart(10)}  now/last`);
  for (const [name, figure] of now.figures) {
    const before = last.figures.get(name)?.value;
    const ratio = before ? (figure.value / before).toFixed(2) : "";
    console.log(`${name.padEnd(width)} ${shown(figure.value).padStart(10)} ${figure.unit.padEnd(5)} ${(figure.aim || "").padEnd(9)} `
      + `${verdict(figure).padEnd(6)} ${shown(before).padStart(10)}  ${ratio}`.trimEnd());
  }
  const missing = [...last.figures.keys()].filter((name) => !now.figures.has(name));
  if (missing.length) console.log(`\nkept, and not measured in this run: ${missing.length}\n  ${missing.join("\n  ")}`);
}

function keep(now, last, file) {
  const figures = machineOf(now) === machineOf(last) ? new Map([...last.figures, ...now.figures]) : now.figures;
  const lines = [...figures].map(([name, { value, unit, aim }]) => [name, value, unit, aim].join("\t"));
  fs.writeFileSync(file, `${[...now.notes, ...lines].join("\n")}\n`);
  console.log(`${file}: ${lines.length} figures`);
}

const isKeep = process.argv[2] === "--keep";
const [figures, kept] = process.argv.slice(isKeep ? 3 : 2);
const [now, last] = [read(figures), read(kept)];
if (now.figures.size === 0) console.log("no figures for the table");
else if (isKeep) keep(now, last, kept);
else print(now, last);
