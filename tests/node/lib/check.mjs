/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.mjs - assertions that many tests share.
 */
import assert from "node:assert/strict";

import { until } from "./wait.mjs";

export const uuid =
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/* The answer is the one error form, with this status, code and field. */
export function isError(answer, status, code, field) {
  assert.equal(answer.status, status, `${answer.status} ${answer.text}`);
  assert.deepEqual(Object.keys(answer.body), ["error"]);
  const { error } = answer.body;
  if (code) assert.equal(error.code, code);
  assert.equal(typeof error.type, "string");
  assert.equal(typeof error.message, "string");
  assert.equal(error.request_id, answer.headers.get("x-request-id"));
  if (field !== undefined) assert.equal(error.field, field, answer.text);
}

export function isOk(answer, status = 200) {
  assert.equal(answer.status, status, `${answer.status} ${answer.text}`);
  return answer.body;
}

/* Turns of long calls are read in the background: wait until none is left. */
export async function isRead(api) {
  await until("all turns are read", async () =>
    isOk(await api.get("/healthz")).reading.waiting === 0);
}

/* Links are read by a task: wait until none waits or runs. */
export async function isLinked(api) {
  await until("all links are read", async () => {
    const tasks = [];
    for (const status of ["pending", "running"]) {
      tasks.push(...isOk(await api.get(`/api/v1/tasks?status=${status}&limit=200`)).items);
    }
    return !tasks.some((task) => task.kind === "link.read");
  });
}
