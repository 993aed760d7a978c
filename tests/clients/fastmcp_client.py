"""Drives the service with the FastMCP client, told by lines of JSON; run by a Python that has the package."""

from __future__ import annotations

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client import auth


class Provider(auth.OAuth):
    """The client's own provider, but for the browser: the test opens the address."""

    async def redirect_handler(self, authorization_url):
        print(json.dumps({"authorize": authorization_url}), flush=True)


async def main(url):
    provider = Provider(url, callback_port=43777, callback_host="127.0.0.1")

    async def call(name, arguments):
        async with Client(url, auth=provider) as client:
            return (await client.call_tool(name, arguments)).structured_content

    me = await call("get_user_info", {})
    made = await call("create_document", {"title": "By FastMCP", "content": "Hello"})
    print(json.dumps({"paused": True}), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    provider.context.token_expiry_time = 1.0  # the SDK below refreshes by its clock only
    before = provider.context.current_tokens.refresh_token
    again = await call("get_user_info", {})
    refreshed = provider.context.current_tokens.refresh_token != before
    print(json.dumps({"me": me, "made": made, "again": again, "refreshed": refreshed}), flush=True)


asyncio.run(main(sys.argv[1]))
