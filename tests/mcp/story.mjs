// An agent's use of MCP from its first call to its last, with the official TypeScript SDKs.
//
// The environment contains the server, the token and the SDK:
//
// HANDBILL_TEST_BASE_URL  the control plane
// HANDBILL_TEST_TOKEN     of a claimed account, new, with three free publishes
// HANDBILL_TEST_SDK       "today", "2025-03" (an SDK of that version of the protocol), or "newest" (without a handshake)

import assert from "node:assert/strict";

const newest = process.env.HANDBILL_TEST_SDK === "newest";

const sdk = process.env.HANDBILL_TEST_SDK === "2025-03" ? "sdk-of-2025-03" : "@modelcontextprotocol/sdk";
const { Client } = await import(newest ? "@modelcontextprotocol/client" : `${sdk}/client/index.js`);
const { StreamableHTTPClientTransport } = await import(
  newest ? "@modelcontextprotocol/client" : `${sdk}/client/streamableHttp.js`
);

const baseUrl = process.env.HANDBILL_TEST_BASE_URL;
const token = process.env.HANDBILL_TEST_TOKEN;

const readsOnly = ["list_artifacts", "get_artifact", "list_files", "read_file", "diff_versions", "get_account"];
const changes = [
  "publish_artifact",
  "edit_artifact",
  "rollback_artifact",
  "set_visibility",
  "delete_artifact",
  "create_claim_link",
  "create_invite",
  "add_credits",
  "stage_upload",
  "publish_upload",
];

const site = (words) => [
  { path: "index.html", content: `<!doctype html><link rel="stylesheet" href="css/app.css"><p>${words}</p>` },
  { path: "css/app.css", content: "p { color: teal }" },
];

const report = (step, ...facts) => console.log(`${step}:`, ...facts);

/** A client that can ask a human, and that speaks only the newest version. */
const askable = {
  capabilities: { elicitation: { form: {} } },
  versionNegotiation: { mode: { pin: "2026-07-28" } },
};

/** One with a client that is connected. */
class Agent {
  static async connect(token, fetch = globalThis.fetch) {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const agent = new Agent();
    agent.questions = [];
    agent.client = new Client({ name: "handbill-tests", version: "1.0.0" }, newest ? askable : {});
    if (newest) {
      agent.client.setRequestHandler("elicitation/create", async ({ params }) => {
        agent.questions.push(params.message);
        return { action: "accept", content: {} };
      });
    }
    // A background error, such as a stream that cannot be opened, is a failure too.
    agent.client.onerror = (error) => {
      throw error;
    };
    const transport = new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { requestInit: { headers }, fetch });
    await agent.client.connect(transport);
    assert.equal(transport.sessionId, undefined);
    return agent;
  }

  /** What a tool answers, which stands in its one text block and in the structured content alike. */
  async call(tool, args = {}) {
    const result = await this.client.callTool({ name: tool, arguments: args });
    const body = bodyOf(result);
    assert.ok(!result.isError, `${tool}: ${JSON.stringify(body)}`);
    return body;
  }

  /** The body of a refusal: as over REST, with a hint that names the next call. */
  async refused(code, tool, args = {}) {
    const result = await this.client.callTool({ name: tool, arguments: args });
    const body = bodyOf(result);
    assert.equal(result.isError, true, `${tool} was not refused: ${JSON.stringify(body)}`);
    assert.equal(body.code, code, JSON.stringify(body));
    assert.ok(body.hint && (body.message || body.reason), JSON.stringify(body));
    return body;
  }
}

function bodyOf({ content, structuredContent }) {
  assert.equal(content.length, 1);
  assert.equal(content[0].type, "text");
  const body = JSON.parse(content[0].text);
  assert.deepEqual(structuredContent, body);
  return body;
}

/** What a reader sees, who has no token. */
async function page(url) {
  const answer = await fetch(url);
  return { status: answer.status, text: await answer.text() };
}

async function saying(url, words) {
  const { text } = await page(url);
  assert.ok(text.includes(words), text);
}

async function meetsTheServer({ client }) {
  assert.equal(client.getServerVersion().name, "handbill");
  assert.ok(client.getServerCapabilities().tools);
  if (!newest) await client.ping();
  report("connected", client.getServerVersion().version);
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => prompt.name), ["publish", "share_privately", "hand_over"]);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), [...readsOnly, ...changes].sort());
  for (const tool of tools) {
    assert.ok(tool.description, tool.name);
    assert.equal(tool.annotations.readOnlyHint, readsOnly.includes(tool.name), tool.name);
    assert.equal(tool.outputSchema.type, "object", tool.name);
  }
  assert.equal(tools.find((tool) => tool.name === "delete_artifact").annotations.destructiveHint, true);
  report("tools", tools.length);
}

async function publishesAndRollsBack(agent) {
  const first = await agent.call("publish_artifact", { slug: "my-site", files: site("The first.") });
  assert.equal(first.version, 1);
  assert.equal(first.account.free_publishes_left, 2);
  const { url } = first;
  const { resources } = await agent.client.listResources();
  const { contents } = await agent.client.readResource({ uri: resources[0].uri });
  assert.ok(contents[0].text.includes("The first."), JSON.stringify(contents));
  await saying(url, "The first.");
  await saying(`${url}css/app.css`, "p { color: teal }");
  const detail = await agent.call("get_artifact", { slug: "my-site" });
  assert.deepEqual([detail.slug, detail.url, detail.host], ["my-site", url, first.host]);
  const [version] = detail.versions;
  assert.deepEqual([version.file_count, version.created_via, version.live], [2, "mcp", true]);
  const { files } = await agent.call("list_files", { slug: "my-site" });
  assert.deepEqual(files.map((file) => file.path), ["css/app.css", "index.html"]);
  const read = await agent.call("read_file", { slug: "my-site", path: "css/app.css" });
  assert.deepEqual([read.content, read.truncated], ["p { color: teal }", false]);

  const second = await agent.call("publish_artifact", { slug: "my-site", files: site("The second.") });
  assert.deepEqual([second.version, second.url], [2, url]);
  await saying(url, "The second.");
  const back = await agent.call("rollback_artifact", { slug: "my-site", version: 1 });
  assert.deepEqual([back.slug, back.version], ["my-site", 1]);
  await saying(url, "The first.");
  const listed = await agent.call("list_artifacts");
  const { created_at, updated_at, versions_days, versions_kept, views_month, ...same } = listed.artifacts[0];
  assert.deepEqual([versions_days, versions_kept], [null, null]);
  assert.deepEqual([[same], listed.artifacts.length, listed.next_cursor], [[back], 1, null]);
  assert.ok(created_at <= updated_at && views_month >= 0, JSON.stringify(listed));
  report("published and rolled back", url);
  return url;
}

async function looksAtTheAccount(agent) {
  const account = await agent.call("get_account");
  assert.deepEqual([account.status, account.credits_usd, account.free_publishes_left], ["claimed", 0, 1]);
  assert.deepEqual([account.member_count, account.allow_agent_join], [1, true]);
  await agent.refused("already_claimed", "create_claim_link");
  report("account", account.handle);
}

async function invitesAnotherAgent(agent) {
  const invite = await agent.call("create_invite", { role: "member", max_uses: 2, ttl_hours: 24 });
  assert.deepEqual([invite.role, invite.max_uses], ["member", 2]);
  assert.ok(invite.invite_url.endsWith(invite.code) && invite.expires_at, JSON.stringify(invite));
  const join = { method: "POST", headers: { "Content-Type": "application/json" } };
  const joined = await fetch(`${baseUrl}/v1/account/join`, { ...join, body: JSON.stringify({ code: invite.code }) });
  const other = await Agent.connect((await joined.json()).token);
  assert.equal((await other.call("get_artifact", { slug: "my-site" })).version, 1);
  await other.refused("insufficient_scope", "create_invite");
  await other.client.close();
  report("invited another agent");
}

async function stagesAnUpload(agent, url) {
  const staged = await agent.call("stage_upload");
  assert.ok(staged.url.startsWith(baseUrl) && staged.curl.includes(staged.url), JSON.stringify(staged));
  assert.ok(staged.hint && staged.expires_at, JSON.stringify(staged));
  const form = new FormData();
  for (const file of site("The uploaded.")) form.append("files", new Blob([file.content]), file.path);
  const put = await fetch(staged.url, { method: "POST", body: form });
  const stored = await put.json();
  assert.deepEqual([put.status, stored.upload, stored.file_count], [201, staged.upload, 2], JSON.stringify(stored));
  const third = await agent.call("publish_upload", { slug: "my-site", upload: staged.upload });
  assert.deepEqual([third.version, third.account.free_publishes_left], [3, 0]);
  await saying(url, "The uploaded.");
  await saying(`${url}css/app.css`, "p { color: teal }");
  report("published what was uploaded");
}

async function paysForMore(agent, url) {
  const more = { slug: "my-site", files: site("Paid.") };
  const challenge = await agent.refused("payment_required", "publish_artifact", more);
  assert.deepEqual([challenge.reason, challenge.amount_usd], ["publish", 0.005]);
  assert.ok(challenge.accepts.some((entry) => entry.scheme === "dev"), JSON.stringify(challenge));
  assert.match(challenge.hint, /add_credits/);
  const bought = await agent.call("add_credits", { amount_usd: 1, payment_scheme: "dev" });
  assert.deepEqual([bought.credits_usd, bought.receipt.amount_usd, bought.receipt.rail], [1, 1, "dev"]);
  const paid = await agent.call("publish_artifact", more);
  assert.deepEqual([paid.version, paid.account.credits_usd], [4, 0.995]);
  await saying(url, "Paid.");
  assert.equal(agent.questions.length, newest ? 2 : 0, JSON.stringify(agent.questions));
  report("paid", challenge.amount_usd);
}

async function isToldWhatWasWrong(agent) {
  const unknown = await agent.refused("not_found", "get_artifact", { slug: "no-such-page" });
  assert.deepEqual(Object.keys(unknown).sort(), ["code", "doc_url", "hint", "message"]);
  const missing = await agent.refused("invalid_request", "get_artifact");
  assert.match(missing.message, /slug/);
  await assert.rejects(agent.client.callTool({ name: "no_such_tool" }), { code: -32602 });
  report("got a helpful error", unknown.hint);
}

async function deletes(agent, url) {
  assert.deepEqual(await agent.call("delete_artifact", { slug: "my-site" }), { slug: "my-site", deleted: true });
  assert.equal((await page(url)).status, 404);
  await agent.refused("not_found", "get_artifact", { slug: "my-site" });
  assert.deepEqual(await agent.call("list_artifacts"), { artifacts: [], next_cursor: null });
  report("deleted");
}

async function nobodyComesInWithoutAToken() {
  for (const token of [undefined, `svc_sk_${"0".repeat(32)}`]) {
    const answers = [];
    const keeping = async (...request) => {
      const answer = await fetch(...request);
      answers.push(answer);
      return answer;
    };
    await assert.rejects(Agent.connect(token, keeping));
    // The older SDK takes no fetch of ours.
    if (sdk === "sdk-of-2025-03") continue;
    assert.deepEqual(answers.map((answer) => answer.status), [401]);
    assert.match(answers[0].headers.get("www-authenticate"), /^Bearer /);
  }
  report("access without a token was refused");
}

await nobodyComesInWithoutAToken();
const agent = await Agent.connect(token);
await meetsTheServer(agent);
const url = await publishesAndRollsBack(agent);
await looksAtTheAccount(agent);
await invitesAnotherAgent(agent);
await stagesAnUpload(agent, url);
await paysForMore(agent, url);
await isToldWhatWasWrong(agent);
await deletes(agent, url);
await agent.client.close();
