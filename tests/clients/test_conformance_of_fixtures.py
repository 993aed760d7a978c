"""The official suite against a server of its own tools in our factory: what the product's wires can carry.

`conformance.toml` gives the reason for each scenario that is not passed; one that passes after all must leave it.
"""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from pathlib import Path

import pytest
import pytest_asyncio

from tests.clients.door import authorized
from tests.contract.requirements import proves
from tests.support.conformance import PATH
from tests.support.stack import ServerProcess, serving

pytestmark = pytest.mark.prove
BASELINE = tomllib.loads(Path(__file__).with_name("conformance.toml").read_text(encoding="utf-8"))
_RESULTS = re.compile(r"server-(.+)-\d{4}-\d{2}-\d{2}T.*")
_SCORED = re.compile(r"^server:\n((?:  - .+\n)+)", re.MULTILINE)


@pytest_asyncio.fixture(loop_scope="session")
async def fixture_server(settings, tmp_path):
    """The service with the suite's surface, in a process of its own."""
    process = ServerProcess(settings, factory="tests.support.conformance:create_app", log=tmp_path / "log")
    process.settings = settings.model_copy(update={"public_url": f"http://127.0.0.1:{process.port}"})
    with serving(process):
        yield process.settings.public_url


def outcomes(folder):
    """Read what the suite wrote down: by scenario, each check with its status."""
    found = {}
    for file in folder.rglob("checks.json"):
        name = _RESULTS.fullmatch(file.parent.name).group(1)
        found[name] = {check["id"]: check["status"] for check in json.loads(file.read_text())}
    return found


def scored(suite, revision):
    """Name the scenarios that a revision requires of a server; the suite runs others too, and does not count them."""
    listed = _SCORED.search((suite / "requirements" / f"{revision}.yaml").read_text()).group(1)
    return {line.removeprefix("  - ") for line in listed.splitlines()}


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@proves("MCP-SUITE")
async def test_every_scored_scenario_passes_or_has_a_reason(
    fixture_server, make, conformance, conformance_folder, tmp_path, revision
):
    user = await make.user()
    with authorized(fixture_server, f"API-Key {user.key}") as door:
        arguments = ["server", "--url", f"{door}{PATH}", "--requirements", revision, "-o", "results"]
        done = await asyncio.to_thread(conformance, *arguments)
    wanted = scored(conformance_folder, revision)
    found = {name: checks for name, checks in outcomes(tmp_path / "results").items() if name in wanted}
    assert found.keys() == wanted, done.stdout + done.stderr
    missed = {
        f"{name}/{check}"
        for name, checks in found.items()
        for check, status in checks.items()
        if status in ("FAILURE", "WARNING")
    }
    assert missed == BASELINE[revision].keys()
    silent = {name for name, checks in found.items() if "SUCCESS" not in checks.values()}
    assert silent <= {line.partition("/")[0] for line in missed}


def test_each_line_of_the_baseline_has_a_reason():
    for lines in BASELINE.values():
        assert all(len(reason) > 30 for reason in lines.values())
