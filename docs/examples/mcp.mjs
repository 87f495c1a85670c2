/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent does over MCP: contribute what it learned, recall it. The words
 * after the file's name are how to start clew's server, e.g. build/clew mcp.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport, getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "example", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: getDefaultEnvironment(), stderr: "ignore" }));
await client.callTool({ name: "contribute", arguments: {
  thought: "The staging database moved to port 5433 because 5432 is taken by the old one." } });
const { content } = await client.callTool({ name: "recall", arguments: { query: "which port has the staging database?" } });
console.log(content[0].text);
await client.close();
