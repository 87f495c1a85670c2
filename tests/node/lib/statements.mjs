/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statements.mjs - the SQL that stands in the program, as it stands there.
 */
import fs from "node:fs";

import { bin } from "./server.mjs";

export function statements() {
  const bytes = fs.readFileSync(bin).toString("latin1");
  const found = bytes.match(/(?:SELECT|UPDATE|DELETE|WITH|INSERT) [\x20-\x7e]{20,}/g);
  return [...new Set(found)];
}
