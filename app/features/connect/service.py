"""The guides: one data structure, from which the page, `ctx connect` and the README come."""

from __future__ import annotations

import base64
import json
import re
import shlex
from typing import Any
from urllib.parse import quote, urlsplit

from app.features.connect.schemas import ClientGuide, Link, Snippet, Way

PLACEHOLDER = "YOUR_API_KEY"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADER = f"API-Key {PLACEHOLDER}"
_VARIABLE = "CONTEXT_REPO_AUTHORIZATION"
_UNTRIED = "not tried here"
_MERGE = "Merge the text into the file."
_RESTART = "Restart it, or reload its list of servers."


def clients(url: str, product: str) -> list[ClientGuide]:
    """Give the guides for a service.

    Args:
        url: the base address, without a slash at its end.
        product: the name that people know; clients list the server under a short form of it.
    """
    name = re.sub(r"[^a-z0-9]+", "-", product.lower()).strip("-") or "context-repo"
    makers = (
        _claude_code,
        _claude,
        _chatgpt,
        _cursor,
        _vscode,
        _codex,
        _gemini,
        _zed,
        _windsurf,
        _factory,
        _grok,
        _grok_bot,
        _curl,
    )
    return [make(url, name, product) for make in makers]


def is_public(url: str) -> bool:
    """Tell whether clients that run elsewhere could reach an address: https, and not this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" and parts.hostname not in LOOPBACK


def _json(value: Any, place: str) -> Snippet:
    return Snippet(json.dumps(value, indent=2, ensure_ascii=False), "json", place)


def _shell(*lines: str) -> Snippet:
    return Snippet("\n".join(lines), "shell")


def _command(*words: str) -> str:
    return " ".join(word if word.startswith('"') else shlex.quote(word) for word in words)


def _header_flag(flag: str = "--header") -> tuple[str, str]:
    return flag, f'"Authorization: {_HEADER}"'


def _servers(key: str, name: str, server: dict[str, Any], place: str) -> Snippet:
    return _json({key: {name: server}}, place)


def _in_file(key: str, name: str, server: dict[str, Any], place: str, *steps: str) -> tuple[Way, Way]:
    """Make the two ways of a client that reads a JSON file."""
    keyed = server | {"headers": {"Authorization": _HEADER}}
    return (
        Way("oauth", steps, (_servers(key, name, server, place),)),
        Way("api-key", ("Put your key into the text and merge it.",), (_servers(key, name, keyed, place),)),
    )


def _claude_code(url: str, name: str, _product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    add = ("claude", "mcp", "add", "--transport", "http", name, mcp)
    sign_in = ("Run the command.", "In Claude Code, type /mcp, choose the server and sign in with your browser.")
    return ClientGuide(
        "claude-code",
        "Claude Code",
        "/mcp",
        mcp,
        (
            Way("oauth", sign_in, (_shell(_command(*add)),)),
            Way("api-key", ("Put your key into the command and run it.",), (_shell(_command(*add, *_header_flag())),)),
        ),
        f"As documented at code.claude.com/docs/en/mcp; {_UNTRIED}.",
    )


def _claude(url: str, name: str, product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    bridge = {
        "command": "npx",
        "args": ["-y", "mcp-remote", mcp, "--header", "Authorization:${AUTHORIZATION}"],
        "env": {"AUTHORIZATION": _HEADER},
    }
    return ClientGuide(
        "claude",
        "Claude Desktop and claude.ai",
        "/mcp",
        mcp,
        (
            Way(
                "oauth",
                (
                    "Open Settings, then Connectors, and choose “Add custom connector”.",
                    f"Name it {product} and paste the address.",
                    "Choose Connect and sign in.",
                ),
                (Snippet(mcp, "text"),),
            ),
            Way(
                "api-key",
                (
                    "Claude Desktop only, by a bridge that needs Node.js: Settings, Developer, Edit Config.",
                    "Put your key into the text and merge it into the file. " + _RESTART,
                ),
                (_servers("mcpServers", name, bridge, "claude_desktop_config.json"),),
            ),
        ),
        f"As documented at support.claude.com; {_UNTRIED}. The bridge, mcp-remote, was tried here with sign-in.",
        remote=True,
    )


def _chatgpt(url: str, _name: str, product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    steps = (
        "Open Settings, then Apps (called Connectors before), Advanced settings, and turn on Developer mode.",
        f"Choose Create, name it {product}, paste the address as MCP server URL, and take OAuth as authentication.",
        "Create it and sign in. ChatGPT takes no API key of this form.",
    )
    return ClientGuide(
        "chatgpt",
        "ChatGPT",
        "/mcp",
        mcp,
        (Way("oauth", steps, (Snippet(mcp, "text"),)),),
        f"As documented at developers.openai.com/apps-sdk; {_UNTRIED}.",
        remote=True,
    )


def _cursor(url: str, name: str, _product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    config = base64.b64encode(json.dumps({"url": mcp}).encode()).decode()
    href = f"cursor://anysphere.cursor-deeplink/mcp/install?name={quote(name)}&config={quote(config, safe='')}"
    place = "~/.cursor/mcp.json, or .cursor/mcp.json of a project"
    then = "Choose the server under Tools & MCP, and sign in."
    ways = _in_file("mcpServers", name, {"url": mcp}, place, "Use the link, or merge the text into the file.", then)
    source = f"As documented at cursor.com/docs/mcp; {_UNTRIED}."
    return ClientGuide("cursor", "Cursor", "/mcp", mcp, ways, source, Link("Add to Cursor", href))


def _vscode(url: str, name: str, product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    server = {"type": "http", "url": mcp}
    install = quote(json.dumps({"name": name, **server}), safe="")
    place = ".vscode/mcp.json of a project, or the command “MCP: Open User Configuration”"
    asked = {"type": "promptString", "id": f"{name}-key", "description": f"{product} API key", "password": True}
    keyed = server | {"headers": {"Authorization": f"API-Key ${{input:{name}-key}}"}}
    return ClientGuide(
        "vscode",
        "VS Code",
        "/mcp",
        mcp,
        (
            Way(
                "oauth",
                ("Use the link, or merge the text into the file.", "Start the server and sign in when VS Code asks."),
                (_servers("servers", name, server, place),),
            ),
            Way(
                "api-key",
                ("Merge the text into the file as it is: VS Code asks for the key once and keeps it.",),
                (_json({"inputs": [asked], "servers": {name: keyed}}, place),),
            ),
        ),
        f"As documented at code.visualstudio.com/docs/copilot/customization/mcp-servers; {_UNTRIED}.",
        Link("Add to VS Code", f"vscode:mcp/install?{install}"),
    )


def _codex(url: str, name: str, _product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    place = "~/.codex/config.toml"
    table = [f"[mcp_servers.{name}]", f"url = {json.dumps(mcp)}"]
    variable = f'env_http_headers = {{ Authorization = "{_VARIABLE}" }}'
    return ClientGuide(
        "codex",
        "Codex",
        "/mcp",
        mcp,
        (
            Way(
                "oauth",
                ("Run both commands; the second opens your browser. Or write the table into the file yourself.",),
                (
                    _shell(
                        _command("codex", "mcp", "add", name, "--url", mcp), _command("codex", "mcp", "login", name)
                    ),
                    Snippet("\n".join(table), "toml", place),
                ),
            ),
            Way(
                "api-key",
                ("Write the table into the file.", "Set the variable, with your key in it, where Codex starts."),
                (
                    Snippet("\n".join([*table, variable]), "toml", place),
                    _shell(f'export {_VARIABLE}="{_HEADER}"'),
                ),
            ),
        ),
        f"As documented at developers.openai.com/codex/mcp; {_UNTRIED}.",
    )


def _gemini(url: str, name: str, _product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    place = "~/.gemini/settings.json, or .gemini/settings.json of a project"
    add = ("gemini", "mcp", "add", "--scope", "user", "--transport", "http")
    return ClientGuide(
        "gemini-cli",
        "Gemini CLI",
        "/mcp",
        mcp,
        (
            Way(
                "oauth",
                (
                    "Run the command, or merge the text into the file.",
                    f"In Gemini CLI, type /mcp auth {name} and sign in with your browser.",
                ),
                (_shell(_command(*add, name, mcp)), _servers("mcpServers", name, {"httpUrl": mcp}, place)),
            ),
            Way(
                "api-key",
                ("Put your key into the command and run it.",),
                (_shell(_command(*add, *_header_flag(), name, mcp)),),
            ),
        ),
        f"As documented at geminicli.com/docs/tools/mcp-server; {_UNTRIED}.",
    )


def _zed(url: str, name: str, _product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    place = "the settings file (command “zed: open settings file”)"
    ways = _in_file("context_servers", name, {"url": mcp}, place, _MERGE, "Sign in when Zed asks.")
    return ClientGuide("zed", "Zed", "/mcp", mcp, ways, f"As documented at zed.dev/docs/ai/mcp; {_UNTRIED}.")


def _windsurf(url: str, name: str, _product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    then = "Refresh the list of MCP servers in Cascade, and sign in if it asks."
    ways = _in_file("mcpServers", name, {"serverUrl": mcp}, "~/.codeium/windsurf/mcp_config.json", _MERGE, then)
    source = f"As documented at docs.windsurf.com/windsurf/cascade/mcp (read second-hand); {_UNTRIED}."
    return ClientGuide("windsurf", "Windsurf", "/mcp", mcp, ways, source)


def _factory(url: str, name: str, _product: str) -> ClientGuide:
    mcp = f"{url}/mcp"
    add = ("droid", "mcp", "add", name, mcp, "--type", "http")
    return ClientGuide(
        "factory",
        "Factory",
        "/mcp",
        mcp,
        (
            Way(
                "oauth",
                ("Run the command.", "In droid, type /mcp, choose the server and authenticate."),
                (_shell(_command(*add)),),
            ),
            Way("api-key", ("Put your key into the command and run it.",), (_shell(_command(*add, *_header_flag())),)),
        ),
        f"As documented at docs.factory.ai/cli/configuration/mcp; {_UNTRIED}.",
    )


def _grok(url: str, name: str, product: str) -> ClientGuide:
    mcp = f"{url}/grok-mcp"
    add = ("grok", "mcp", "add", "--transport", "http", name, mcp)
    return ClientGuide(
        "grok",
        "Grok",
        "/grok-mcp",
        mcp,
        (
            Way(
                "oauth",
                (
                    "Open grok.com/connectors, choose New Connector, then Custom.",
                    f"Name it {product}, paste the address, and sign in.",
                    "For Grok on the command line, run the command instead.",
                ),
                (Snippet(mcp, "text"), _shell(_command(*add))),
            ),
            Way(
                "api-key",
                ("On the command line only: put your key into the command and run it.",),
                (_shell(_command(*add, *_header_flag())),),
            ),
        ),
        f"As documented at docs.x.ai/grok/connectors and docs.x.ai/build/features/mcp-servers; {_UNTRIED}.",
        remote=True,
    )


def _grok_bot(url: str, _name: str, product: str) -> ClientGuide:
    mcp = f"{url}/grok-mcp"
    steps = (
        "Open your bot and go to its plugins or connectors; add a custom one.",
        f"Name it {product}, paste the address, and sign in.",
    )
    return ClientGuide(
        "grok-bot",
        "Grok Bot",
        "/grok-mcp",
        mcp,
        (Way("oauth", steps, (Snippet(mcp, "text"),)),),
        f"Its maker's own instructions could not be checked, so menus may be called otherwise; {_UNTRIED}.",
        remote=True,
    )


def _curl(url: str, _name: str, _product: str) -> ClientGuide:
    listing = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    kinds = ("-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream")
    call = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_user_info", "arguments": {}}}
    )
    header = '"Authorization: API-Key $KEY"'
    return ClientGuide(
        "curl",
        "curl",
        "/mcp",
        f"{url}/mcp",
        (
            Way(
                "api-key",
                (
                    "The first line lists the tools and needs no key.",
                    "Put your key into the second, and call a tool or the REST interface.",
                ),
                (
                    _shell(_command("curl", *kinds, f"{url}/mcp", "-d", listing)),
                    _shell(
                        f"export KEY={PLACEHOLDER}",
                        _command("curl", "-H", header, *kinds, f"{url}/mcp", "-d", call),
                        _command("curl", "-H", header, f"{url}/v1/user/me"),
                    ),
                ),
            ),
        ),
        "Run by our tests.",
    )
