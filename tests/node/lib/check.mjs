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

/* Every task, newest first; pages are looked at one after the other. */
async function tasksOf(api) {
  const all = [];
  for (let cursor = ""; ;) {
    const page = isOk(await api.get(`/api/v1/tasks?limit=500${cursor && `&cursor=${cursor}`}`));
    all.push(...page.items);
    if (!page.next_cursor) return all;
    cursor = page.next_cursor;
  }
}

/* What a task that is over has left to do is a newer task: so two looks that see
 * the same tasks, all of them over, are needed to say that nothing is under way.
 * Asking for those that run and for those that are due lets slip what is claimed
 * in between. A task that is tried again is not over. What is under way, or
 * undefined. */
export async function taskUnderWay(api, isMine = () => true) {
  const isOver = (task) => !isMine(task) || (task.status !== "running" && (task.status !== "pending"
    || (Date.parse(task.execute_at) > Date.now() && task.attempts === 0)));
  const first = await tasksOf(api);
  const open = first.find((task) => !isOver(task));
  if (open) return JSON.stringify(open);
  const second = await tasksOf(api);
  const known = new Set(first.map((task) => task.id));
  const fresh = second.find((task) => !known.has(task.id) || !isOver(task));
  return fresh && JSON.stringify(fresh);
}

/* Wait until no task of a kind waits or runs. */
const isDone = (api, kind) => until(`${kind} is done`, async () =>
  !await taskUnderWay(api, (task) => task.kind === kind));

/* Links are read by a task. */
export const isLinked = (api) => isDone(api, "link.read");

/* Texts of earlier versions are packed by one. */
export const isPacked = (api) => isDone(api, "texts.pack");

/* Turns read by an earlier version get their gists from one. */
export const isPlaced = (api) => isDone(api, "turns.gist");

/* Rows of an earlier form are written anew by one. */
export const isRenewed = (api) => isDone(api, "rows.renew");
