"""If-Match and expectedRevision, and what they protect."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.requirements import proves


async def patch(client, made, body, if_match=None):
    headers = {"if-match": if_match} if if_match is not None else {}
    return await client.patch(f"/v1/documents/{made['id']}", json=body, headers=headers)


async def refuse(answer, status, reason="REVISION_MISMATCH"):
    assert (answer.status_code, answer.json()["error"]["reason"]) == (status, reason), answer.text


@pytest.mark.parametrize(
    "form", ["{etag}", '"x", {etag}', "{etag},W/{etag}", "*", " {etag} ", '{etag}, "r7-0000000000000000"']
)
@proves("REV-STRONG")
async def test_a_tag_that_matches_lets_the_write_through(alice, make, form):
    made = await make.document(alice.client)
    answer = await patch(alice.client, made, {"title": "New"}, form.replace("{etag}", made["etag"]))
    assert answer.status_code == 200
    assert answer.json()["data"]["revision"] == 2


@pytest.mark.parametrize(
    "form", ["W/{etag}", '"foreign"', '"r1"', '"r01-{hash}"', '"r1-0000000000000000"', '""', '"R1-{hash}"']
)
@proves("REV-STRONG")
async def test_weak_and_foreign_tags_never_match(alice, make, form):
    made = await make.document(alice.client)
    tag = form.replace("{etag}", made["etag"]).replace("{hash}", made["contentHash"][:16])
    await refuse(await patch(alice.client, made, {"title": "New"}, tag), 412)
    assert (await alice.client.get(f"/v1/documents/{made['id']}")).json()["data"]["title"] == made["title"]


@pytest.mark.parametrize("value", ["r1", "1", '"unclosed', "", ",", '"a",', "**", "* , *", '"a" "b"'])
async def test_an_if_match_that_is_none_is_refused_as_such(alice, make, value):
    made = await make.document(alice.client)
    await refuse(await patch(alice.client, made, {"title": "New"}, value), 400, "INVALID_REQUEST")


@proves("REV-HEADER")
async def test_a_stale_tag_is_412_with_the_current_revision_and_tag(alice, make):
    made = await make.document(alice.client)
    current = await patch(alice.client, made, {"title": "New"})
    answer = await patch(alice.client, made, {"title": "Newer"}, made["etag"])
    await refuse(answer, 412)
    details = answer.json()["error"]["details"]
    assert details == {"currentRevision": 2, "contentHash": current.json()["data"]["contentHash"]}
    assert answer.headers["etag"] == current.headers["etag"]


@proves("REV-HEADER")
async def test_a_tag_of_the_same_revision_with_another_hash_is_told_what_differs(alice, make):
    made = await make.document(alice.client)
    other = await patch(alice.client, made, {"title": "New"}, f'"r1-{"0" * 16}"')
    stale = await patch(alice.client, made | {"etag": ""}, {"title": "New"}, f'"r7-{"0" * 16}"')
    await refuse(other, 412)
    await refuse(stale, 412)
    told = [answer.json()["error"]["message"] for answer in (other, stale)]
    assert ["another content hash" in message for message in told] == [True, False]
    assert all("at revision 1 now" in message for message in told)


@proves("REV-BODY")
async def test_a_stale_expected_revision_is_409(alice, make):
    made = await make.document(alice.client)
    await patch(alice.client, made, {"title": "New"})
    answer = await patch(alice.client, made, {"title": "Newer", "expectedRevision": 1})
    await refuse(answer, 409)
    assert answer.json()["error"]["details"]["currentRevision"] == 2
    await refuse(await patch(alice.client, made, {"title": "Newer", "expectedRevision": 3}), 409)


@pytest.mark.parametrize("value", [1, "1", 1.0])
@proves("REV-NUMBER")
async def test_a_revision_may_come_as_a_numeric_string(alice, make, value):
    made = await make.document(alice.client)
    assert (await patch(alice.client, made, {"title": "New", "expectedRevision": value})).status_code == 200


@pytest.mark.parametrize("value", [0, -1, True, "x", 1.5, [], {}, 2**63, 10**400, "1" * 5000])
@proves("REV-NUMBER")
async def test_a_revision_that_is_no_positive_integer_is_refused(alice, make, value):
    made = await make.document(alice.client)
    answer = await patch(alice.client, made, {"title": "New", "expectedRevision": value})
    await refuse(answer, 400, "INVALID_REQUEST")
    assert answer.json()["error"]["details"][0]["field"] == "expectedRevision"


@proves("REV-BOTH")
async def test_two_forms_that_disagree_are_a_conflict_of_preconditions(alice, make):
    made = await make.document(alice.client)
    await patch(alice.client, made, {"title": "New"})
    answer = await patch(alice.client, made, {"title": "Newer", "expectedRevision": 2}, made["etag"])
    await refuse(answer, 400, "PRECONDITION_CONFLICT")


@proves("REV-BOTH")
async def test_two_forms_that_agree_but_are_stale_are_412(alice, make):
    made = await make.document(alice.client)
    await patch(alice.client, made, {"title": "New"})
    await refuse(await patch(alice.client, made, {"title": "Newer", "expectedRevision": 1}, made["etag"]), 412)


@pytest.mark.parametrize("form", ["W/{etag}", '"foreign"'])
@proves("REV-BOTH", "REV-STRONG")
async def test_a_tag_that_can_match_nothing_is_412_beside_a_revision_too(alice, make, form):
    made = await make.document(alice.client)
    tag = form.replace("{etag}", made["etag"])
    await refuse(await patch(alice.client, made, {"title": "New", "expectedRevision": 1}, tag), 412)


@proves("REV-BOTH")
async def test_two_forms_that_agree_and_are_current_let_the_write_through(alice, make):
    made = await make.document(alice.client)
    assert (await patch(alice.client, made, {"title": "New", "expectedRevision": 1}, made["etag"])).status_code == 200


@pytest.mark.parametrize("expected", [1, 2])
async def test_a_star_beside_a_revision_leaves_the_revision_to_decide(alice, make, expected):
    made = await make.document(alice.client)
    answer = await patch(alice.client, made, {"title": "New", "expectedRevision": expected}, "*")
    assert answer.status_code == (200 if expected == 1 else 409)


@pytest.mark.parametrize("form", ["header", "body"])
@proves("REV-STALE-SAME")
async def test_a_stale_precondition_with_the_same_content_is_a_mismatch(alice, make, form):
    made = await make.document(alice.client)
    await patch(alice.client, made, {"title": "New"})
    body = {"title": "New"} | ({"expectedRevision": 1} if form == "body" else {})
    answer = await patch(alice.client, made, body, made["etag"] if form == "header" else None)
    await refuse(answer, 412 if form == "header" else 409)


async def test_a_current_precondition_with_the_same_content_is_a_noop(alice, make):
    made = await make.document(alice.client)
    answer = await patch(alice.client, made, {"title": made["title"]}, made["etag"])
    assert answer.json()["data"]["noop"] is True


async def test_a_repeated_header_is_one_list(alice, make):
    made = await make.document(alice.client)
    headers = [("if-match", '"other"'), ("if-match", made["etag"]), ("authorization", f"API-Key {alice.key}")]
    answer = await alice.client.patch(f"/v1/documents/{made['id']}", json={"title": "New"}, headers=headers)
    assert answer.status_code == 200


async def test_restore_and_delete_take_the_same_preconditions(alice, make):
    made = await make.document(alice.client)
    url = f"/v1/documents/{made['id']}"
    version = (await alice.client.get(f"{url}/versions")).json()["data"][0]["id"]
    await patch(alice.client, made, {"content": "New"})
    restore = {"versionId": version}
    stale = {"if-match": made["etag"]}
    await refuse(await alice.client.post(f"{url}/restore", json=restore, headers=stale), 412)
    await refuse(await alice.client.post(f"{url}/restore", json=restore | {"expectedRevision": 1}), 409)
    await refuse(await alice.client.delete(url, headers=stale), 412)
    await refuse(await alice.client.delete(url, params={"expectedRevision": 1}), 409)
    disagreeing = await alice.client.delete(url, params={"expectedRevision": 2}, headers=stale)
    await refuse(disagreeing, 400, "PRECONDITION_CONFLICT")
    assert (await alice.client.delete(url, params={"expectedRevision": 2})).status_code == 204


async def test_absence_is_told_before_a_mismatch(alice, make):
    made = await make.document(alice.client)
    await alice.client.delete(f"/v1/documents/{made['id']}")
    assert (await patch(alice.client, made, {"title": "New"}, '"r9-0000000000000000"')).status_code == 404


@proves("REV-ONE-WINS")
async def test_of_many_writers_with_one_revision_one_wins(alice, make):
    made = await make.document(alice.client)
    answers = await asyncio.gather(*[patch(alice.client, made, {"content": f"by {n}"}, made["etag"]) for n in range(8)])
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7
    assert all(a.json()["error"]["details"]["currentRevision"] == 2 for a in answers if a.status_code == 412)


@proves("REV-STEP")
async def test_concurrent_writers_make_each_revision_once_without_a_gap(alice, make, twin):
    made = await make.document(alice.client, content="0")
    other = type(make)(twin, None).client(alice.key)
    acknowledged = []

    async def write(client, name):
        tag = made["etag"]
        for number in range(5):
            while True:
                answer = await patch(client, made, {"content": f"{name} {number}"}, tag)
                tag = answer.headers["etag"]
                if answer.status_code == 200:
                    acknowledged.append((answer.json()["data"]["revision"], f"{name} {number}"))
                    break
                assert answer.status_code == 412

    await asyncio.gather(*[write(client, f"{name}") for name, client in enumerate((alice.client, other, alice.client))])
    assert sorted(revision for revision, _ in acknowledged) == list(range(2, 17))
    versions = (await alice.client.get(f"/v1/documents/{made['id']}/versions")).json()["data"]
    assert {(v["revision"], v["content"]) for v in versions} == {*acknowledged, (1, "0")}
