"""What a refusal says to a person: messages are written for programs, which know revisions, headers and paths."""

from __future__ import annotations

import re

_CHANGED = "It was changed meanwhile. Load the page again, look at what it says now, and repeat what you wanted to do."
_OUTDATED = "The page was out of date. Load it again and repeat what you wanted to do."
LEASED = (
    "It is written under a lease, by one program at a time, so that the dashboard does not change or delete it. Let a "
    "program that takes the lease do it; or an owner, or who made the document, chooses “Write without leases” on its "
    "page, under “Writing”, and it works here again."
)
"""Why the dashboard does not write a lease-managed document, and what helps."""
PLANLESS = (
    "This workspace has no active plan, so that nothing can be read, made or changed in it. The administrator of this "
    "service gives it one. What is stored stays; keys, links, members and invites can be listed and taken back."
)
"""Why a workspace whose plan is over does almost nothing, and who helps."""
BY_REASON = {
    "LEASE_REQUIRED": LEASED,
    "LEASE_LOST": LEASED,
    "LEASE_NOT_ENABLED": "It is written without leases already.",
    "REVISION_MISMATCH": _CHANGED,
    "PRECONDITION_CONFLICT": _OUTDATED,
    "PRECONDITION_REQUIRED": _OUTDATED,
    "IDEMPOTENCY_KEY_REUSED": "This form was sent before, with something else in it. Open a new one and send that.",
    "PLAN_REQUIRED": PLANLESS,
    "IDEMPOTENCY_IN_PROGRESS": "This form is being worked on already. Look again in a moment.",
}
"""The refusals whose whole message is for programs, by the word on the wire."""
DONE = {
    "saved": "Saved.",
    "unchanged": "Nothing was different, so that nothing was saved.",
    "restored": "The earlier version is current again, as a new one; nothing was lost.",
    "added": "Added to the collection.",
    "removed": "Taken out of the collection.",
    "tagged": "The tag was added.",
    "trashed": "Moved to the trash, where it can be restored for 30 days.",
    "returned": "Back from the trash.",
    "published": "The public link is made: its address is under “Share”.",
    "ended": "The public link has ended: its address opens nothing any more.",
    "password": "The password is changed. Every other browser was signed out.",
}
"""What a page says after a form did what it was sent for, by the word in its address; no other word counts."""
_TEXT = re.compile(r"\b([Ss])(?:end|ave) (the|its) text with POST /v1/documents\b")
_FIELD = re.compile(r"([a-z]+)((?:[A-Z][a-z]*)*)(?:\.[\w.]+)?: ")
"""How a message begins that is about a field, by its name on the wire."""
_NAMES = {"url": "Address", "q": "What to look for"}
_STEP = re.compile(r" with (?:GET|POST|PUT|PATCH|DELETE) /v1[^\s;,.]*")


def told(reason: str, message: str) -> str:
    """Say a refusal without requests and headers: an own sentence, or the message without the path of its advice."""
    if reason == "INVALID_REQUEST":
        message = _FIELD.sub(_named, message, count=1) if _FIELD.match(message) else message
    return BY_REASON.get(reason) or advice(message)


def _named(found: re.Match[str]) -> str:
    """Name a field as people do: `changeLog` is “Change log”."""
    words = found[1] + re.sub("[A-Z]", lambda capital: f" {capital[0].lower()}", found[2])
    return f"{_NAMES.get(words, words.capitalize())}: "


def advice(message: str) -> str:
    """Take requests out of a message: what a person does instead stays."""
    kept = _TEXT.sub(lambda found: f"{'K' if found[1] == 'S' else 'k'}eep {found[2]} text as a new document", message)
    return _STEP.sub("", kept)
