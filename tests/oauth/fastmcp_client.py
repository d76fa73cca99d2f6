"""fastmcp with `auth="oauth"`, unmodified. It opens the browser that the variable BROWSER names.

HANDBILL_TEST_BASE_URL   the control plane
"""

import asyncio
import os

from fastmcp import Client


async def main():
    async with Client(f"{os.environ['HANDBILL_TEST_BASE_URL']}/mcp", auth="oauth") as client:
        page = {"slug": "my-page", "files": [{"path": "index.html", "content": "<!doctype html><p>Without a header."}]}
        published = (await client.call_tool("publish_artifact", page)).structured_content
        assert published["version"] == 1, published
        listed = (await client.call_tool("list_artifacts", {})).structured_content
        assert listed["artifacts"][0]["url"] == published["url"], listed
    print("published with OAuth")


asyncio.run(main())
