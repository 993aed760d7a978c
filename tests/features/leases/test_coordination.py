"""Policy, leases and fences over the wires (contract: section 2.5; invariants L1 to L8)."""

from __future__ import annotations

import asyncio
import itertools

import pytest
import pytest_asyncio

from tests.contract.requirements import proves
from tests.edge.mcp.wire import MODERN_ERA

LEASE_ID, FENCE, KEY = "X-ContextRepo-Lease-Id", "X-ContextRepo-Lease-Fence", "Idempotency-Key"
_keys = itertools.count()


def keyed(**headers):
    return {KEY: f"lease-{next(_keys)}"} | headers


def shown(lease):
    return {LEASE_ID: lease["leaseId"], FENCE: str(lease["fence"])}


class Managed:
    """A document that needs a lease, through one client."""

    def __init__(self, client, document):
        self.client = client
        self.id = document["id"]
        self.url = f"/v1/documents/{self.id}"
        self.coordination = f"{self.url}/coordination"

    async def lease(self, action="acquire", lease=None, client=None, **body):
        headers = keyed() | (shown(lease) if lease else {})
        return await (client or self.client).post(
            f"{self.coordination}/lease", json={"action": action, **body}, headers=headers
        )

    async def acquired(self, **body):
        answer = await self.lease(**body)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    async def write(self, lease=None, *, revision=None, content="new", client=None, headers=None):
        body = {"content": content} | ({"expectedRevision": revision} if revision else {})
        sent = keyed() | (shown(lease) if lease else {}) if headers is None else headers
        return await (client or self.client).patch(self.url, json=body, headers=sent)

    async def revision(self):
        return (await self.client.get(self.url)).json()["data"]["revision"]


def refusal(answer):
    return answer.status_code, answer.json()["error"]["reason"]


@pytest_asyncio.fixture
async def managed(alice, make):
    document = await make.document(alice.client)
    one = Managed(alice.client, document)
    tag = (await alice.client.get(one.url)).headers["etag"]
    answer = await alice.client.put(one.coordination, json={"policy": "lease_required"}, headers={"If-Match": tag})
    assert answer.status_code == 200, answer.text
    return one


async def expire(sql, managed):
    """Let the database's clock pass the end of the lease."""
    await sql.execute(
        "UPDATE documents SET lease_granted_at = lease_granted_at - interval '2 hours',"
        " lease_expires_at = clock_timestamp() - interval '1 ms' WHERE id = $1",
        managed.id,
    )


@proves("COORD-17")
async def test_a_new_document_is_in_standard_mode_without_a_lease(alice, make):
    document = await make.document(alice.client)
    answer = await alice.client.get(f"/v1/documents/{document['id']}/coordination")
    assert answer.json() == {"data": {"documentId": document["id"], "policy": "standard", "revision": 1, "lease": None}}
    assert answer.headers["etag"].startswith('"c0-')
    unchanged = await alice.client.get(
        f"/v1/documents/{document['id']}/coordination", headers={"If-None-Match": answer.headers["etag"]}
    )
    assert unchanged.status_code == 304


@proves("COORD-18")
async def test_a_policy_takes_the_tag_of_the_document_or_of_its_coordination(managed, alice):
    state = await alice.client.get(managed.coordination)
    assert state.json()["data"]["policy"] == "lease_required"
    assert (await alice.client.get(managed.url)).json()["data"]["policy"] == "lease_required"
    tag = {"If-Match": state.headers["etag"]}
    cleared = await alice.client.delete(managed.coordination, headers=tag)
    assert (cleared.status_code, cleared.json()["data"]["policy"]) == (200, "standard")
    stale = await alice.client.put(managed.coordination, json={"policy": "lease_required"}, headers=tag)
    assert refusal(stale) == (412, "REVISION_MISMATCH")
    assert stale.headers["etag"] == cleared.headers["etag"]


@proves("COORD-18-EXACT")
@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        (None, (428, "PRECONDITION_REQUIRED")),
        ("*", (428, "PRECONDITION_REQUIRED")),
        ('W/"r1-0123456789abcdef"', (428, "PRECONDITION_REQUIRED")),
        ('"r1-0123456789abcdef"', (412, "REVISION_MISMATCH")),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_a_policy_needs_an_exact_tag(alice, make, method, tag, expected):
    document = await make.document(alice.client)
    answer = await alice.client.request(
        method,
        f"/v1/documents/{document['id']}/coordination",
        json={"policy": "lease_required"} if method == "PUT" else None,
        headers={"If-Match": tag} if tag else {},
    )
    assert refusal(answer) == expected


@proves("COORD-18-OWNER")
async def test_a_policy_is_set_by_owners_and_the_creator_alone(alice, make):
    member, other = await make.member(alice.workspace_id, "member"), await make.member(alice.workspace_id, "member")
    document = await make.document(member.client)
    url = f"/v1/documents/{document['id']}/coordination"
    for user, expected in ((other, 403), (member, 200), (alice, 200)):
        tag = (await user.client.get(url)).headers["etag"]
        answer = await user.client.put(url, json={"policy": "lease_required"}, headers={"If-Match": tag})
        assert answer.status_code == expected, answer.text


@proves("COORD-11")
async def test_a_managed_write_needs_lease_key_and_revision(managed):
    lease = await managed.acquired()
    assert refusal(await managed.write(revision=1)) == (409, "LEASE_REQUIRED")
    assert refusal(await managed.write(lease)) == (428, "PRECONDITION_REQUIRED")
    assert refusal(await managed.write(revision=1, headers=shown(lease))) == (428, "PRECONDITION_REQUIRED")
    half = await managed.write(revision=1, headers=keyed() | {FENCE: "1"})
    assert refusal(half) == (400, "INVALID_REQUEST")
    assert await managed.revision() == 1
    assert (await managed.write(lease, revision=1)).json()["data"]["revision"] == 2
    assert refusal(await managed.write(lease, revision=1, content="late")) == (409, "REVISION_MISMATCH")


@proves("COORD-14")
async def test_a_managed_restore_and_delete_need_the_lease(managed):
    version = (await managed.client.get(f"{managed.url}/versions")).json()["data"][0]["id"]
    restore = {"versionId": version, "expectedRevision": 1}
    url = f"{managed.url}/restore"
    assert refusal(await managed.client.post(url, json=restore, headers=keyed())) == (409, "LEASE_REQUIRED")
    assert refusal(await managed.client.delete(managed.url)) == (409, "LEASE_REQUIRED")
    lease = await managed.acquired()
    assert (await managed.client.post(url, json=restore, headers=keyed() | shown(lease))).status_code == 200
    assert (await managed.client.delete(managed.url, headers=shown(lease))).status_code == 204


def says_what_to_do_in_the_trash(answer):
    """A lease cannot be acquired there: the refusal must not ask for it."""
    message = answer.json()["error"]["message"]
    assert "Acquire a lease" not in message
    assert "acquire a new lease" not in message
    if answer.json()["error"]["reason"] == "LEASE_REQUIRED":
        assert f"for up to {answer.headers['retry-after']} s" in message
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        return "waits until it has ended" in message
    return "Send the request again without a lease" in message


@proves("COORD-TRASH")
async def test_what_refuses_a_managed_document_in_the_trash_says_what_can_be_done_there(managed):
    lease = await managed.acquired()
    await managed.client.delete(managed.url, headers=shown(lease))
    stale = shown(lease | {"fence": lease["fence"] + 1})
    for method, url in (("POST", f"/v1/trash/{managed.id}/restore"), ("DELETE", f"/v1/trash/{managed.id}")):
        assert says_what_to_do_in_the_trash(await managed.client.request(method, url))
        assert says_what_to_do_in_the_trash(await managed.client.request(method, url, headers=stale))


@proves("COORD-TRASH")
async def test_a_managed_document_leaves_the_trash_under_its_lease_alone_while_that_is_live(managed, sql):
    lease = await managed.acquired()
    url = f"/v1/trash/{managed.id}/restore"
    for _ in range(2):
        assert (await managed.client.delete(managed.url, headers=shown(lease))).status_code == 204
        assert refusal(await managed.client.post(url)) == (409, "LEASE_REQUIRED")
        stale = shown(lease | {"fence": lease["fence"] + 1})
        assert refusal(await managed.client.post(url, headers=stale)) == (409, "LEASE_LOST")
        assert (await managed.client.post(url, headers=shown(lease))).status_code == 200
    await managed.client.delete(managed.url, headers=shown(lease))
    await expire(sql, managed)
    assert refusal(await managed.client.post(url, headers=shown(lease))) == (409, "LEASE_LOST")
    assert (await managed.client.post(url)).status_code == 200  # nobody holds it, and in the trash nobody could
    assert (await managed.acquired())["fence"] == lease["fence"] + 1


@proves("COORD-TRASH")
async def test_a_managed_document_is_purged_under_its_lease_alone_while_that_is_live(managed):
    lease = await managed.acquired()
    await managed.client.delete(managed.url, headers=shown(lease))
    url = f"/v1/trash/{managed.id}"
    assert refusal(await managed.client.delete(url)) == (409, "LEASE_REQUIRED")
    stale = shown(lease | {"fence": lease["fence"] + 1})
    assert refusal(await managed.client.delete(url, headers=stale)) == (409, "LEASE_LOST")
    assert (await managed.client.delete(url, headers=shown(lease))).status_code == 200


@proves("COORD-20", "L2")
async def test_one_of_many_acquires_the_lease(managed):
    answers = await asyncio.gather(*(managed.lease() for _ in range(12)))
    held = [answer for answer in answers if answer.status_code != 200]
    assert len(held) == 11
    assert {refusal(answer) for answer in held} == {(409, "LEASE_HELD")}
    assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in held)


@proves("COORD-20-KEY")
async def test_lease_operations_need_a_key_and_repeat_by_it(managed):
    url = f"{managed.coordination}/lease"
    assert refusal(await managed.client.post(url, json={"action": "acquire"})) == (428, "PRECONDITION_REQUIRED")
    headers = keyed()
    first, again = [await managed.client.post(url, json={"action": "acquire"}, headers=headers) for _ in range(2)]
    assert first.content == again.content
    assert again.headers["idempotency-replayed"] == "true"


@proves("COORD-20-TTL")
@pytest.mark.parametrize(
    ("seconds", "status"), [(None, 200), (5, 200), (3600, 200), (4, 400), (3601, 400), (True, 400)]
)
async def test_a_lease_lasts_a_minute_unless_told(managed, seconds, status):
    answer = await managed.lease(**({} if seconds is None else {"ttlSeconds": seconds}))
    assert answer.status_code == status
    if status == 200:
        lease = answer.json()["data"]
        assert lease["leaseId"].startswith("lse_")
        assert (lease["fence"], lease["ttlSeconds"], lease["state"]) == (1, seconds or 60, "active")


@proves("COORD-17-LEASE")
async def test_everybody_sees_the_lease_but_never_its_id(managed, alice, make):
    lease = await managed.acquired()
    other = await make.member(alice.workspace_id, "member")
    for client, mine in ((alice.client, True), (other.client, False)):
        answer = await client.get(managed.coordination)
        view = answer.json()["data"]["lease"]
        assert (view["held"], view["heldByCaller"], view["fence"]) == (True, mine, 1)
        assert view["expiresAt"] - view["acquiredAt"] == 60_000
        assert lease["leaseId"] not in answer.text


@proves("L1", "L4", "L5")
async def test_a_paused_writer_is_refused_after_its_lease_ran_out_and_was_retaken(managed, sql):
    first = await managed.acquired()
    await expire(sql, managed)
    assert refusal(await managed.write(first, revision=1)) == (409, "LEASE_LOST")  # over, though nobody took it
    second = await managed.acquired()
    assert second["fence"] == first["fence"] + 1
    assert refusal(await managed.write(first, revision=1)) == (409, "LEASE_LOST")
    mixed = shown(first) | {FENCE: str(second["fence"])}
    assert refusal(await managed.write(revision=1, headers=keyed() | mixed)) == (409, "LEASE_LOST")
    assert (await managed.write(second, revision=1)).status_code == 200


@proves("L7")
async def test_a_renewal_prolongs_a_live_lease_and_revives_none(managed, sql):
    lease = await managed.acquired(ttlSeconds=5)
    renewed = (await managed.lease("renew", lease)).json()["data"]
    assert (renewed["leaseId"], renewed["fence"], renewed["ttlSeconds"]) == (lease["leaseId"], 1, 5)
    assert renewed["expiresAt"] >= lease["expiresAt"]
    longer = (await managed.lease("renew", lease, ttlSeconds=600)).json()["data"]
    assert longer["ttlSeconds"] == 600
    await expire(sql, managed)
    assert refusal(await managed.lease("renew", lease)) == (409, "LEASE_LOST")


@proves("L8")
async def test_a_release_is_the_holders_and_may_be_repeated(managed, sql):
    lease = await managed.acquired()
    forged = lease | {"leaseId": "lse_guess"}
    assert refusal(await managed.lease("release", forged)) == (409, "LEASE_LOST")
    for _ in range(2):
        assert (await managed.lease("release", lease)).json()["data"]["state"] == "released"
    assert refusal(await managed.write(lease, revision=1)) == (409, "LEASE_LOST")
    assert refusal(await managed.lease("renew", lease)) == (409, "LEASE_LOST")
    second = await managed.acquired()
    assert second["fence"] == 2
    assert refusal(await managed.lease("release", lease)) == (409, "LEASE_LOST")


@proves("COORD-19", "L1")
async def test_standard_mode_ends_the_lease_and_the_fence_goes_on(managed):
    lease = await managed.acquired()
    tag = (await managed.client.get(managed.coordination)).headers["etag"]
    cleared = await managed.client.delete(managed.coordination, headers={"If-Match": tag})
    assert cleared.json()["data"]["lease"] is None
    assert refusal(await managed.lease()) == (409, "LEASE_NOT_ENABLED")
    assert refusal(await managed.write(lease, revision=1)) == (409, "LEASE_LOST")
    assert (await managed.write(revision=1)).status_code == 200
    tag = (await managed.client.get(managed.url)).headers["etag"]
    await managed.client.put(managed.coordination, json={"policy": "lease_required"}, headers={"If-Match": tag})
    assert (await managed.acquired())["fence"] == 2


@proves("COORD-20-PAIR")
@pytest.mark.parametrize("action", ["renew", "release"])
async def test_renewal_and_release_show_the_lease(managed, action):
    assert refusal(await managed.lease(action)) == (428, "PRECONDITION_REQUIRED")


async def test_an_acquisition_shows_no_lease(managed):
    lease = await managed.acquired()
    assert refusal(await managed.lease("acquire", lease)) == (400, "INVALID_REQUEST")


@proves("COORD-RECEIPT")
async def test_a_write_of_a_lease_that_ended_is_still_answered_by_its_receipt(managed, sql):
    lease = await managed.acquired()
    headers = keyed() | shown(lease)
    first = await managed.write(revision=1, headers=headers)
    await expire(sql, managed)
    await managed.acquired()
    again = await managed.write(revision=1, headers=headers)
    assert (again.status_code, again.content) == (200, first.content)


@proves("COORD-MCP")
async def test_a_managed_document_is_not_written_over_mcp(managed, alice):
    arguments = {"documentId": managed.id, "content": "over MCP", "expectedRevision": 1}
    answer = await MODERN_ERA.call(alice.client, "update_document", arguments)
    assert answer["isError"] is True
    assert answer["structuredContent"]["error"]["reason"] == "LEASE_REQUIRED"
    assert await managed.revision() == 1


async def test_policy_and_lease_leave_events_and_audit_lines(managed, sql):
    lease = await managed.acquired()
    await managed.lease("renew", lease)
    await managed.lease("release", lease)
    topics = [
        row["topic"]
        for row in await sql.fetch("SELECT topic FROM audit WHERE object_id = $1 ORDER BY created_at", managed.id)
    ]
    assert topics[1:] == [
        "document.policy.lease_required",
        "document.lease.acquire",
        "document.lease.renew",
        "document.lease.release",
    ]


async def test_another_tenant_sees_no_coordination(managed, bob):
    for answer in (
        await bob.client.get(managed.coordination),
        await bob.client.put(managed.coordination, json={"policy": "lease_required"}, headers={"If-Match": '"r1-a"'}),
        await bob.client.delete(managed.coordination, headers={"If-Match": '"r1-a"'}),
        await managed.lease(client=bob.client),
    ):
        assert refusal(answer) == (404, "NOT_FOUND")
