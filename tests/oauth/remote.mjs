// Speaks to mcp-remote over its standard input and output, as a desktop client does. The arguments are its program, the
// address of the MCP endpoint, and the port on which it gets the authorization code.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [program, address, port] = process.argv.slice(2);
const proxy = spawn(process.execPath, [program, address, port], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();

createInterface({ input: proxy.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
});
proxy.on("exit", (code) => {
  console.error(`mcp-remote ended with ${code}`);
  process.exit(1);
});

const send = (message) => proxy.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function call(id, method, params) {
  return new Promise((resolve, reject) => {
    waiting.set(id, ({ result, error }) => (error ? reject(new Error(JSON.stringify(error))) : resolve(result)));
    send({ id, method, params });
  });
}

await call(1, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "desktop", version: "1" },
});
send({ method: "notifications/initialized" });
const published = await call(2, "tools/call", {
  name: "publish_artifact",
  arguments: { slug: "my-page", files: [{ path: "index.html", content: "<!doctype html><p>Without a header." }] },
});
if (published.isError || published.structuredContent.version !== 1) {
  throw new Error(JSON.stringify(published));
}
console.log("published with OAuth");
proxy.removeAllListeners("exit");
proxy.kill();
process.exit(0);
