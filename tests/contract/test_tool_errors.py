"""A failed tool says what REST says: each refusal, over both wires."""

from __future__ import annotations

import pytest

from app.features.documents.errors import DocumentNotFound, LeaseRequired
from app.gate.policy import Meter
from app.gate.quota import exceeded
from app.kit import errors
from app.kit.revision import Precondition
from tests.contract.requirements import proves
from tests.edge.mcp.wire import BOTH, MODERN_ERA, text_of
from tests.support.factories import ALL_SCOPES, Make
from tests.support.service import serving

REFUSALS = [
    (402, errors.PlanRequired("This workspace has no active plan.")),
    (402, errors.FeatureNotInPlan("Not in it.", details={"feature": "web_pages", "plansWithFeature": ["Pro Max"]})),
    (402, exceeded(Meter.DOCUMENTS, 2, 2)),
    (403, errors.InsufficientScope(("documents.write",))),
    (404, DocumentNotFound()),
    (409, errors.RevisionMismatch("document", Precondition("body", (2,), ("",)), 3, "0" * 64)),
    (409, LeaseRequired()),
    (412, errors.RevisionMismatch("document", Precondition("header", (2,), ("",)), 3, "0" * 64)),
    (422, errors.IdempotencyKeyReused("This key was used for something else.")),
    (428, errors.PreconditionRequired("Say which revision.")),
    (429, errors.RateLimited("Too many.", limit=100, retry_after=7)),
    (503, errors.EntitlementUnavailable("The plan cannot be read.", retry_after=5)),
    (503, errors.Unavailable("The database is away.", retry_after=1)),
]


def name(value):
    return value.reason if isinstance(value, errors.AppError) else None


@proves("TOOL-ERRORS")
@pytest.mark.parametrize("era", BOTH, ids=["handshake", "modern"])
@pytest.mark.parametrize(("status", "error"), REFUSALS, ids=name)
async def test_a_failed_tool_carries_the_error_of_rest(status, error, era, service, alice, monkeypatch):
    async def refuse(*args, **options):
        raise error

    monkeypatch.setattr(service.state.gate, "admit", refuse)
    sent = {"title": "T", "content": "c"}
    rest = await alice.client.post("/v1/documents", json=sent)
    tool = await era.call(alice.client, "create_document", sent)
    expected = rest.json()["error"]
    assert (rest.status_code, expected["code"], expected["reason"]) == (status, status, error.reason)
    shown = tool["structuredContent"]["error"]
    assert tool["isError"] is True
    assert {**shown, "requestId": None} == {**expected, "requestId": None}
    assert text_of(tool) == f"Error: {error.reason}: {error.message}"
    assert ("not found" in text_of(tool)) or status != 404


PLANS = """
[self-hosted]
window_seconds = 60
rates = { scrape = 1000, api = 10000, readonly = 12000 }
[small]
window_seconds = 60
rates = { scrape = 1000, api = 10000, readonly = 12000 }
[small.limits]
documents = 1
[slow]
window_seconds = 60
rates = { scrape = 1000, api = 2, readonly = 12000 }
"""


@pytest.fixture(scope="module")
async def strict(settings, database, tmp_path_factory):
    """Users of a service whose plans allow little; each by plan, with scopes."""
    plans = tmp_path_factory.mktemp("plans") / "plans.toml"
    plans.write_text(PLANS, encoding="utf-8")
    async with serving(settings.model_copy(update={"plans_file": plans})) as app:
        make = Make(app, database)

        async def of(plan="self-hosted", scopes=ALL_SCOPES):
            user = await make.user(scopes)
            await make.plan(user, plan)
            return user.client

        yield of


NEW = {"title": "T", "content": "c"}
ABSENT = "0190f0f0-0000-7000-8000-000000000000"


async def refused_by_rest(client, method, path, body=None, **headers):
    answer = await client.request(method, path, json=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
    return answer.json()["error"]


async def refused_by_tool(client, tool, arguments, *, path="/mcp", meta=None):
    params = {"name": tool, "arguments": arguments} | ({"_meta": meta} if meta else {})
    answer = await MODERN_ERA.send(client, "tools/call", params, path=path)
    result = answer.json()["result"]
    error = result["structuredContent"]["error"]
    assert (answer.status_code, result["isError"]) == (200, True)
    assert text_of(result) == f"Error: {error['reason']}: {error['message']}"
    return error


async def no_plan(strict):
    client = await strict(None)
    return await refused_by_rest(client, "POST", "/v1/documents", NEW), await refused_by_tool(
        client, "create_document", NEW
    )


async def full(strict):
    client = await strict("small")
    assert (await client.post("/v1/documents", json=NEW)).status_code == 201
    return await refused_by_rest(client, "POST", "/v1/documents", NEW), await refused_by_tool(
        client, "create_document", NEW
    )


async def unreadable_plan(strict):
    client = await strict("nobody knows it")
    return await refused_by_rest(client, "GET", "/v1/documents"), await refused_by_tool(client, "list_documents", {})


async def no_scope(strict):
    client = await strict(scopes=("documents.read",))
    return await refused_by_rest(client, "POST", "/v1/documents", NEW), await refused_by_tool(
        client, "create_document", NEW
    )


async def absent(strict):
    client = await strict()
    return await refused_by_rest(client, "GET", f"/v1/documents/{ABSENT}"), await refused_by_tool(
        client, "get_document", {"documentId": ABSENT}
    )


async def stale(strict):
    client = await strict()
    made = (await client.post("/v1/documents", json=NEW)).json()["data"]
    await client.patch(f"/v1/documents/{made['id']}", json={"content": "d"})
    change = {"title": "U", "expectedRevision": 1}
    return await refused_by_rest(client, "PATCH", f"/v1/documents/{made['id']}", change), await refused_by_tool(
        client, "update_document", change | {"documentId": made["id"]}
    )


async def managed(strict):
    client = await strict()
    made = await client.post("/v1/documents", json=NEW)
    place = made.headers["location"]
    sent = {"if-match": made.headers["etag"]}
    assert (await client.put(f"{place}/coordination", json={"policy": "lease_required"}, headers=sent)).is_success
    change = {"title": "U", "expectedRevision": 1}
    return await refused_by_rest(client, "PATCH", place, change), await refused_by_tool(
        client, "update_document", change | {"documentId": made.json()["data"]["id"]}
    )


async def key_reused(strict):
    client = await strict()
    assert (await client.post("/v1/documents", json=NEW, headers={"idempotency-key": "one"})).status_code == 201
    other = NEW | {"title": "Other"}
    rest = await refused_by_rest(client, "POST", "/v1/documents", other, idempotency_key="one")
    return rest, await refused_by_tool(client, "create_document", other, meta={"contextrepo/idempotencyKey": "one"})


async def no_key(strict):
    client = await strict()
    made = (await client.post("/v1/documents", json=NEW)).json()["data"]["id"]
    place = f"/v1/documents/{made}/coordination/lease"
    return await refused_by_rest(client, "POST", place, {"action": "acquire"}), await refused_by_tool(
        client, "acquire_lease", {"documentId": made}, path="/mcp/all"
    )


async def spent(strict):
    client = await strict("slow")
    for _ in range(2):
        await client.post("/v1/documents", json=NEW)
    return await refused_by_rest(client, "POST", "/v1/documents", NEW), await refused_by_tool(
        client, "create_document", NEW
    )


@proves("TOOL-LIVE")
@pytest.mark.parametrize(
    ("arranged", "code", "reason"),
    [
        (no_plan, 402, "PLAN_REQUIRED"),
        (full, 402, "QUOTA_EXCEEDED"),
        (no_scope, 403, "INSUFFICIENT_SCOPE"),
        (absent, 404, "NOT_FOUND"),
        (stale, 409, "REVISION_MISMATCH"),
        (managed, 409, "LEASE_REQUIRED"),
        (key_reused, 422, "IDEMPOTENCY_KEY_REUSED"),
        (no_key, 428, "PRECONDITION_REQUIRED"),
        (spent, 429, "RATE_LIMITED"),
        (unreadable_plan, 503, "ENTITLEMENT_UNAVAILABLE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_refusal_that_is_met_says_the_same_over_both_wires(arranged, code, reason, strict):
    rest, tool = await arranged(strict)
    assert (rest["code"], rest["reason"]) == (code, reason)
    for error in (rest, tool):
        error.pop("requestId")
        if code == 429:
            error["message"] = error["message"].split("Retry")[0]  # the time that is left
    assert tool == rest
