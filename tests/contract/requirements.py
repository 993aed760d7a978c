"""Every promise of the contract's rows 1 to 14 and 35, and of the rules that apply to them, by id.

A test says `@proves("DOC-9")`; `test_manifest.py` fails for an id that no test proves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

REQUIREMENTS: dict[str, str] = {}


def proves(*ids: str) -> Callable[[T], T]:
    """Mark a test as the proof of requirements."""
    unknown = [name for name in ids if name not in REQUIREMENTS]
    if unknown:
        msg = f"unknown requirement {unknown[0]}: add it to tests/contract/requirements.py"
        raise ValueError(msg)
    return lambda test: test


REQUIREMENTS |= {
    "DOC-8": "GET /v1/documents answers 200 with a list without content",
    "DOC-8-FILTERS": "limit, cursor, search in the title, and tags (all of them) narrow the list",
    "DOC-9": "POST /v1/documents needs title and content and answers 201 with the document, status pending",
    "DOC-10": "GET /v1/documents/{id} answers 200 with content and ETag",
    "DOC-10-304": "If-None-Match with the current tag answers 304 once the status is final",
    "DOC-11": "PATCH changes any of title, content, tags, and answers the compact acknowledgement",
    "DOC-12": "DELETE answers 204, then everything about the document is 404",
    "DOC-13": "GET versions answers the versions, newest first, with content, author and change log",
    "DOC-14": "POST restore makes a version current as a new revision; intermediate ones stay",
    "DOC-14-404": "restoring an unknown version is 404, a malformed id is 400",
    "ME-35": "GET /v1/user/me answers id, name, email, externalId, authMethod, permissions, plan, usage",
    "ME-35-PLAN": "GET /v1/user/me works without a plan",
    "CAP": "GET /v1/mcp/capabilities tells any credential what the resource of that name tells; not in /openapi.json",
    "ENV-ONE": "a single thing is {data: {…}}",
    "ENV-LIST": "a list is {data: […], pagination: {cursor, hasMore}}",
    "ENV-ERROR": "a refusal is {error: {code, reason, message, details}} with the HTTP status as code",
    "ENV-TIMES": "times are epoch milliseconds",
    "ENV-TYPE": "requests are application/json, else 415",
    "ENV-CORS": "a preflight answers 204 for every origin with the headers that clients need",
    "ENV-RATE": "rate headers tell limit, remaining and reset",
    "PAGE-DEFAULT": "a page has 20 items by default",
    "PAGE-CAP": "a page has 100 items at most; more is clamped and said so",
    "PAGE-WALK": "the cursor goes back as a parameter while hasMore; 101 items come as 100 and 1",
    "PAGE-GARBAGE": "a cursor that is not ours is 400",
    "REV-READ": "reads show revision, contentHash, lastChangedAt and ETag",
    "REV-HASH": "contentHash is SHA-256 over the digests of title, content and tags",
    "REV-HEADER": "a stale If-Match is 412 REVISION_MISMATCH with the current revision and tag",
    "REV-BODY": "a stale expectedRevision is 409 REVISION_MISMATCH",
    "REV-BOTH": "both forms: disagreeing is 400 PRECONDITION_CONFLICT, agreeing but stale is 412",
    "REV-STRONG": "If-Match compares strongly: lists and * match, weak and foreign tags never",
    "REV-OPTIONAL": "preconditions are optional over REST",
    "REV-NOOP": "a write that changes nothing answers noop: true and makes no revision",
    "REV-STALE-SAME": "a stale precondition with identical content is a mismatch, not a noop",
    "REV-VERSION": "a change of title or tags makes a revision and no version",
    "REV-NUMBER": "expectedRevision is an integer of 1 or more; a numeric string is accepted",
    "REV-ONE-WINS": "of two writers with one revision, one wins and the other sees the mismatch",
    "REV-STEP": "acknowledged writes make revisions 1, 2, 3 … without a gap, each once",
    "REC-REPLAY": "an identical request with the same Idempotency-Key gets the same bytes, and one effect",
    "REC-TWINS": "twins at once have one effect",
    "REC-OTHER": "another payload under the same key is 422, also while the first runs",
    "REC-SCOPE": "the same key of another principal is another key",
    "REC-2XX": "refusals are not stored",
    "REC-24H": "a receipt lives for 24 hours from its creation",
    "REC-FORM": "a key is 1 to 255 characters, quoted or bare, on writes only",
    "REC-FIRST": "the receipt is found before 404",
    "ERR-400": "what cannot be understood is 400 INVALID_REQUEST and names the field",
    "ERR-401-NONE": "without a credential: 401 with WWW-Authenticate naming the resource metadata",
    "ERR-401-BAD": "unknown and malformed credentials: 401",
    "ERR-401-EXPIRED": "expired keys: 401",
    "ERR-401-REVOKED": "revoked keys: 401",
    "ERR-401-FAST": "a revocation holds on every instance within 5 seconds",
    "ERR-401-QUERY": "a key in the query string is no credential",
    "ERR-402-PLAN": "no active plan: 402 PLAN_REQUIRED",
    "ERR-402-FEATURE": "a feature that the plan lacks: 402 FEATURE_NOT_IN_PLAN naming plans that have it",
    "ERR-403": "a key without the scope: 403, the message names it",
    "ERR-403-VIEWER": "a viewer cannot write whatever the scopes of the key",
    "ERR-404": "absent and foreign are both 404",
    "ERR-405": "another method is 405 with Allow",
    "ERR-413": "a body over 10 MiB is 413",
    "ERR-422": "see REC-OTHER",
    "ERR-429": "a spent rate is 429 with Retry-After",
    "ERR-500": "nothing a client sends makes a 500, and no fault of ours shows its cause",
    "ERR-503": "a store that is away is 503 with Retry-After, and heals",
    "ERR-503-PLAN": "a plan that cannot be read is 503 ENTITLEMENT_UNAVAILABLE with Retry-After",
    "ORDER-401": "the credential is checked before the body",
    "ORDER-403": "the scope is checked before the body",
    "ORDER-429": "the rate is checked before the body",
    "RATE-EXACT": "no window of the family's length holds more calls than the limit, over all instances",
    "RATE-USER": "limits are counted per user, not per key",
    "RATE-FAMILY": "families are independent",
    "RATE-REDIS": "with Redis away limits are counted in the process and nothing fails",
    "TENANT-404": "another tenant's id answers byte for byte like an absent one and changes nothing",
    "TENANT-READ": "no answer holds anything of another tenant",
    "TENANT-RLS": "the database itself shows no row of another tenant",
}

REQUIREMENTS |= {
    "PERSON-SESSION": "workspaces and keys are managed with a live browser session: 14 days idle, 90 days at most",
    "PERSON-KEY": "a key cannot mint keys, nor manage workspaces: 403",
    "PERSON-CROSS-SITE": "a write with a cookie from another site's page is 403",
    "KEY-ONCE": "a key's text is in the answer that makes it and nowhere else",
    "KEY-ROTATE": "a rotated key has a new secret at once; the old one ends after the stated overlap; one grant",
    "KEY-REVOKE": "a revoked key is refused within 5 seconds everywhere",
    "KEY-ROLE": "a key has no scope that its owner's role lacks",
    "WS-LAST-OWNER": "a workspace keeps an owner, also when two demote each other at once",
    "WS-INVITE": "an invite works once, for one address, for a limited time",
    "SIGN-EQUAL": "known and unknown accounts answer alike in body and time",
    "SIGN-CSRF": "a form that our own page did not send is 403",
    "SIGN-ROTATE": "signing in gives a new session and ends the one the browser had",
    "SIGN-LINK": "a one-time link works once, however many use it at once",
    "WEB-EVERYBODY": "no page has a serious barrier or is wider than a phone; light, dark; Tab reaches all",
    "WEB-KEYBOARD": "what people come for is done by keyboard alone, with and without JavaScript",
    "MCP-SUITE": "the official suite's scored scenarios pass over our factory, or a reason is written down",
    "MCP-INSPECTOR": "the Inspector lists, calls and is refused, by key and by signing in, in both protocol eras",
    "OAUTH-REDIRECT": "an address that is not exactly the registered one is 400, without redirect",
    "OAUTH-PKCE": "every client needs PKCE with S256",
    "OAUTH-CODE": "a code works once within a minute; its replay revokes what came of it",
    "OAUTH-REFRESH": "refresh tokens rotate; racing clients all succeed; a late replay ends the family",
    "OAUTH-RESOURCE": "a token is good on the one surface that it was issued for",
    "OAUTH-REGISTER": "dynamic registration with management; unused clients expire",
    "OAUTH-DOCUMENT": "a client id may be the address of the client's description",
    "OAUTH-DEVICE": "a device gets tokens when a person allows it on another screen",
    "OAUTH-METADATA": "metadata is found at the root, path-inserted and suffixed addresses, with one issuer",
    "OAUTH-STEP-UP": "an OAuth client without the scope is 403 with a challenge, over MCP too",
    "OAUTH-APPS": "access taken back ends within 5 seconds",
    "OAUTH-ANYWHERE": "any process takes any step of a sign-in and serves its tokens; a revocation holds on all in 5 s",
    "GUESS-LIMIT": "wrong credentials are limited by address, over all instances; right ones cost no message",
    "SLOW-BODY": "a request body that comes too slowly is 408; a slow but steady one arrives",
    "OAUTH-PROMPT-LOGIN": "prompt=login ends the session, in the browser and on the server, and asks to sign in",
    "AUTH-SCHEMES": "`Bearer` and `API-Key` are taken, on every surface (section 7)",
    "AUTH-DISCOVERY": "the issuer is found from a refusal: RFC 9728, then RFC 8414 (section 7)",
    "AUTH-AUTHORITY": "a token carries the whole user, a key only its scopes (section 7)",
    "AUTH-MCP-FLOW": "anonymous lists, 401 at a call, metadata, registration, code with PKCE, bearer (section 7)",
    "AUTH-PUBLIC": "the six methods of /mcp, OpenAPI and the well-known documents need no credential (section 7)",
    "OAUTH-OPENAPI": "OpenAPI describes the OAuth flow with the scopes of each operation",
    "ISSUER-TOKEN": "with AUTH_ISSUER a token is good that this issuer signed, for now, for an access",
    "ISSUER-AUDIENCE": "its audience is the surface that is called, or what the operator said",
    "ISSUER-ALGORITHMS": "only signatures that nobody but the issuer can make: no `none`, nothing symmetric",
    "ISSUER-KEYS": "keys are cached, rotate, and are asked for again at a bounded rate; an outage signs nobody out",
    "ISSUER-ACCOUNT": "a subject of an issuer is one user: matched by a verified address, or made where SIGNUP=open",
    "ISSUER-SCOPES": "scopes count by their own names, or as AUTH_SCOPES translates them, also in challenges",
    "ISSUER-METADATA": "with AUTH_ISSUER every resource names that issuer, and the built-in server is gone",
    "FETCH-PUBLIC": "an address that others supply is fetched only if it is public",
    "RCPT-SEALED": "stored answers are encrypted, and readable after the secret was rotated",
}

REQUIREMENTS |= {
    "COORD-17": "GET coordination answers policy, revision, lease and an ETag of its own",
    "COORD-17-LEASE": "GET shows a live lease's fence and times to everybody, its holder's flag, and never its id",
    "COORD-18": "PUT sets lease_required; If-Match takes the document's tag or the coordination's",
    "COORD-18-EXACT": "a policy change without an exact tag is 428, with another tag 412",
    "COORD-18-OWNER": "the policy is set by owners of the workspace and the document's creator, others are 403",
    "COORD-19": "DELETE returns to standard mode and ends the lease",
    "COORD-20": "acquire is refused with LEASE_HELD while a lease is live",
    "COORD-20-KEY": "lease operations need Idempotency-Key and repeat by it",
    "COORD-20-TTL": "a lease lasts 60 s unless told, 5 to 3,600 s",
    "COORD-20-PAIR": "renew and release need lease id and fence",
    "COORD-11": "a managed PATCH needs lease, key and one revision precondition",
    "COORD-14": "a managed restore needs them too; a managed DELETE needs the lease",
    "COORD-RECEIPT": "the receipt of an earlier success answers identically after its lease is over",
    "COORD-MCP": "the 29-tool surfaces refuse to write a managed document",
    "L1": "fences of a document only grow, over release, expiry and policy changes",
    "L2": "at most one lease of a document is live",
    "L4": "a write with a lease that is over is refused, even when nobody took it",
    "L5": "once a fence was accepted no lower one is",
    "L7": "a renewal revives no lease that is over",
    "L8": "a release is idempotent and only by the holder",
}

REQUIREMENTS |= {
    "PRM-1": "GET /v1/prompts lists prompts without text: q is literal in title, description and text; tags; pages",
    "PRM-2": "POST /v1/prompts needs title, description and content and answers 201; engine and workspace are ignored",
    "PRM-3": "GET /v1/prompts/{id} answers 200 with content, variables and tags",
    "PRM-4": "PATCH changes what it names and answers the whole prompt; only content makes a version",
    "PRM-5": "DELETE answers 204, then everything about the prompt is 404",
    "PRM-6": "GET versions answers the versions, newest first, with content, author and change log",
    "PRM-7": "POST restore makes a version's text current as a new version; unknown 404, malformed 400",
    "PRM-REV": "the revision moves by one on every logical change, and guards writes as with documents",
    "PRM-VARS": "variables are those of the text unless declared; names and types are validated",
    "PRM-DRIFT": "where declared variables and the text differ, the answer warns",
    "PRM-LABELS": "labels point at a version, move between versions, and choose what a read gives",
    "PRM-PUBLIC": "isPublic is read-only; includePublic is accepted and shows nothing of others",
    "PRM-TOOLS": "the seven tools answer the REST bodies; deleting what is gone succeeds; old names are taken",
    "PRM-NATIVE-LIST": "prompts/list gives 100 a page with nextCursor, named by id, with variables as arguments",
    "PRM-NATIVE-GET": "prompts/get gives the stored text; only declared variables are replaced, every other byte stays",
}

REQUIREMENTS |= {
    "QUOTA": "more than the plan allows is 402 QUOTA_EXCEEDED with meter, limit, used, resetsAt; nothing is written",
    "QUOTA-ORDER": "an allowance is judged after 404 and before preconditions",
    "QUOTA-MONTH": "a monthly allowance is reserved before the call, exactly, and tells when it begins anew",
    "PLAN-SET": "an administrator gives a workspace a plan, for a trial's days, or none",
    "TOOL-ERRORS": "structuredContent.error of a failed tool equals the error of REST",
    "ANONYMOUS-RATE": "what needs no credential is limited by address: 429 with Retry-After",
}
