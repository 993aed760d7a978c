"""The words that programs branch on: one list, and each is known to those who write clients."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import app
from app.kit.errors import AppError
from tests.contract.requirements import proves

OF_THE_CONTRACT = """
INVALID_REQUEST PRECONDITION_CONFLICT UNAUTHENTICATED PLAN_REQUIRED FEATURE_NOT_IN_PLAN QUOTA_EXCEEDED
INSUFFICIENT_SCOPE NOT_FOUND METHOD_NOT_ALLOWED REVISION_MISMATCH LEASE_HELD LEASE_REQUIRED LEASE_LOST LEASE_NOT_ENABLED
SLUG_TAKEN IDEMPOTENCY_IN_PROGRESS GONE PAYLOAD_TOO_LARGE UNSUPPORTED_MEDIA_TYPE IDEMPOTENCY_KEY_REUSED
PRECONDITION_REQUIRED RATE_LIMITED INTERNAL UPSTREAM_FAILED ENTITLEMENT_UNAVAILABLE UNAVAILABLE
"""
OURS = """
ADDRESS_TAKEN ALREADY_MEMBER ALREADY_SHARED ARCHIVE_UNREADABLE CHUNK_DIFFERS CROSS_SITE EDIT_NOT_APPLICABLE
EXPORT_RUNNING FORM_REFUSED IMPORT_EMPTY IMPORT_FINISHED KEY_ENDED LAST_OWNER NO_ACCOUNT NOT_REFRESHABLE
"""
UNUSED = {"SLUG_TAKEN"}
"""Reserved by the contract for names in addresses, which nothing here has."""


def errors():
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    waiting = [AppError]
    while waiting:
        error = waiting.pop()
        waiting += error.__subclasses__()
        if error.__module__.startswith("app."):
            yield error


@proves("ENV-REASONS")
def test_the_reasons_in_the_code_are_those_of_the_list():
    assert {error.reason for error in errors()} == {*OF_THE_CONTRACT.split(), *OURS.split()} - UNUSED


@proves("ENV-REASONS")
def test_the_reasons_beyond_the_contract_are_explained_in_the_decisions():
    decisions = (Path(__file__).parents[2] / "DECISIONS.md").read_text(encoding="utf-8")
    assert set(OURS.split()) <= set(re.findall(r"`([A-Z_]+)`", decisions))
