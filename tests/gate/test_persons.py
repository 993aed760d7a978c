"""Who may call operations that are for persons, and marks of what was used."""

from __future__ import annotations

import pytest

from app.features.accounts.service import Principals
from app.features.workspaces.operations import list_workspaces, switch_workspace
from app.gate import refusals
from app.gate.marks import Marks
from app.gate.policy import READ_SCOPES, Plans, Role, Scope
from app.gate.principal import CredentialKind
from app.kit.ids import new_id


def principal(kind, role=Role.MEMBER, scopes=frozenset(Scope)):
    user, workspace = new_id(), new_id()
    row = {"role": role, "user_id": user, "user_name": "N", "workspace_id": workspace, "plan": None}
    row |= {"subscribed": True, "lapsed": False}
    return Principals(Plans.load(), "trial").build(row, kind, new_id(), frozenset(scopes))


@pytest.mark.parametrize(
    ("kind", "role", "scopes", "accepted"),
    [
        (CredentialKind.SESSION, Role.OWNER, Scope, True),
        (CredentialKind.OAUTH, Role.OWNER, Scope, True),
        (CredentialKind.OAUTH, Role.VIEWER, Scope, True),
        (CredentialKind.OAUTH, Role.OWNER, [Scope.DOCUMENTS_WRITE], False),
        (CredentialKind.OAUTH, Role.VIEWER, [Scope.DOCUMENTS_READ], False),
        (CredentialKind.OAUTH, Role.VIEWER, READ_SCOPES, False),  # all that a viewer may, but not all there is
        (CredentialKind.API_KEY, Role.OWNER, Scope, False),
    ],
)
def test_a_narrowed_token_and_a_key_do_not_stand_for_their_person(kind, role, scopes, accepted):
    assert refusals.accepts(list_workspaces, principal(kind, role, scopes)) is accepted
    assert refusals.accepts(switch_workspace, principal(kind, role, scopes)) is (kind is CredentialKind.SESSION)


async def test_marks_are_written_together_and_a_failure_loses_only_them():
    written, first, second = [], new_id(), new_id()

    async def write(used):
        if not written:
            written.append(None)
            raise ConnectionError
        written.append(used)

    marks = Marks({CredentialKind.API_KEY: write})
    marks.used(CredentialKind.SESSION, first, "nobody asks for these")
    marks.used(CredentialKind.API_KEY, first, "lost")
    await marks.flush()
    marks.used(CredentialKind.API_KEY, first, "one")
    marks.used(CredentialKind.API_KEY, first, "two")
    marks.used(CredentialKind.API_KEY, second, None)
    async with marks.flushing():
        pass
    assert written == [None, {first: "two", second: None}]
