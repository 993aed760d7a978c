"""Each row of the contract's sections 1 to 8 and 10 with the ids of the promises that stand for it.

The rows of our own operations beside the 35 stand under `+`. Where we decided otherwise, the row says so.
`python -m tests.contract` prints the table with the tests.
"""

from __future__ import annotations

COUNTS = {
    "1.1": 18, "1.2": 8, "1.3": 36, "1.4": 5, "2.1": 36, "2.2": 10, "2.3": 8, "2.4": 16, "2.5": 12, "2.6": 17,
    "3": 21, "4.1": 5, "4.2": 21, "4.3": 1, "5": 20, "6.1": 7, "6.2": 1, "6.3": 1, "6.4": 1, "6.5": 1, "6.6": 1,
    "7": 9, "8": 28, "10": 15, "+": 15,
}  # fmt: skip
"""How many rows each section has: a row that is forgotten here is found."""

_TABLE = """
1.1 | endpoint: POST /mcp, and /grok-mcp for the same tools | MCP-GROK MCP-LINE
1.1 | protocol revisions: all handshake ones and 2026-07-28 | MCP-ERAS
1.1 | stateless: one message a POST, no session header | MCP-STATELESS
1.1 | clients that take JSON alone get one JSON body | MCP-LINE
1.1 | one line, application/json | MCP-LINE
1.1 | errors may ride on other statuses, well formed | MCP-UNKNOWN MCP-ALONE
1.1 | notifications: 202 and nothing | MCP-202
1.1 | batches: refused with one error (decided: no client of ours sends them) | MCP-ALONE
1.1 | clients wait 30 s, 90 s for reason | RSN-MODEL-BUDGET DOC-15-BOUNDS
1.1 | six public methods | AUTH-PUBLIC MCP-LISTEN
1.1 | the others are 401 with the metadata's address | MCP-CHALLENGE OAUTH-STEP-UP
1.1 | tools, resources and prompts are advertised to everybody | MCP-ERAS
1.1 | server name context-repo | MCP-ERAS
1.1 | prompts/list: 100 a page, nextCursor | PRM-NATIVE-LIST CHECK-8
1.1 | prompts/get: one user message of the stored text; arguments replaced | PRM-NATIVE-GET
1.1 | resource contextrepo://capabilities | CAP
1.1 | public resources: capabilities and OpenAPI | RES-PUBLIC
1.1 | private resources: profile, prompts, documents, collections | RES-TEMPLATES
1.2 | success: Markdown and the REST body | MCP-STRUCTURED CHECK-4
1.2 | deletes: {id, deleted}, a second one too | MCP-DELETE-TWICE CHECK-4
1.2 | get_collection: data and items | CHECK-4 COL-TOOL-50
1.2 | search and fetch: JSON as text, mirrored | APP-SEARCH-FETCH
1.2 | failures: isError, reason, message; 404 says not found | TOOL-ERRORS TOOL-LIVE
1.2 | 5xx never show their cause | ERR-500
1.2 | arrays as JSON text or one text | MCP-LENIENT
1.2 | lists tell the cursor to go on with | MCP-CURSOR
1.3 | 1 get_user_info | TOOL-NAMES TOOL-SCOPES CHECK-4 ME-35-PLAN
1.3 | 2 search_prompts | TOOL-PARAMETERS CHECK-4 PRM-TOOLS PRM-1
1.3 | 3 read_prompt | TOOL-PARAMETERS CHECK-4 PRM-TOOLS PRM-3 PRM-3-AS-OF
1.3 | 4 create_prompt | TOOL-PARAMETERS CHECK-4 PRM-TOOLS PRM-2
1.3 | 5 update_prompt | TOOL-PARAMETERS CHECK-4 PRM-TOOLS PRM-4
1.3 | 6 delete_prompt | CHECK-4 PRM-TOOLS PRM-5
1.3 | 7 get_prompt_versions | CHECK-4 PRM-TOOLS PRM-6
1.3 | 8 restore_prompt_version | CHECK-4 PRM-TOOLS PRM-7
1.3 | 9 list_documents | TOOL-PARAMETERS CHECK-4 DOC-8
1.3 | 10 get_document | TOOL-PARAMETERS CHECK-4 DOC-10 DOC-10-AS-OF
1.3 | 11 create_document | TOOL-PARAMETERS CHECK-4 DOC-9
1.3 | 12 update_document | TOOL-PARAMETERS CHECK-4 EDIT-TOOL COORD-MCP
1.3 | 13 delete_document | CHECK-4 MCP-DELETE-TWICE
1.3 | 14 get_document_versions | CHECK-4 DOC-13
1.3 | 15 restore_document_version | TOOL-PARAMETERS CHECK-4 IMPORT-PARTIAL
1.3 | 16 list_collections | CHECK-4 COL-21
1.3 | 17 get_collection | CHECK-4 COL-23 COL-26 COL-TOOL-50
1.3 | 18 create_collection | CHECK-4 COL-22
1.3 | 19 update_collection | CHECK-4 COL-24
1.3 | 20 delete_collection | CHECK-4 COL-25
1.3 | 21 add_to_collection | CHECK-4 COL-27
1.3 | 22 remove_from_collection | CHECK-4 COL-28
1.3 | 23 find_items | CHECK-4 SEARCH-TEXT-100 SEARCH-KINDS SEARCH-LITERAL SEARCH-SCOPES SEARCH-AS-OF
1.3 | 24 deep_search | CHECK-4 PD-31 PD-TOOLS
1.3 | 25 deep_read | CHECK-4 PD-33 PD-TOOLS
1.3 | 26 deep_expand | CHECK-4 PD-32 PD-32-WAYS PD-TOOLS
1.3 | 27 reason | CHECK-4 RSN-34 RSN-TOOL
1.3 | 28 search | APP-SEARCH-FETCH SEARCH-LINKS
1.3 | 29 fetch | APP-SEARCH-FETCH SEARCH-LINKS
1.3 | not over MCP: scrape, refresh, leases, links, keys | TOOL-NAMES MCP-ALL-ONLY
1.3 | hints: reading tools | TOOL-HINTS
1.3 | hints: create_* | TOOL-HINTS
1.3 | hints: updates of prompts and collections, membership | TOOL-HINTS
1.3 | hints: update_document, restore_* | TOOL-HINTS
1.3 | hints: delete_* | TOOL-HINTS
1.3 | output schemas, nothing closed, failures fit them | MCP-STRUCTURED
1.4 | prompts are reached by search_prompts and find_items alone | TOOL-ROUTING
1.4 | which item, which passage, then read and expand | TOOL-ROUTING
1.4 | read before a change | TOOL-ROUTING
1.4 | writes need the user's intent | TOOL-ROUTING TOOL-HINTS
1.4 | sessions: a fresh one in meta, skipping only when it is sent | PD-31-SESSION
2.1 | 1 GET /v1/prompts | CHECK-2 PRM-1
2.1 | 2 POST /v1/prompts | CHECK-2 PRM-2
2.1 | 3 GET /v1/prompts/{id} | CHECK-2 PRM-3
2.1 | 4 PATCH /v1/prompts/{id} | CHECK-2 PRM-4
2.1 | 5 DELETE /v1/prompts/{id} | CHECK-2 PRM-5
2.1 | 6 GET /v1/prompts/{id}/versions | CHECK-2 PRM-6
2.1 | 7 POST /v1/prompts/{id}/restore | CHECK-2 PRM-7
2.1 | 8 GET /v1/documents | CHECK-2 DOC-8 DOC-8-FILTERS
2.1 | 9 POST /v1/documents | CHECK-2 DOC-9
2.1 | 10 GET /v1/documents/{id} | CHECK-2 DOC-10 DOC-10-304
2.1 | 11 PATCH /v1/documents/{id} | CHECK-2 DOC-11
2.1 | 12 DELETE /v1/documents/{id} | CHECK-2 DOC-12
2.1 | 13 GET /v1/documents/{id}/versions | CHECK-2 DOC-13
2.1 | 14 POST /v1/documents/{id}/restore | CHECK-2 DOC-14 DOC-14-404
2.1 | 15 POST /v1/documents/scrape | CHECK-2 DOC-15 DOC-15-PLAN DOC-15-UPSTREAM
2.1 | 16 POST /v1/documents/{id}/refresh | CHECK-2 DOC-16 DOC-16-NOOP DOC-16-MANAGED
2.1 | 17 GET …/coordination | CHECK-2 COORD-17
2.1 | 18 PUT …/coordination | CHECK-2 COORD-18 COORD-18-EXACT COORD-18-OWNER
2.1 | 19 DELETE …/coordination | CHECK-2 COORD-19
2.1 | 20 POST …/coordination/lease | CHECK-2 COORD-20 COORD-20-KEY COORD-20-PAIR
2.1 | 21 GET /v1/collections | CHECK-2 COL-21
2.1 | 22 POST /v1/collections | CHECK-2 COL-22
2.1 | 23 GET /v1/collections/{id} | CHECK-2 COL-23
2.1 | 24 PATCH /v1/collections/{id} | CHECK-2 COL-24
2.1 | 25 DELETE /v1/collections/{id} | CHECK-2 COL-25
2.1 | 26 GET /v1/collections/{id}/items | CHECK-2 COL-26
2.1 | 27 POST /v1/collections/{id}/items | CHECK-2 COL-27
2.1 | 28 PUT /v1/collections/{id}/items removes | CHECK-2 COL-28
2.1 | 29 GET /v1/search | CHECK-2 SEARCH-KINDS SEARCH-LITERAL SEARCH-AS-OF
2.1 | 30 POST /v1/pd/session | CHECK-2 PD-30
2.1 | 31 POST /v1/pd/search | CHECK-2 PD-31
2.1 | 32 POST /v1/pd/expand | CHECK-2 PD-32 PD-32-WAYS
2.1 | 33 GET /v1/pd/read/{chunkId} | CHECK-2 PD-33
2.1 | 34 POST /v1/reason | CHECK-2 RSN-34
2.1 | 35 GET /v1/user/me | CHECK-2 ME-35 ME-35-PLAN
2.1 | + GET /v1/mcp/capabilities, not in OpenAPI | CAP
2.2 | single | ENV-ONE
2.2 | list | ENV-LIST
2.2 | page size 20, 100 at most | PAGE-DEFAULT PAGE-CAP PAGE-WALK
2.2 | ids are opaque texts | TENANT-404 ERR-404
2.2 | times in epoch milliseconds | ENV-TIMES
2.2 | JSON in and out | ENV-TYPE
2.2 | OPTIONS is 204 | ENV-CORS
2.2 | CORS for every origin, with the headers that clients need | ENV-CORS
2.2 | ETag of revision and hash | REV-READ REV-STRONG COORD-17
2.2 | rate headers, Retry-After on 429 and 503 | ENV-RATE ERR-429 ERR-503
2.3 | reads show revision, contentHash, lastChangedAt, ETag | REV-READ
2.3 | If-Match or expectedRevision; both must agree | REV-HEADER REV-BODY REV-BOTH
2.3 | optional over REST | REV-OPTIONAL
2.3 | needed over MCP | TOOL-PARAMETERS
2.3 | unchanged is noop | REV-NOOP REV-STALE-SAME
2.3 | REVISION_MISMATCH | REV-ONE-WINS REV-MERGED
2.3 | two counters; numeric text is a number | REV-VERSION REV-NUMBER REV-STEP
2.3 | contentHash | REV-HASH
2.4 | search: prompt hit | SEARCH-KINDS
2.4 | search: document hit, snippet and chunk | SEARCH-KINDS SEARCH-LITERAL
2.4 | search: collection hit, through its members | SEARCH-KINDS SEARCH-MEMBERS
2.4 | pd search result | PD-31
2.4 | pd search meta | PD-31 PD-31-SESSION
2.4 | pd expand chunk | PD-32
2.4 | pd read chunk | PD-33
2.4 | reason as of June 2026 | RSN-34 RSN-34-NOTHING
2.4 | reason now: limitations, disagreements in the answer | RSN-LIMITS RSN-DIFFER
2.4 | reason, compatible answer | RSN-34
2.4 | citations are checked, invented ones dropped | RSN-MODEL RSN-CITE
2.4 | threshold 0.35, calibrated | SEARCH-THRESHOLD SEARCH-ORDER
2.4 | literal over title, description and whole bodies, at once | SEARCH-LITERAL
2.4 | filters before candidates | FILTER-FIRST PD-31-SCOPE
2.4 | surrounding borrows from neighbours | PD-32-ALONE
2.4 | empty sections of texts are left out | RSN-TOOL
2.5 | standard: nothing extra, a stale precondition is refused | REV-OPTIONAL REV-HEADER
2.5 | managed PATCH and restore | COORD-11 COORD-14
2.5 | managed refresh | DOC-16-MANAGED
2.5 | policy needs the exact tag | COORD-18-EXACT
2.5 | acquire | COORD-20 COORD-20-KEY L2
2.5 | renew and release | COORD-20-PAIR L7 L8
2.5 | the old pair fails | L1 L4 L5
2.5 | owners set the policy; what others see | COORD-18-OWNER COORD-17-LEASE
2.5 | MCP cannot hold leases | COORD-MCP MCP-ALL-ONLY
2.5 | identical retries, 24 h | REC-REPLAY REC-24H COORD-RECEIPT REC-SCOPE
2.5 | the compact acknowledgement | DOC-11 CHECK-4
2.5 | TTL 60 s, 5 to 3,600; fences survive everything | COORD-20-TTL COORD-TRASH L1
2.6 | the envelope | ENV-ERROR
2.6 | 400 | ERR-400 REV-BOTH
2.6 | 401 | ERR-401-NONE ERR-401-BAD ERR-401-EXPIRED ERR-401-REVOKED
2.6 | 402 | ERR-402-PLAN ERR-402-FEATURE QUOTA
2.6 | 403 | ERR-403 ERR-403-VIEWER
2.6 | 404 | ERR-404
2.6 | 409 | REV-BODY COORD-20 TOOL-LIVE
2.6 | 412 | REV-HEADER
2.6 | 413 | ERR-413
2.6 | 422 | ERR-422
2.6 | 428 | COORD-18-EXACT COORD-11
2.6 | 429 | ERR-429
2.6 | 500 | ERR-500
2.6 | 502 and 504 | DOC-15-UPSTREAM
2.6 | 503 | ERR-503-PLAN ERR-503
2.6 | 405 | ERR-405
2.6 | 410 | RSN-OPEN TRASH-PURGE
3 | prompt | PRM-3 PRM-PUBLIC PRM-STATS
3 | prompt version | PRM-6
3 | document (contentPreview is not sent: literal search reads whole bodies at once) | DOC-9 DOC-10 SEARCH-LITERAL
3 | document status | DOC-9 DOC-10-304
3 | document version, partial ones | DOC-13 IMPORT-PARTIAL
3 | chunk | PD-33
3 | collection | COL-22
3 | collection item | COL-26 COL-RACE
3 | search session, an hour | PD-30
3 | API key | KEY-ONCE KEY-PAGES
3 | lease and policy | COORD-17 L1
3 | receipt | REC-24H
3 | plan and usage | ME-35 QUOTA
3 | public link | LINK-TOKEN LINK-PAGE LINK-REVOKE LINK-AGAIN PRM-PUBLIC
3 | user | ME-35
3 | tables: tenant data behind policies | TENANT-RLS
3 | variables: the template is untouched | PRM-NATIVE-GET
3 | variables: extracted, drift told | PRM-VARS PRM-DRIFT
3 | versions: content makes one, restore makes a new one | PRM-4 PRM-7 REV-VERSION DOC-14
3 | chunk levels | PD-33
3 | chunk ids are stable | PD-STABLE PD-STALE
4.1 | Pro Max and Ultimate keep web pages | DOC-15-PLAN ERR-402-FEATURE
4.1 | trial, and a plan is needed | PLAN-SET CHECK-10
4.1 | storage limits | QUOTA
4.1 | meters with limit, used, resetsAt | QUOTA QUOTA-MONTH
4.1 | plans are configuration | PLAN-SET RATE-NUMBERS
4.2 | 10 scrapes in 60 s | RATE-NUMBERS CHECK-11
4.2 | 100 api in 60 s | RATE-NUMBERS
4.2 | 120 readonly in 60 s | RATE-NUMBERS
4.2 | lists 20 and 100 | PAGE-DEFAULT PAGE-CAP
4.2 | prompts/list 100 | PRM-NATIVE-LIST CHECK-8
4.2 | get_collection 50 items | COL-TOOL-50
4.2 | deep_search 10 | PD-31
4.2 | reason 8 and 50 | RSN-34-SCOPE
4.2 | deep_expand 2 | PD-32-WAYS
4.2 | 0.35 | SEARCH-THRESHOLD
4.2 | vectors: any model, the dimension is its own | EMBED-ENDPOINT EMBED-CHANGE
4.2 | preview of 4,096 bytes: we read all | SEARCH-LITERAL
4.2 | description cut at 100 in texts | SEARCH-TEXT-100
4.2 | receipts 24 h | REC-24H
4.2 | clients wait 30 s and 90 s | RSN-MODEL-BUDGET DOC-15-BOUNDS
4.2 | file formats | UPLOAD-KINDS
4.2 | preflight 86,400 s | ENV-CORS
4.2 | 29 tools, 35 operations | CHECK-1 CHECK-2
4.2 | 60 to 100 lines of /llms.txt | DISC-LLMS
4.2 | limits by user, sliding, Retry-After | RATE-USER RATE-EXACT ERR-429
4.2 | families | RATE-FAMILY
4.3 | the order | ORDER-401 ORDER-402 ORDER-403 ORDER-429 ORDER-RATE ORDER-FEATURE ORDER-400 ORDER-404 QUOTA-ORDER
5 | /AGENTS.md | DISC-AGENTS DISC-OPERATOR
5 | /llms.txt and /llms-full.txt | DISC-LLMS
5 | /docs/llms.txt, /docs/llms-full.txt, pages with .md | DISC-DOCS
5 | /index.md, /pricing.md | DISC-TWINS
5 | /agent | DISC-AGENT
5 | /openapi.json, /api/openapi.yaml | DISC-OPENAPI OPENAPI-PUBLIC OPENAPI-LINT
5 | /robots.txt | DISC-ROBOTS
5 | /agent.json | DISC-AWP
5 | /.well-known/agent.json, ai-plugin.json | DISC-PLUGIN
5 | /.well-known/agent-card.json | DISC-A2A
5 | /.well-known/mcp.json | DISC-MCP
5 | /.well-known/mcp/server-card.json | DISC-SERVER-CARD
5 | /mcp/server-card, /.well-known/ai-catalog.json | DISC-SEP2127
5 | /.well-known/api-catalog | DISC-CATALOG
5 | /.well-known/oauth-authorization-server | DISC-AS OAUTH-METADATA
5 | /.well-known/oauth-protected-resource and its surfaces | DISC-PRM
5 | /.well-known/http-message-signatures-directory | DISC-SIGNATURES
5 | /docs-mcp | DOCS-MCP
5 | /status, /about, /mcp-server, /chatgpt-app | DISC-PAGES
5 | public, cacheable, open to every origin; lists of one registry | DISC-OPEN DISC-COUNTS DISC-LINKS
6.1 | search page | DASH-SEARCH
6.1 | settings: API keys | DASH-KEYS KEY-ONCE
6.1 | prompts, documents, collections | DASH-WRITE DASH-HISTORY DASH-LISTS
6.1 | upload, pages by their address | DASH-UPLOAD DASH-PAGES
6.1 | sharing | LINK-DASHBOARD
6.1 | plan and usage (plans are the administrator's to set) | PLAN-SET ME-35
6.1 | export | DASH-EXPORT
6.2 | browser extension | EXT-CORS
6.3 | public links | LINK-PAGE LINK-HEADERS LINK-TWIN LINK-REVOKE LINK-CURRENT LINK-COUNTS LINK-PERSON
6.4 | docs MCP | DOCS-MCP
6.5 | Grok | MCP-GROK GROK-CARD
6.6 | ChatGPT App: search and fetch | APP-SEARCH-FETCH TOOL-HINTS CHATGPT-APP
7 | Bearer and API-Key | AUTH-SCHEMES
7 | issuer by RFC 9728, then RFC 8414 | AUTH-DISCOVERY
7 | tokens carry the user, keys their scopes | AUTH-AUTHORITY
7 | scopes; write implies read | AUTH-AUTHORITY TOOL-SCOPES ERR-403
7 | authMethod | ME-35
7 | the flow of MCP clients | AUTH-MCP-FLOW
7 | stdio clients: an API key, https or loopback | AUTH-SCHEMES MCP-LINE
7 | public without credential | AUTH-PUBLIC
7 | keys: shown once, hashed, revocable, expiring | KEY-ONCE KEY-REVOKE ERR-401-EXPIRED
8 | filters after candidates | FILTER-FIRST CHECK-9
8 | literal search of a part | SEARCH-LITERAL
8 | body matches lag | SEARCH-LITERAL SEARCH-EMPTY
8 | chunk ids change | PD-STABLE PD-STALE
8 | surrounding was empty | PD-32-ALONE
8 | id and _id, parentId and parentChunkId | PD-32 PD-33
8 | traces in 500s | ERR-500
8 | arrays as texts | MCP-LENIENT
8 | names that clash | MCP-OLD-NAMES
8 | variables were not extracted | PRM-VARS
8 | defaults differed | TOOL-PARAMETERS CHECK-4
8 | counts contradicted | CHECK-1 CHECK-2
8 | the tool list behind a credential | AUTH-PUBLIC
8 | invented citations | RSN-MODEL RSN-CITE
8 | gap: no leases over MCP | MCP-ALL-LEASE
8 | gap: prompts and collections without revision | PRM-REV COL-REVISION
8 | gap: deletes without precondition or undo | TRASH-RESTORE COL-REVISION
8 | gap: retried creates | REC-REPLAY MCP-ALL-KEY
8 | gap: keys for collections | KEY-COLLECTIONS
8 | gap: no file upload | UPLOAD UPLOAD-ORIGINAL
8 | gap: no bulk import and export | BATCH EXPORT IMPORT-ROUND IMPORT-KILLED IMPORT-FRONTMATTER IMPORT-BUSY
8 | gap: refresh is manual and for two plans | DOC-16 ERR-402-FEATURE
8 | gap: links without expiry or password | LINK-EXPIRY LINK-PASSWORD
8 | gap: no organisations | WS-INVITE WS-LAST-OWNER
8 | gap: a lapsed plan stops reads (the seed says so: we follow it) | CHECK-10
8 | gap: reason needs a model | RSN-QUOTES RSN-MODEL-AWAY
8 | gap: one maker's model, no self-hosting | EMBED-ENDPOINT EMBED-CHANGE UPLOAD-KINDS
8 | gap: prompts invisible to deep_search (they are single texts: find_items) | TOOL-ROUTING SEARCH-KINDS
10 | 1 29 tools of anybody; /grok-mcp is 401 | CHECK-1 MCP-GROK
10 | 2 35 operations, each 401 | CHECK-2
10 | 3 one line of JSON; 202 | MCP-LINE MCP-202
10 | 4 structuredContent is the body of REST | CHECK-4
10 | 5 two writers; noop | REV-ONE-WINS REV-NOOP
10 | 6 leases expire; receipts replay | L1 L4 COORD-RECEIPT
10 | 7 managed documents | COORD-MCP COORD-11
10 | 8 101 items | PAGE-WALK CHECK-8
10 | 9 scoped search among thousands | CHECK-9
10 | 10 lapsed plan | CHECK-10
10 | 11 the 11th scrape | CHECK-11
10 | 12 texts and manifests of section 5 | DISC-AGENTS DISC-LLMS DISC-TWINS DISC-DOCS DISC-AGENT DISC-ROBOTS DISC-AWP
10 | 12 cards and catalogues of section 5 | DISC-PLUGIN DISC-A2A DISC-MCP DISC-SERVER-CARD DISC-SEP2127 DISC-CATALOG
10 | 12 metadata, OpenAPI and pages of section 5 | DISC-OPENAPI DISC-AS DISC-PRM DISC-SIGNATURES DISC-PAGES
10 | 12 all counts agree | DISC-COUNTS CHECK-1 CHECK-2
+ | POST /v1/documents:batch | BATCH BATCH-ONE BATCH-KEY BATCH-LIMIT
+ | POST /v1/documents/upload | UPLOAD UPLOAD-LATER
+ | GET /v1/documents/{id}/original | UPLOAD-ORIGINAL
+ | GET /v1/documents/{id}/diff | DOC-DIFF
+ | GET /v1/documents/{id}/revisions | DOC-REVISIONS
+ | /v1/prompts/{id}/labels | PRM-LABELS
+ | /v1/trash | TRASH-LIST TRASH-RESTORE TRASH-PURGE
+ | /v1/exports | EXPORT EXPORT-MOMENT EXPORT-RIGHTS
+ | /v1/imports | IMPORT-CHUNKS IMPORT-ROUND EXPORT-RIGHTS
+ | GET /v1/pack, /v1/packs/{hash} | PACK PACK-SAME PACK-REACH
+ | GET /v1/citations/{id} | RSN-OPEN
+ | GET /v1/audit | AUDIT-LIST AUDIT-OWNER
+ | /v1/workspaces, members and invites | WS-PAGES WS-INVITE WS-INVITE-MEMBER WS-LAST-OWNER WS-TOKEN
+ | /v1/keys | KEY-PAGES KEY-ROTATE KEY-REVOKE PERSON-KEY
+ | /v1/links | LINK-PERSON LINK-TOKEN LINK-REVOKE
"""


def rows() -> list[tuple[str, str, list[str]]]:
    """Give section, words and ids of each row."""
    found = []
    for line in _TABLE.strip().splitlines():
        section, words, ids = (part.strip() for part in line.split(" | "))
        found.append((section, words, ids.split()))
    return found
