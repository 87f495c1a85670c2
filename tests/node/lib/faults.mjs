/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.mjs - what can happen between a client and the server.
 *
 * Stands before a server and passes requests on. `plan` says for each one what
 * happens instead: { status, headers } answers so, "lost" lets the server do it
 * and loses the answer, "half" breaks off in the middle of the answer, "mute"
 * never answers; undefined passes it on. It counts what came, and of how many
 * answers the beginning has left (`begun`).
 */
import http from "node:http";

export async function startFaults(target, plan = () => undefined) {
  const sockets = new Set();
  const seen = [];
  const faults = { seen, plan, begun: 0, url: "", async stop() {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  } };
  const server = http.createServer((request, response) => {
    const fault = faults.plan(request, seen.length);
    seen.push(`${request.method} ${request.url}`);
    if (fault?.status) {
      request.resume();
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
      response.end(JSON.stringify({ error: { code: "FAULT", type: "t", message: "a fault", request_id: "r" } }));
      return;
    }
    if (fault === "mute") return;
    const { hostname, port } = new URL(target);
    const on = http.request({ hostname, port, path: request.url, method: request.method,
      headers: request.headers }, (answer) => {
      if (fault === "lost") {
        answer.resume();
        answer.on("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      let sent = 0;
      answer.on("data", (part) => {
        if (fault === "half") {
          response.write(part.subarray(0, Math.ceil(part.length / 2)), () => request.socket.destroy());
        } else response.write(part, sent === 0 ? () => { faults.begun++; } : undefined);
        sent += part.length;
        if (faults.cutAfter && sent >= faults.cutAfter) request.socket.destroy();
      });
      answer.on("end", () => response.end());
      answer.on("error", () => request.socket.destroy());
    });
    on.on("error", () => request.socket.destroy());
    response.on("close", () => on.destroy());
    request.pipe(on);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  faults.url = `http://127.0.0.1:${server.address().port}`;
  /* What is open now breaks, as if a cable was pulled. */
  faults.cut = () => { for (const socket of sockets) socket.destroy(); };
  return faults;
}
