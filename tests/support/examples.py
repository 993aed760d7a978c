"""Valid arguments for any operation, from its argument model; only what cannot be guessed stands in a table."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Any
from uuid import UUID

from app.kit import archive
from app.kit.schema import RestOnly
from tests.support.world import WORLD

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.support.faces import Face
    from tests.support.factories import Make, User

Schema = dict[str, Any]
_TEXT = "An example"


async def _document_id(make: Make, user: User, known: dict[str, Any]) -> str:
    document = await make.document(user.client, title=f"Kept of {user.email}", content=f"Content of {user.email}")
    return str(document["id"])


async def _prompt_id(make: Make, user: User, known: dict[str, Any]) -> str:
    """A prompt whose only version has the label of the examples."""
    said = f"of {user.email}"
    prompt = await make.prompt(user.client, title=f"Prompt {said}", description=f"Kept {said}", content=f"Text {said}")
    labelled = await user.client.put(
        f"/v1/prompts/{prompt['id']}/labels/production", json={"versionId": prompt["versionId"]}
    )
    assert labelled.status_code == 200, labelled.text
    return str(prompt["id"])


async def _managed_document_id(make: Make, user: User, known: dict[str, Any]) -> str:
    document_id = await _document_id(make, user, known)
    tag = {"If-Match": await _document_tag(make, user, {"documentId": document_id})}
    url = f"/v1/documents/{document_id}/coordination"
    assert (await user.client.put(url, json={"policy": "lease_required"}, headers=tag)).is_success
    return document_id


async def _lease_id(make: Make, user: User, known: dict[str, Any]) -> str:
    url = f"/v1/documents/{known['documentId']}/coordination/lease"
    answer = await user.client.post(url, json={"action": "acquire"}, headers={"Idempotency-Key": uuid.uuid4().hex})
    return str(answer.json()["data"]["leaseId"])


async def _document_tag(make: Make, user: User, known: dict[str, Any]) -> str:
    return str((await user.client.get(f"/v1/documents/{known['documentId']}")).headers["etag"])


async def _version_id(make: Make, user: User, known: dict[str, Any]) -> str:
    owner = f"documents/{known['documentId']}" if "documentId" in known else f"prompts/{known['promptId']}"
    answer = await user.client.get(f"/v1/{owner}/versions")
    return str(answer.json()["data"][0]["id"])


async def _workspace_id(make: Make, user: User, known: dict[str, Any]) -> str:
    answer = await (await make.browser(user)).post("/v1/workspaces", json={"name": f"Of {user.email}"})
    return str(answer.json()["data"]["id"])


async def _member_id(make: Make, user: User, known: dict[str, Any]) -> str:
    return str((await make.member(UUID(known["workspaceId"]), "member")).id)


async def _invite_id(make: Make, user: User, known: dict[str, Any]) -> str:
    path = f"/v1/workspaces/{known['workspaceId']}/invites"
    answer = await (await make.browser(user)).post(path, json={"email": "guest@example.test"})
    return str(answer.json()["data"]["id"])


async def _key_id(make: Make, user: User, known: dict[str, Any]) -> str:
    sent = {"name": f"Key of {user.email}", "scopes": ["documents.read"]}
    answer = await (await make.browser(user)).post("/v1/keys", json=sent)
    return str(answer.json()["data"]["id"])


async def _link_id(make: Make, user: User, known: dict[str, Any]) -> str:
    sent = {"itemType": "document", "itemId": await _document_id(make, user, known)}
    answer = await (await make.browser(user)).post("/v1/links", json=sent)
    return str(answer.json()["data"]["id"])


async def _prefixed_id(make: Make, user: User, known: dict[str, Any]) -> str:
    return f"document_{await _document_id(make, user, known)}"


async def _page_url(make: Make, user: User, known: dict[str, Any]) -> str:
    return WORLD.serve(f"Page of {user.email}")


async def _page_document_id(make: Make, user: User, known: dict[str, Any]) -> str:
    url = await _page_url(make, user, known)
    answer = await user.client.post("/v1/documents/scrape", json={"url": url})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["data"]["id"])


async def _file_document_id(make: Make, user: User, known: dict[str, Any]) -> str:
    file = {"file": ("notes.md", f"Notes of {user.email}".encode(), "text/markdown")}
    answer = await user.client.post("/v1/documents/upload", files=file)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["data"]["id"])


async def _chunk_id(make: Make, user: User, known: dict[str, Any]) -> str:
    """The only passage of a document, indexed with a model that takes no time."""
    document_id = await _document_id(make, user, known)
    await make.indexed(user)
    sent = {"query": "content", "documentId": document_id}
    found = await user.client.post("/v1/pd/search", json=sent)
    return str(found.json()["data"]["results"][0]["chunkId"])


async def _citation_id(make: Make, user: User, known: dict[str, Any]) -> str:
    document_id = await _document_id(make, user, known)
    await make.indexed(user)
    asked = {"query": f"content of {user.email}", "documentId": document_id}
    found = await user.client.post("/v1/reason", json=asked)
    return str(found.json()["data"]["citations"][0]["id"])


async def _collection_id(make: Make, user: User, known: dict[str, Any]) -> str:
    made = await make.collection(
        user.client, name=f"Kept of {user.email}", items=[await _document_id(make, user, known)]
    )
    return str(made["id"])


async def _collection_ids(make: Make, user: User, known: dict[str, Any]) -> list[str]:
    return [await _collection_id(make, user, known)]


async def _trashed_id(make: Make, user: User, known: dict[str, Any]) -> str:
    document_id = await _document_id(make, user, known)
    await user.client.delete(f"/v1/documents/{document_id}")
    return document_id


async def _item_ids(make: Make, user: User, known: dict[str, Any]) -> list[str]:
    return [await _document_id(make, user, known)]


async def _export_id(make: Make, user: User, known: dict[str, Any]) -> str:
    """An export whose archive is ready."""
    export_id = (await user.client.post("/v1/exports")).json()["data"]["id"]
    await make.export(user, export_id)
    return str(export_id)


async def _import_id(make: Make, user: User, known: dict[str, Any]) -> str:
    return str((await user.client.post("/v1/imports")).json()["data"]["id"])


async def _begun_import_id(make: Make, user: User, known: dict[str, Any]) -> str:
    """An import that took a chunk."""
    import_id = await _import_id(make, user, known)
    sent = {"entries": VALUES["imports.put_chunk", "entries"]}
    assert (await user.client.put(f"/v1/imports/{import_id}/chunks/1", json=sent)).is_success
    return import_id


async def _pack_hash(make: Make, user: User, known: dict[str, Any]) -> str:
    sent = {"documentId": await _document_id(make, user, known)}
    return str((await user.client.get("/v1/pack", params=sent)).json()["data"]["hash"])


IDS: dict[str, Callable[[Make, User, dict[str, Any]], Awaitable[Any]]] = {
    "documentId": _document_id,
    "promptId": _prompt_id,
    "workspaceId": _workspace_id,
    "userId": _member_id,
    "inviteId": _invite_id,
    "keyId": _key_id,
    "linkId": _link_id,
    "versionId": _version_id,
    "id": _prefixed_id,
    "chunkId": _chunk_id,
    "citationId": _citation_id,
    "collectionId": _collection_id,
    "collectionIds": _collection_ids,
    "itemIds": _item_ids,
    "itemId": _trashed_id,
    "exportId": _export_id,
    "importId": _import_id,
}
"""How to make an object whose id an argument of this name takes; later ones may use the earlier ones' ids."""

MADE: dict[tuple[str, str], Callable[[Make, User, dict[str, Any]], Awaitable[str]]] = {
    ("leases.change", "documentId"): _managed_document_id,
    ("leases.change", "leaseId"): _lease_id,
    ("links.create", "itemId"): _document_id,
    ("links.list", "itemId"): _document_id,
    ("documents.scrape", "url"): _page_url,
    ("packs.make", "documentId"): _document_id,
    ("packs.get", "hash"): _pack_hash,
    ("imports.finish", "importId"): _begun_import_id,
    ("documents.original", "documentId"): _file_document_id,
    ("documents.refresh", "documentId"): _page_document_id,
    ("coordination.set", "If-Match"): _document_tag,
    ("coordination.clear", "If-Match"): _document_tag,
}
"""How to make what one operation alone needs, by operation and argument; an optional argument is given then."""

VALUES: dict[tuple[str, str], Any] = {
    ("documents.upload", "file"): {"name": "notes.md", "mediaType": "text/markdown", "content": b"# Notes\n"},
    ("documents.update", "expectedRevision"): 1,
    ("links.create", "itemType"): "document",
    ("documents.diff", "from"): "1",
    ("documents.batch", "items"): [{"op": "create", "title": "An example", "content": ""}],
    ("invites.create", "email"): "guest@example.test",
    ("documents.restore", "expectedRevision"): 1,
    ("prompts.label", "label"): "staging",
    ("prompts.unlabel", "label"): "production",
    ("imports.put_chunk", "entries"): [{"path": archive.MANIFEST, "text": archive.manifest().decode()}],
}
"""Values that neither the type nor the name gives, by operation and argument."""


HINTS = {"sessionId"}
"""Ids that only say what to leave out: one that is not known changes nothing, so that it is never 404."""


def id_fields(face: Face) -> list[str]:
    """Name the arguments that hold ids, optional ones included."""
    fields = face.args.model_fields
    if hasattr(face, "tool"):  # tools do not take these
        fields = {k: v for k, v in fields.items() if not any(isinstance(mark, RestOnly) for mark in v.metadata)}
    named = {field.alias or name: field.annotation for name, field in fields.items()}
    return [alias for alias, annotation in named.items() if alias not in HINTS and _holds_id(annotation, alias)]


def _holds_id(annotation: Any, alias: str) -> bool:
    if alias == "leaseId":  # a secret that its holder shows, not the name of an object
        return False
    return "UUID" in str(annotation) or alias == "id" or (alias.endswith(("Id", "Ids")) and not alias.startswith("X-"))


def never_issued(known_id: Any) -> Any:
    """Give an id of the same form that nothing has; of a list, as many."""
    if isinstance(known_id, list):
        return [never_issued(item) for item in known_id]
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}$", str(uuid.uuid4()), known_id)


def listed(ids: Any) -> list[str]:
    """Give the ids of an argument that takes one, or several."""
    return ids if isinstance(ids, list) else [ids]


async def example(face: Face, make: Make, user: User) -> dict[str, Any]:
    """Build arguments that the operation accepts, with objects of `user` behind the ids it requires."""
    operation = face.operation
    schema = face.args.model_json_schema(by_alias=True)
    args: dict[str, Any] = {}
    made_here = {name for made, name in MADE if made == operation.name}
    wanted = {*schema.get("required", ()), *(made_here & schema.get("properties", {}).keys())}
    order = [
        *(name for name in schema.get("properties", {}) if name != "leaseId"),
        "leaseId",
    ]  # a lease is of a document
    for name in sorted(wanted, key=order.index):
        if (operation.name, name) in MADE:
            args[name] = await MADE[operation.name, name](make, user, args)
        elif name in id_fields(face):
            args[name] = await make_id(face, name, make, user, args)
        elif (operation.name, name) == ("search.fetch", "id"):
            args[name] = f"document_{await _document_id(make, user, args)}"
        elif (operation.name, name) in VALUES:
            args[name] = VALUES[operation.name, name]
        else:
            args[name] = _guess(schema["properties"][name], schema, f"{operation.name}.{name}")
    return args


async def make_id(face: Face, name: str, make: Make, user: User, known: dict[str, Any]) -> Any:
    """Make an object of a user and return its id; a list of one where the argument takes several."""
    maker = IDS.get(name)
    if maker is None:
        msg = f"{face.label} takes {name}: say in tests/support/examples.py (IDS) how to make such an object"
        raise AssertionError(msg)
    return await maker(make, user, known)


def _guess(schema: Schema, root: Schema, where: str) -> Any:
    schema = _resolved(schema, root)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _guess(schema["anyOf"][0], root, where)
    return _guess_type(schema, root, where)


def _guess_type(schema: Schema, root: Schema, where: str) -> Any:
    kind = schema.get("type")
    if kind == "string":
        return _guess_text(schema, where)
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "array":
        return [_guess(schema["items"], root, where)] if schema.get("minItems") else []
    if kind == "object":
        return {name: _guess(schema["properties"][name], root, where) for name in schema.get("required", ())}
    return kind == "boolean"


def _guess_text(schema: Schema, where: str) -> str:
    if schema.get("format") == "uuid":
        return str(UUID(int=1))
    text = _TEXT.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", 1000)]
    if not re.search(schema.get("pattern", ""), text):
        msg = f"no example of {where} can be guessed: add one to VALUES in tests/support/examples.py"
        raise AssertionError(msg)
    return text


def _resolved(schema: Schema, root: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return found
