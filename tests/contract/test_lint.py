"""The descriptions of the API, judged by Redocly's linter."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.contract.requirements import proves
from tests.support import npm

pytestmark = pytest.mark.prove
FOLDER = Path(__file__).parents[2] / "openapi"
REDOCLY = "@redocly/cli@2.77.0"
# Everything of `recommended` but what is not ours to say.
RULES = """
extends: [recommended]
telemetry: off
rules:
  no-server-example.com: off  # the address is the operator's
"""


@proves("OPENAPI-LINT")
@pytest.mark.parametrize("name", ["v1.json", "full.json"])
def test_the_linter_finds_nothing(name, tmp_path):
    folder = npm.installed("redocly-1", REDOCLY)
    (tmp_path / "redocly.yaml").write_text(RULES, encoding="utf-8")
    command = [
        str(npm.NODE),
        str(folder / "node_modules" / "@redocly" / "cli" / "bin" / "cli.js"),
        "lint",
        str(FOLDER / name),
        "--config",
        str(tmp_path / "redocly.yaml"),
        "--format=json",
        "--max-problems=1000",
    ]
    quiet = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    run = subprocess.run(command, capture_output=True, text=True, env=quiet, cwd=tmp_path, timeout=120, check=False)
    found = json.loads(run.stdout)
    problems = {f"{item['severity']} {item['ruleId']}: {item['message']}" for item in found["problems"]}
    places = {item["ruleId"]: item["location"][0]["pointer"] for item in found["problems"]}
    assert problems == set(), places
    assert run.returncode == 0, run.stderr
