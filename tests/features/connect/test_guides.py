"""The guides: each snippet is valid in its language and leads to the right address; no link carries a credential."""

from __future__ import annotations

import base64
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import typer
from typer.testing import CliRunner

from app.cli import connect_commands
from app.features.connect.service import PLACEHOLDER, clients, is_public

ROOT = Path(__file__).parents[3]
URL = "https://context.example.test"
ODD = "http://127.0.0.1:8000/a path/'x"
NAMES = [
    "claude-code",
    "claude",
    "chatgpt",
    "cursor",
    "vscode",
    "codex",
    "gemini-cli",
    "zed",
    "windsurf",
    "factory",
    "grok",
    "grok-bot",
    "curl",
]
GUIDES = clients(URL, "Context Repo")
COMMANDS = typer.Typer()
connect_commands.register(COMMANDS)
each = pytest.mark.parametrize("guide", GUIDES + clients(ODD, "Ünïque & Co"), ids=lambda guide: guide.id)


def texts(value):
    """All texts inside of a decoded snippet."""
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def words(snippet):
    """What the snippet says, decoded by the rules of its language."""
    if snippet.language == "json":
        return list(texts(json.loads(snippet.text)))
    if snippet.language == "toml":
        return list(texts(tomllib.loads(snippet.text)))
    if snippet.language == "shell":
        return [word for line in snippet.text.splitlines() for word in shlex.split(line)]
    return [snippet.text]


def test_every_client_has_its_guide():
    assert [guide.id for guide in GUIDES] == NAMES


@each
def test_each_snippet_is_valid_and_leads_to_the_right_address(guide):
    base = guide.url.removesuffix(guide.surface)
    assert base in (URL, ODD)
    assert guide.surface == ("/grok-mcp" if guide.id.startswith("grok") else "/mcp")
    for way in guide.ways:
        assert way.steps
        found = [word for snippet in way.snippets for word in words(snippet)]
        assert guide.url in found
        assert all(word.startswith(base) for word in found if word.startswith(("http:", "https:")))


@each
def test_signing_in_comes_first_and_needs_the_address_alone(guide):
    assert guide.ways[0].auth == "oauth" or guide.id == "curl"
    for way in guide.ways:
        found = " ".join(snippet.text for snippet in way.snippets)
        if way.auth == "oauth":
            assert PLACEHOLDER not in found
            assert "authorization" not in found.lower()
        else:
            assert PLACEHOLDER in found or "${input:" in found
            assert "API-Key" in found


@each
def test_no_link_carries_a_credential(guide):
    if guide.link is None:
        return
    parts = urlsplit(guide.link.href)
    if guide.id == "cursor":
        query = parse_qs(parts.query)
        assert json.loads(base64.b64decode(query["config"][0])) == {"url": guide.url}
        assert (parts.scheme, parts.netloc, parts.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    else:
        assert guide.link.href.startswith("vscode:mcp/install?")
        config = json.loads(unquote(parts.query))
        assert set(config) == {"name", "type", "url"}
        assert (config["type"], config["url"]) == ("http", guide.url)


@each
def test_each_guide_says_how_far_it_was_tried(guide):
    assert "not tried here" in guide.source or guide.id == "curl"


def test_an_address_that_others_cannot_reach_is_known():
    assert is_public(URL)
    assert not any(map(is_public, ("http://context.example.test", "https://localhost", "http://127.0.0.1:8000")))


def test_the_readme_shows_the_same_lines():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    guides = {guide.id: guide for guide in clients("http://127.0.0.1:8000", "Context Repo")}
    for name, way, number in [("claude-code", 0, 0), ("cursor", 0, 0), ("codex", 0, 0), ("claude-code", 1, 0)]:
        assert guides[name].ways[way].snippets[number].text in readme, name
    section = readme.partition("## Connect a client")[2].partition("\n## ")[0]
    assert section.index("claude mcp add") < section.index(PLACEHOLDER)


def ctx(*arguments, **environment):
    given = {"CTX_URL": "", "DATA_DIR": "/nowhere"} | environment
    return CliRunner().invoke(COMMANDS, ["connect", *arguments], env=given)


def test_the_command_prints_the_same_guides():
    found = json.loads(ctx("--json", CTX_URL=f"{URL}/").stdout)
    assert found == json.loads(json.dumps([guide.as_dict() for guide in GUIDES]))
    cursor = next(guide for guide in GUIDES if guide.id == "cursor")
    told = ctx("cursor", "--url", f"{URL}/mcp").stdout
    assert cursor.link.href in told
    assert all(snippet.text in told for way in cursor.ways for snippet in way.snippets)
    assert all(name in ctx(CTX_URL=URL).stdout for name in NAMES)


def test_the_command_exits_with_2_on_wrong_use():
    assert ctx("nosuch", CTX_URL=URL).exit_code == 2
    assert ctx().exit_code == 2
    assert ctx("cursor", "--url", "context.example.test").exit_code == 2


def test_a_thin_client_has_both_commands():
    """Without the server's packages, as the base wheel installs them."""
    block = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"fastapi", "starlette", "asyncpg", "sqlalchemy", "mcp", "jinja2", "uvicorn"}:
            raise ImportError(name)
sys.meta_path.insert(0, Block())
sys.argv = ["ctx", "connect", "codex", "--url", "https://context.example.test"]
from app.cli.main import main
main()
"""
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert re.search(r"\[mcp_servers\.context-repo\]", done.stdout)
