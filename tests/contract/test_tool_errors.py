"""A failed tool says what REST says: each refusal, over both wires."""

from __future__ import annotations

import pytest

from app.features.documents.errors import DocumentNotFound, LeaseRequired
from app.gate.policy import Meter
from app.gate.quota import exceeded
from app.kit import errors
from tests.contract.requirements import proves
from tests.edge.mcp.wire import BOTH, text_of

REFUSALS = [
    (402, errors.PlanRequired("This workspace has no active plan.")),
    (402, errors.FeatureNotInPlan("Not in it.", details={"feature": "web_pages", "plansWithFeature": ["Pro Max"]})),
    (402, exceeded(Meter.DOCUMENTS, 2, 2)),
    (403, errors.InsufficientScope(("documents.write",))),
    (404, DocumentNotFound()),
    (409, errors.RevisionMismatch("document", "body", 3, "0" * 64)),
    (409, LeaseRequired()),
    (412, errors.RevisionMismatch("document", "header", 3, "0" * 64)),
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
