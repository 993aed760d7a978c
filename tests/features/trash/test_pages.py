"""The trash in the dashboard."""

from __future__ import annotations

from tests.contract.requirements import proves
from tests.support.visitor import hidden, signed_in

TRASH = "/dashboard/trash"


@proves("DASH-TRASH")
async def test_what_was_deleted_is_restored_or_purged(service, make, alice):
    person = await signed_in(service, make, alice)
    assert "The trash is empty" in (await person.get(TRASH)).text
    kept, gone = [await make.document(alice.client, title=title) for title in ("Kept", "Gone")]
    for one in (kept, gone):
        await alice.client.delete(f"/v1/documents/{one['id']}")
    shown = await person.get(TRASH)
    back = f"{TRASH}/{kept['id']}/restore"
    answer = await person.send(back, hidden(shown, back))
    assert answer.headers["location"] == f"/dashboard/documents/{kept['id']}?done=returned"
    purge = f"{TRASH}/{gone['id']}/purge"
    answer = await person.send(purge, hidden(shown, purge))
    assert answer.status_code == 200
    assert "Gone for good, with" in answer.text
    assert (await person.send(purge, hidden(shown, purge))).status_code == 409
    assert (await alice.client.get(f"/v1/documents/{kept['id']}")).status_code == 200
