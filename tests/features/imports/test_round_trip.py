"""What is exported, imported and exported again is the same."""

from __future__ import annotations

from tests.contract.requirements import proves
from tests.support import archives, files

TEXTS = [
    "---\ntitle: not ours\n---\n\nA text that looks like front matter.\r\nWith both kinds of ends.\n",
    "",
    "\ufeffno newline at the end \u2028 日本語 🙂 \x85",
    "---\n\n---\n\n",
]

FILES = [
    ("Plan Ä.docx", files.docx("The keeper rang the bell"), "application/vnd.openxmlformats"),
    ("same as its text.md", b"# A text\n\nthat is its file's.\n", "text/markdown"),
]


TOLD = ("trust", "hiddenCharacters")


def bare(data):
    """A text without what its reader is told of its hand: what came in an archive came from outside."""
    return {name: value for name, value in data.items() if name not in TOLD}


async def fill(make, client):
    """Everything that a workspace can hold, with history; gives ids by kind."""
    documents = []
    for number, text in enumerate(TEXTS):
        made = await make.document(client, title=f'T"{number}\u2028: {{}}', content=text or "x", tags=["a", "Ä: b"])
        documents.append(made["id"])
    url = f"/v1/documents/{documents[0]}"
    assert (await client.patch(url, json={"content": "second\n", "changeLog": "why: #1"})).status_code == 200
    assert (await client.patch(url, json={"title": "Renamed", "tags": []})).status_code == 200
    first = (await client.get(f"{url}/versions")).json()["data"][-1]["id"]
    assert (await client.post(f"{url}/restore", json={"versionId": first})).status_code == 200
    assert (await client.patch(f"/v1/documents/{documents[1]}", json={"content": ""})).status_code == 200
    for name, content, kind in FILES:
        sent = await client.post("/v1/documents/upload", files={"file": (name, content, kind)})
        assert sent.status_code == 202, sent.text
        documents.append(sent.json()["data"]["id"])
    assert (await client.patch(f"/v1/documents/{documents[-1]}", json={"content": "read\n"})).status_code == 200
    made = await make.prompt(client, content="Say ${what}.", parameters={"b": 1.50, "a": [None, "x"]}, tags=["p"])
    prompt, version = made["id"], made["versionId"]
    assert (await client.put(f"/v1/prompts/{prompt}/labels/live", json={"versionId": version})).status_code == 200
    variables = [{"name": "what", "type": "integer", "description": "how many"}]
    change = {"content": "Say ${what} to ${whom}.", "variables": variables, "isArchived": True}
    assert (await client.patch(f"/v1/prompts/{prompt}", json=change)).status_code == 200
    change = {"title": "Renamed", "description": "again", "tags": []}
    assert (await client.patch(f"/v1/prompts/{prompt}", json=change)).status_code == 200
    twin = await make.prompt(client, content="Say ${what}.")
    kept = await make.collection(client, name="Kept", items=documents[:2], description="d", color="#abc", tags=["c"])
    body = {"itemIds": [prompt, twin["id"]], "itemType": "prompt"}
    assert (await client.post(f"/v1/collections/{kept['id']}/items", json=body)).status_code == 200
    await make.collection(client, name="Empty")
    return {"documents": documents, "prompts": [prompt, twin["id"]], "collections": [kept["id"]]}


@proves("IMPORT-ROUND")
async def test_an_archive_survives_an_import_into_an_empty_workspace(alice, bob, make):
    ids = await fill(make, alice.client)
    first = await archives.export(make, alice)
    content = archives.files(first)
    for size in (1, 1000):
        other = bob if size == 1 else await make.user()
        done = await archives.load(other.client, content, size)
        assert (done["finished"], done["counts"]["created"], done["counts"]["existing"]) == (True, 10, 0)
        assert await archives.export(make, other) == first
    for kind, wanted in ids.items():
        for item in wanted:
            mine, theirs = [(await user.client.get(f"/v1/{kind}/{item}")).json()["data"] for user in (alice, bob)]
            passing = {"status", "statusReason", *TOLD}
            assert {k: v for k, v in mine.items() if k not in passing} == {
                k: v for k, v in theirs.items() if k not in passing
            }
    for revision in (1, 2, 3):
        url = f"/v1/prompts/{ids['prompts'][0]}?asOf={revision}"
        mine, theirs = [(await user.client.get(url)).json()["data"] for user in (alice, bob)]
        assert (mine["revision"], mine) == (revision, bare(theirs))
    for item, (_, content, kind) in zip(ids["documents"][-2:], FILES, strict=True):
        mine, theirs = [await user.client.get(f"/v1/documents/{item}/original") for user in (alice, bob)]
        assert (theirs.content, theirs.headers["content-type"]) == (content, kind)
        assert theirs.headers["content-disposition"] == mine.headers["content-disposition"]
    for kind in ("documents", "prompts"):
        for item in ids[kind]:
            path = f"/v1/{kind}/{item}/versions"
            mine, theirs = [(await user.client.get(path)).json()["data"] for user in (alice, bob)]
            assert list(map(bare, mine)) == list(map(bare, theirs))
    members = f"/v1/collections/{ids['collections'][0]}/items"
    mine, theirs = [(await user.client.get(members)).json()["data"] for user in (alice, bob)]
    assert list(map(bare, mine)) == list(map(bare, theirs))


@proves("IMPORT-ROUND")
async def test_an_imported_document_goes_on_as_any_other(alice, bob, make):
    ids = await fill(make, alice.client)
    await archives.load(bob.client, archives.files(await archives.export(make, alice)))
    url = f"/v1/documents/{ids['documents'][0]}"
    before = (await bob.client.get(url)).json()["data"]
    changed = await bob.client.patch(url, json={"content": "third", "expectedRevision": before["revision"]})
    assert changed.json()["data"]["revision"] == before["revision"] + 1
    assert (await alice.client.get(url)).json()["data"]["content"] == TEXTS[0]


@proves("EXPORT-FILES")
async def test_a_file_comes_in_pieces_and_only_as_it_was(alice, bob, make):
    sent = await alice.client.post("/v1/documents/upload", files={"file": FILES[0]})
    content = archives.files(await archives.export(make, alice))
    [(place, original)] = [(path, found) for path, found in content if isinstance(found, bytes)]
    assert (place, original) == (f"documents/{sent.json()['data']['id']}/original", FILES[0][1])
    lost = [item for item in content if item[0] != place]
    changed = [(path, b"other" if path == place else found) for path, found in content]
    for damaged in (lost, changed):
        refused = await archives.put(bob.client, await archives.start(bob.client), 1, damaged)
        assert (refused.status_code, "its file did not come before it" in refused.text) == (400, True), refused.text
    at = content.index((place, original))
    pieces = [(place, original[start : start + 99]) for start in range(0, len(original), 99)]
    assert len(pieces) > 2
    await archives.load(bob.client, [*content[:at], *pieces, *content[at + 1 :]], 1)
    assert (await bob.client.get(f"/v1/{place}")).content == original


async def test_importing_again_leaves_what_is_there_as_it_is(alice, make):
    ids = await fill(make, alice.client)
    content = archives.files(await archives.export(make, alice))
    url = f"/v1/documents/{ids['documents'][0]}"
    await alice.client.patch(url, json={"content": "newer"})
    await alice.client.delete(f"/v1/documents/{ids['documents'][1]}")
    counts = (await archives.load(alice.client, content))["counts"]
    assert (counts["created"], counts["existing"]) == (0, 10)
    assert (await alice.client.get(url)).json()["data"]["content"] == "newer"
    assert (await alice.client.get(f"/v1/documents/{ids['documents'][1]}")).status_code == 404
