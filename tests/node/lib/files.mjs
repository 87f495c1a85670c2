/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.mjs - looking through a folder that a running server writes into: what
 * it removes after the folder was listed is passed over.
 */
import fs from "node:fs";
import path from "node:path";

function unlessGone(look, otherwise) {
  try {
    return look();
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return otherwise;
  }
}

/* The names of all files below `folder`. */
export function filesBelow(folder) {
  return unlessGone(() => fs.readdirSync(folder, { withFileTypes: true }), [])
    .flatMap((entry) => {
      const name = path.join(folder, entry.name);
      if (entry.isDirectory()) return filesBelow(name);
      return entry.isFile() ? [name] : [];
    });
}

/* The names of those that hold `text`. */
export function filesWith(folder, text) {
  return filesBelow(folder)
    .filter((name) => unlessGone(() => fs.readFileSync(name), "").includes(text));
}
