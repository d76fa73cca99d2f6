"""The OAuth client of the official Python SDK, which gets a token by itself, publishes, and renews the token.

HANDBILL_TEST_BASE_URL   the control plane
HANDBILL_TEST_BROWSER    the program that acts as the person's browser
"""

import asyncio
import os
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

BASE_URL = os.environ["HANDBILL_TEST_BASE_URL"]
BROWSER = os.environ["HANDBILL_TEST_BROWSER"]
MCP = f"{BASE_URL}/mcp"


class Storage:
    """Keeps everything in memory."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


class Callback(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.query = parse_qs(urlsplit(self.path).query)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


async def main():
    server = HTTPServer(("127.0.0.1", 0), Callback)
    storage = Storage()

    async def open_browser(address):
        await asyncio.to_thread(subprocess.run, [BROWSER, address], check=True)

    async def returned():
        await asyncio.to_thread(server.handle_request)
        first = {name: values[0] for name, values in server.query.items()}
        return AuthorizationCodeResult(code=first["code"], state=first["state"], iss=first["iss"])

    provider = OAuthClientProvider(
        server_url=MCP,
        client_metadata=OAuthClientMetadata(
            client_name="Python SDK",
            redirect_uris=[f"http://127.0.0.1:{server.server_port}/callback"],
        ),
        storage=storage,
        redirect_handler=open_browser,
        callback_handler=returned,
    )
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30) as http,
        Client(streamable_http_client(MCP, http_client=http)) as client,
    ):
        page = {"slug": "my-page", "files": [{"path": "index.html", "content": "<!doctype html><p>Without a header."}]}
        published = (await client.call_tool("publish_artifact", page)).structured_content
        assert published["version"] == 1, published
        first = storage.tokens
        assert first.scope == "artifacts:write artifacts:read", first
        assert first.access_token.startswith("svc_sk_") and first.expires_in == 3600, first.scope
        # As if the hour were over: the client uses its refresh token before the next call.
        provider.context.token_expiry_time = 1
        account = (await client.call_tool("get_account", {})).structured_content
        assert account["status"] == "provisional", account
        assert storage.tokens.access_token != first.access_token
        assert storage.tokens.refresh_token != first.refresh_token
    print("published with OAuth")


asyncio.run(main())
