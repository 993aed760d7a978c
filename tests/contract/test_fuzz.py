"""Generated requests for every described operation: no server error, no answer that the description does not know."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CHECKS

from app import admin
from tests.contract.requirements import proves
from tests.support import stack

pytestmark = pytest.mark.prove
EXAMPLES = 25
CHECKED = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]


@pytest.fixture
def running(settings, tmp_path):
    """A server process with limits out of the way; its address and a key for everything."""
    plans = tmp_path / "plans.toml"
    plans.write_text(stack.PLANS, encoding="utf-8")
    process = stack.ServerProcess(settings.model_copy(update={"plans_file": plans}), log=tmp_path / "server.log")
    with stack.serving(process), ThreadPoolExecutor(1) as thread:  # outside the tests' event loop
        thread.submit(admin.create_user, settings, "fuzz@example.test").result()
        key = thread.submit(admin.create_key, settings, "fuzz@example.test", stack.ALL_SCOPES, "fuzz").result()
        yield f"http://127.0.0.1:{process.port}", key["apiKey"]


@proves("ERR-500")
def test_no_generated_request_makes_a_server_error_or_an_undescribed_answer(running):
    url, key = running
    schema = schemathesis.openapi.from_url(f"{url}/openapi/full.json")
    checks = CHECKS.get_by_names(CHECKED)
    headers = {"Authorization": f"API-Key {key}"}
    for result in schema.get_all_operations():
        operation = result.ok()

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def fuzz(case):
            case.call_and_validate(base_url=url, headers=headers, checks=checks)

        fuzz()
