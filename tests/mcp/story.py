"""An agent's use of MCP from its first call to its last, with the official Python SDK.

The environment contains the server and the token:

HANDBILL_TEST_BASE_URL   the control plane
HANDBILL_TEST_TOKEN      of a claimed account, new, with three free publishes
HANDBILL_TEST_HANDSHAKE  "legacy" begins with `initialize`; "auto" with `server/discover`, and takes what it gets;
                         "2026-07-28" speaks only that version
"""

import json
import os
from contextlib import asynccontextmanager

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

BASE_URL = os.environ["HANDBILL_TEST_BASE_URL"]
TOKEN = os.environ["HANDBILL_TEST_TOKEN"]
HANDSHAKE = os.environ["HANDBILL_TEST_HANDSHAKE"]

READS_ONLY = {"list_artifacts", "get_artifact", "list_files", "read_file", "diff_versions", "get_account"}
TOOLS = READS_ONLY | {
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
}


def site(words):
    page = f'<!doctype html><link rel="stylesheet" href="css/app.css"><p>{words}</p>'
    return [{"path": "index.html", "content": page}, {"path": "css/app.css", "content": "p { color: teal }"}]


def report(step, *facts):
    print(f"{HANDSHAKE}: {step}:", *facts)


class Agent:
    """An agent with a connected client."""

    def __init__(self, client, http):
        self.client = client
        self.http = http

    async def call(self, tool, **arguments):
        """The result of a tool, which is the same in its only text block and in the structured content."""
        result = await self.client.call_tool(tool, arguments)
        body = body_of(result)
        assert not result.is_error, f"{tool}: {body}"
        return body

    async def refused(self, code, tool, **arguments):
        """The body of a refusal: as over REST, with a hint that names the next call."""
        result = await self.client.call_tool(tool, arguments)
        body = body_of(result)
        assert result.is_error, f"{tool} was not refused: {body}"
        assert body["code"] == code, f"{tool}: {body}"
        assert body["hint"] and (body.get("message") or body.get("reason")), f"{tool}: {body}"
        return body

    async def page(self, url):
        """The page that a visitor without a token sees."""
        return await self.http.get(url)


def body_of(result):
    [block] = result.content
    assert block.type == "text", block
    body = json.loads(block.text)
    assert result.structured_content == body, result
    return body


@asynccontextmanager
async def connected(token, answers=None):
    """An agent with this token. All HTTP responses are added to `answers`, if it is given."""

    async def keep(response):
        if answers is not None:
            answers.append(response)

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(timeout=30) as readers_http,
        httpx2.AsyncClient(headers=headers, timeout=30, event_hooks={"response": [keep]}) as http,
        Client(streamable_http_client(f"{BASE_URL}/mcp", http_client=http), mode=HANDSHAKE) as client,
    ):
        yield Agent(client, readers_http)


async def meets_the_server(agent):
    client = agent.client
    if HANDSHAKE != "2026-07-28":
        assert client.server_info.name == "handbill", client.server_info
        assert client.server_capabilities.tools is not None, client.server_capabilities
    if HANDSHAKE == "legacy":
        assert client.protocol_version == "2025-11-25", client.protocol_version
        await client.session.send_ping()
    else:
        assert client.protocol_version == "2026-07-28", client.protocol_version
    report("connected", client.protocol_version)
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == TOOLS, sorted(tools)
    for name, tool in tools.items():
        assert tool.description and tool.input_schema["type"] == "object", tool
        assert tool.annotations.read_only_hint is (name in READS_ONLY), tool
    assert tools["delete_artifact"].annotations.destructive_hint is True
    report("tools", len(tools))


async def publishes_and_rolls_back(agent):
    first = await agent.call("publish_artifact", slug="my-site", files=site("The first."))
    assert first["version"] == 1 and first["account"]["free_publishes_left"] == 2, first
    url = first["url"]
    assert "The first." in (await agent.page(url)).text
    assert (await agent.page(f"{url}css/app.css")).text == "p { color: teal }"
    detail = await agent.call("get_artifact", slug="my-site")
    assert detail["slug"] == "my-site" and detail["url"] == url and detail["host"] == first["host"], detail
    [version] = detail["versions"]
    assert version["file_count"] == 2 and version["created_via"] == "mcp" and version["live"], version
    files = (await agent.call("list_files", slug="my-site"))["files"]
    assert [file["path"] for file in files] == ["css/app.css", "index.html"], files
    read = await agent.call("read_file", slug="my-site", path="css/app.css")
    assert read["content"] == "p { color: teal }" and not read["truncated"], read

    second = await agent.call("publish_artifact", slug="my-site", files=site("The second."))
    assert second["version"] == 2 and second["url"] == url, second
    assert "The second." in (await agent.page(url)).text
    back = await agent.call("rollback_artifact", slug="my-site", version=1)
    assert back["slug"] == "my-site" and back["version"] == 1, back
    assert "The first." in (await agent.page(url)).text
    listed = await agent.call("list_artifacts")
    (entry,) = listed["artifacts"]
    assert listed["next_cursor"] is None and entry.items() >= back.items(), (listed, back)
    assert entry["created_at"] <= entry["updated_at"] and entry["views_month"] >= 0, entry
    report("published and rolled back", url)
    return url


async def looks_at_the_account(agent):
    account = await agent.call("get_account")
    assert account["status"] == "claimed" and account["credits_usd"] == 0, account
    assert account["member_count"] == 1 and account["allow_agent_join"] is True, account
    assert account["free_publishes_left"] == 1, account
    await agent.refused("already_claimed", "create_claim_link")
    report("account", account["handle"])


async def invites_another_agent(agent):
    invite = await agent.call("create_invite", role="member", max_uses=2, ttl_hours=24)
    assert invite["role"] == "member" and invite["max_uses"] == 2, invite
    assert invite["invite_url"].endswith(invite["code"]) and invite["expires_at"], invite
    joined = (await agent.http.post(f"{BASE_URL}/v1/account/join", json={"code": invite["code"]})).json()
    async with connected(joined["token"]) as other:
        assert (await other.call("get_artifact", slug="my-site"))["version"] == 1
        await other.refused("insufficient_scope", "create_invite")
    report("invited another agent")


async def stages_an_upload(agent, url):
    staged = await agent.call("stage_upload")
    assert staged["url"].startswith(BASE_URL) and staged["url"] in staged["curl"], staged
    assert staged["hint"] and staged["expires_at"], staged
    files = [("files", (file["path"], file["content"])) for file in site("The uploaded.")]
    put = await agent.http.post(staged["url"], files=files)
    assert put.status_code == 201, put.text
    assert put.json()["upload"] == staged["upload"] and put.json()["file_count"] == 2, put.text
    third = await agent.call("publish_upload", slug="my-site", upload=staged["upload"])
    assert third["version"] == 3 and third["account"]["free_publishes_left"] == 0, third
    assert "The uploaded." in (await agent.page(url)).text
    assert (await agent.page(f"{url}css/app.css")).text == "p { color: teal }"
    report("published what was uploaded")


async def pays_for_more(agent, url):
    challenge = await agent.refused("payment_required", "publish_artifact", slug="my-site", files=site("Paid."))
    assert challenge["reason"] == "publish" and challenge["amount_usd"] == 0.005, challenge
    assert "dev" in [entry["scheme"] for entry in challenge["accepts"]], challenge
    assert "add_credits" in challenge["hint"], challenge
    bought = await agent.call("add_credits", amount_usd=1, payment_scheme="dev")
    assert bought["credits_usd"] == 1 and bought["receipt"]["amount_usd"] == 1, bought
    assert bought["receipt"]["rail"] == "dev" and bought["receipt"]["id"], bought
    paid = await agent.call("publish_artifact", slug="my-site", files=site("Paid."))
    assert paid["version"] == 4 and paid["account"]["credits_usd"] == 0.995, paid
    assert "Paid." in (await agent.page(url)).text
    report("paid", challenge["amount_usd"])


async def gets_a_helpful_error(agent):
    unknown = await agent.refused("not_found", "get_artifact", slug="no-such-page")
    assert set(unknown) == {"code", "doc_url", "message", "hint"}, unknown
    missing = await agent.refused("invalid_request", "get_artifact")
    assert "slug" in missing["message"], missing
    try:
        result = await agent.client.call_tool("no_such_tool", {})
    except MCPError as error:
        assert error.error.code == -32602, error
    else:
        raise AssertionError(f"a tool that is none has answered: {result}")
    report("got a helpful error", unknown["hint"])


async def deletes(agent, url):
    assert await agent.call("delete_artifact", slug="my-site") == {"slug": "my-site", "deleted": True}
    assert (await agent.page(url)).status_code == 404
    await agent.refused("not_found", "get_artifact", slug="my-site")
    assert await agent.call("list_artifacts") == {"artifacts": [], "next_cursor": None}
    report("deleted")


async def nobody_comes_in_without_a_token():
    for token in (None, "svc_sk_" + "0" * 32):
        answers = []
        try:
            async with connected(token, answers) as agent:
                # Without a handshake, connecting sends nothing.
                await agent.client.list_tools()
                raise AssertionError("connected without a token that is known")
        except* MCPError:
            pass
        assert answers and all(answer.status_code == 401 for answer in answers), answers
        assert all("Bearer" in answer.headers["www-authenticate"] for answer in answers), answers
    report("access without a token was refused")


async def story():
    await nobody_comes_in_without_a_token()
    async with connected(TOKEN) as agent:
        await meets_the_server(agent)
        url = await publishes_and_rolls_back(agent)
        await looks_at_the_account(agent)
        await invites_another_agent(agent)
        await stages_an_upload(agent, url)
        await pays_for_more(agent, url)
        await gets_a_helpful_error(agent)
        await deletes(agent, url)


anyio.run(story)
